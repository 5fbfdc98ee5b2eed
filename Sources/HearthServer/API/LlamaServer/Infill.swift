import HearthBase
import HearthInference

/// The control tokens with which a model completes the gap between two texts.
struct InfillMarks: Sendable, Hashable {
    var prefix: TokenID
    var suffix: TokenID
    var middle: TokenID
    /// Before the name of another file; `nil` for models without it.
    var file: TokenID?
    /// The token at the beginning of each prompt; `nil` for models without it.
    var beginning: TokenID?

    /// The names of the three tokens in the vocabularies of code models.
    static let names: [[String]] = [
        ["<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>"], ["<fim_prefix>", "<fim_suffix>", "<fim_middle>"],
        ["<fim-prefix>", "<fim-suffix>", "<fim-middle>"], ["<PRE>", "<SUF>", "<MID>"],
        ["<｜fim▁begin｜>", "<｜fim▁hole｜>", "<｜fim▁end｜>"], ["<|code_prefix|>", "<|code_suffix|>", "<|code_middle|>"],
        ["[PREFIX]", "[SUFFIX]", "[MIDDLE]"],
    ]
    static let fileNames = ["<|file_sep|>", "<file_sep>", "<|file_separator|>"]
}

extension APIService {
    /// The marks of a model: those that its file names, else those that its vocabulary has.
    /// - Throws: ``APIFailure`` if the model has none.
    func infillMarks(of ready: Ready) async throws -> InfillMarks {
        let facts = try await provider.details(of: ready.model).metadata
        func token(_ names: String...) -> TokenID? {
            names.lazy.compactMap { facts["tokenizer.ggml.\($0)_token_id"].flatMap(Fields.integer) }.first
                .flatMap { TokenID(exactly: $0) }
        }
        var found = [token("fim_pre", "prefix"), token("fim_suf", "suffix"), token("fim_mid", "middle")].compactMap(
            \.self)
        for names in InfillMarks.names where found.count < 3 {
            found = []
            for name in names {
                guard let token = try await controlToken(name, ready) else { break }
                found.append(token)
            }
        }
        guard found.count == 3 else {
            throw APIFailure.notServed("input_prefix", "is not supported by this model: it completes no gaps")
        }
        var marks = InfillMarks(prefix: found[0], suffix: found[1], middle: found[2])
        marks.file = token("fim_sep")
        for name in InfillMarks.fileNames where marks.file == nil { marks.file = try await controlToken(name, ready) }
        if facts["tokenizer.ggml.add_bos_token"] == true { marks.beginning = token("bos") }
        return marks
    }

    /// The control token of a name; `nil` if the vocabulary spells the name with several tokens.
    private func controlToken(_ name: String, _ ready: Ready) async throws -> TokenID? {
        let reader = ready.engine.reader
        let tokens = try await reader.tokenize(name, controlTokens: true, wholePrompt: false, limit: nil)
        guard tokens.count == 1, try await reader.tokenize(name).count > 1 else { return nil }
        return tokens.first
    }
}

/// A request of llama.cpp's `/infill`.
struct InfillRequest: Sendable {
    /// The request without its prompt.
    var completion: CompletionRequest
    /// The text before the gap, and the text after it.
    private let before: String
    private let after: String
    /// Other files, by their names.
    private var others: [(name: String, text: String)] = []

    /// Reads `input_prefix`, `input_suffix`, `input_extra` and `prompt`, which goes on after the prefix.
    init(_ fields: Fields) throws(APIFailure) {
        let (prefix, suffix) = (try fields.string("input_prefix"), try fields.string("input_suffix"))
        guard prefix != nil || suffix != nil else { throw .invalid("input_prefix", "a text") }
        before = (prefix ?? "") + (try fields.string("prompt") ?? "")
        after = suffix ?? ""
        for extra in try fields.objects("input_extra", atMost: 1000) ?? [] {
            let text = try extra.requiredString("text")
            others.append((try extra.string("filename") ?? "tmp", text))
        }
        completion = try CompletionRequest.decode(fields, [], isList: false)
    }

    /// The request with the prompt for a model.
    func marked(_ marks: InfillMarks) -> CompletionRequest {
        var parts: [APIRequest.PromptPart] = marks.beginning.map { [.tokens([$0])] } ?? []
        for other in others {
            guard let file = marks.file else {
                parts.append(.letters("\n\n--- snippet ---\n\n\(other.text)"))
                continue
            }
            parts += [.tokens([file]), .letters("\(other.name)\n\(other.text)")]
        }
        parts += [.tokens([marks.prefix])]
        if !before.isEmpty { parts.append(.letters(before)) }
        parts += [.tokens([marks.suffix])]
        if !after.isEmpty { parts.append(.letters(after)) }
        parts += [.tokens([marks.middle])]
        var completion = completion
        completion.request.input = .prompts([parts])
        return completion
    }
}
