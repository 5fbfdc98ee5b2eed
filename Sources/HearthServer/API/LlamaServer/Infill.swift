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

extension CompletionRequest {
    /// Reads llama.cpp's `/infill`: `input_prefix`, `input_suffix`, `input_extra` and `prompt`, which goes on after the prefix.
    static func decodeInfill(
        _ fields: Fields, _ marks: InfillMarks
    ) throws(APIFailure) -> CompletionRequest {
        guard fields.value("input_prefix") != nil || fields.value("input_suffix") != nil else {
            throw .invalid("input_prefix", "a text")
        }
        var parts: [APIRequest.PromptPart] = marks.beginning.map { [.tokens([$0])] } ?? []
        for extra in try fields.objects("input_extra", atMost: 1000) ?? [] {
            let text = try extra.requiredString("text")
            let name = try extra.string("filename") ?? "tmp"
            guard let file = marks.file else {
                parts.append(.letters("\n\n--- snippet ---\n\n\(text)"))
                continue
            }
            parts += [.tokens([file]), .letters("\(name)\n\(text)")]
        }
        let prefix = try fields.string("input_prefix") ?? ""
        let begun = try fields.string("prompt") ?? ""
        let suffix = try fields.string("input_suffix") ?? ""
        parts += [.tokens([marks.prefix])]
        if !(prefix + begun).isEmpty { parts.append(.letters(prefix + begun)) }
        parts += [.tokens([marks.suffix])]
        if !suffix.isEmpty { parts.append(.letters(suffix)) }
        parts += [.tokens([marks.middle])]
        return try decode(fields, [parts], isList: false)
    }
}
