import Hearth
import HearthBase
import HearthCatalog
import HearthInference

/// `hearth embed`
struct Embed: Command {
    @Argument("TEXT", .word, arity: .any, "A text; without one, each line of the standard input is a text.")
    var texts: [String]
    @Option(
        "model", "REF", .modelReference, default: "the installed model for embeddings",
        "An installed model, or the path of a .gguf file.")
    var model: ModelReference?
    @Flag(.ignoreMemory) var ignoresMemory

    static let declaration = CommandDeclaration(
        "embed", summary: "Make vectors of texts, to compare them",
        """
        Prints one line for each text: a JSON array of numbers, as many as the model's embedding length. Each vector has
        the length 1, so that the dot product of two is the cosine of their angle: near 1 for texts of like meaning.
        Only vectors of one version of a model can be compared.

        Without --model it takes the only installed model that is made for embeddings, else the configured defaultModel,
        else the only installed one.

        hearth embed "a red apple" "an apple that is red"  # Two vectors.
        hearth embed < lines.txt > vectors.jsonl  # A vector for each line of a file.
        """)

    func run(in context: CommandContext) async throws {
        guard !texts.isEmpty || !context.input.isTerminal else {
            throw UsageError("hearth embed needs TEXT", hint: Self.declaration.hint())
        }
        var configuration = try await context.configuration
        if ignoresMemory { configuration.ignoresMemory = true }
        let hearth = try await context.hearth(configuration)
        try await withEnding({ await hearth.close() }) {
            let found =
                if let model {
                    try await ChatModel.find(model, for: .vectors, in: hearth, context: context)
                } else {
                    try await ChatModel.embedder(configuration, in: hearth, context)
                }
            let abilities = try await found.engine.capabilities
            guard abilities.contains(.embeddings) else {
                throw LLMError(
                    .engineMissing, "\(found.name) makes no vectors",
                    context: ErrorContext(
                        model: found.name, remedy: "Name a model for embeddings, such as one of the architecture BERT.")
                )
            }
            for text in texts { try await embed(text, found.engine, context.console) }
            guard texts.isEmpty else { return }
            var number = 0
            for await line in context.input.lines() {
                number += 1
                do {
                    try await embed(line, found.engine, context.console)
                } catch let error as LLMError {
                    throw LLMError(
                        error.code, "line \(number): \(error.message)", context: error.context,
                        disposition: error.disposition, underlying: error)
                }
            }
            try Task.checkCancellation()
        }
    }

    private func embed(_ text: String, _ engine: LiveModel, _ console: Console) async throws {
        for vector in try await engine.embed([text]) {
            guard vector.allSatisfy(\.isFinite) else {
                throw LLMError(.generateFailed, "the model makes no numbers of this text")
            }
            try console.print("[" + vector.map { "\($0)" }.joined(separator: ",") + "]")
        }
    }
}
