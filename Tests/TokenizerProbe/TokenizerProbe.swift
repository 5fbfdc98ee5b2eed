#if Llama
import CLlama
import Foundation
import HearthBase
import HearthImport
import HearthInference
import HearthLlama

/// Imports the tokenizer of a folder, cuts lines with it in llama.cpp, and writes their tokens:
/// `HearthTokenizerProbe FOLDER ARCHITECTURE LINES.json OUT.json`. The folder gets the vocabulary as `vocabulary.gguf`.
@main
enum TokenizerProbe {
    private struct Output: Encodable {
        let tokens: [[Int32]]
        let notes: [String]
        let seconds: Double
    }

    static func main() {
        do {
            try run(Array(CommandLine.arguments.dropFirst()))
        } catch {
            FileHandle.standardError.write(Data("\(error)\n".utf8))
            exit(1)
        }
    }

    private static func run(_ arguments: [String]) throws {
        guard arguments.count == 4 else {
            throw LLMError(.cannotLoad, "it takes a folder, an architecture, lines and a file")
        }
        let folder = URL(fileURLWithPath: arguments[0])
        func file(_ name: String) -> Data? { try? Data(contentsOf: folder.appending(path: name)) }
        let files = TokenizerFiles(
            tokenizer: file("tokenizer.json"), sentencePiece: file("tokenizer.model"),
            configuration: file("tokenizer_config.json"), template: file("chat_template.jinja"),
            specialTokens: file("special_tokens_map.json"), addedTokens: file("added_tokens.json"),
            generation: file("generation_config.json"), model: file("config.json"))
        let begin = ContinuousClock.now
        let imported = try TokenizerImport(files, vocabularySize: nil, architecture: arguments[1])
        let time = (ContinuousClock.now - begin) / .seconds(1)
        // A vocabulary alone is read without the numbers that other architectures need.
        let metadata =
            [
                ("general.architecture", GGUFValue.string("llama")),
                ("general.name", .string(imported.requiredNamePart ?? "")),
            ] + imported.metadata
        let vocabulary = folder.appending(path: "vocabulary.gguf")
        try Data(GGUFWriter(metadata: metadata, tensors: []).header).write(to: vocabulary)
        let lines = try JSON.value([String].self, Data(contentsOf: URL(fileURLWithPath: arguments[2])))
        let output = Output(tokens: try tokens(of: lines, vocabulary), notes: imported.notes, seconds: time)
        try JSON.data(output).write(to: URL(fileURLWithPath: arguments[3]))
    }

    private static func tokens(of lines: [String], _ vocabulary: URL) throws -> [[Int32]] {
        llama_log_set({ _, _, _ in }, nil)
        var parameters = llama_model_default_params()
        parameters.vocab_only = true
        guard let model = llama_model_load_from_file(vocabulary.path, parameters) else {
            throw LLMError(.cannotLoad, "llama.cpp does not read the vocabulary")
        }
        defer { llama_model_free(model) }
        let tokenizer = try Tokenizer(model: model, of: Path(vocabulary.path))
        return try lines.map { try tokenizer.tokens(of: $0, addSpecial: true, parseSpecial: true, limit: .max) }
    }
}
#else
@main
enum TokenizerProbe {
    static func main() {}
}
#endif
