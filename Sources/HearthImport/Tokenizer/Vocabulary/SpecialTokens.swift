import HearthBase

/// The tokens with a task: around texts, at the end of answers, in place of unknown characters.
struct SpecialTokens: Sendable {
    private(set) var beginning: Int?
    private(set) var end: Int?
    /// Ends a turn of a conversation.
    private(set) var endOfTurn: Int?
    /// Ends a message that waits for a tool.
    private(set) var endOfMessage: Int?
    private(set) var unknown: Int?
    private(set) var padding: Int?
    private(set) var addsBeginning = false
    private(set) var addsEnd = false
    private(set) var notes: [String] = []

    /// The small documents of a model folder that name tokens; `null` for a missing one.
    struct Sources {
        /// `tokenizer_config.json`.
        var configuration = JSONValue.null
        /// `special_tokens_map.json`.
        var map = JSONValue.null
        /// `generation_config.json`.
        var generation = JSONValue.null
        /// `config.json`.
        var model = JSONValue.null
        /// `post_processor` of `tokenizer.json`.
        var postProcessor = JSONValue.null
        /// The chat template.
        var template = ""
        /// The number of the beginning of text in `tokenizer.model`, negative for none.
        var beginning: Int?
        /// The number of the end of text in `tokenizer.model`, negative for none.
        var end: Int?
    }

    /// Finds the tokens.
    /// - Throws: `incompatible` for a post-processor that puts other tokens around a text than one at each side.
    init(_ sources: Sources, tokens: TokenList) throws(ImportError) {
        beginning = named("bos_token", sources, tokens) ?? numbers("bos_token_id", [sources.model], tokens).first
        unknown = tokens.kinds.firstIndex(of: .unknown) ?? named("unk_token", sources, tokens)
        padding = named("pad_token", sources, tokens) ?? numbers("pad_token_id", [sources.model], tokens).first
        // A chat model has several ends; its generation's settings list them.
        var ends = [named("eos_token", sources, tokens)].compactMap(\.self)
        ends += numbers("eos_token_id", [sources.generation, sources.model], tokens)
        if let id = sources.beginning {
            // A `tokenizer.model` does not say what is put around a text; the models that have one begin with it.
            addsBeginning = true
            if beginning == nil, (0..<tokens.count).contains(id) { beginning = id }
        }
        if let id = sources.end, (0..<tokens.count).contains(id) { ends.append(id) }
        end = ends.first
        try readProcessor(sources.postProcessor, tokens, depth: 0)
        if let adds = sources.configuration["add_bos_token"]?.flag { addsBeginning = adds }
        if let adds = sources.configuration["add_eos_token"]?.flag { addsEnd = adds }
        // llama.cpp ends the process if it is to add a token that is missing.
        addsBeginning = addsBeginning && beginning != nil
        addsEnd = addsEnd && end != nil
        sort(ends, tokens, sources.template)
    }

    private func named(_ key: String, _ sources: Sources, _ tokens: TokenList) -> Int? {
        for source in [sources.configuration, sources.map] {
            if let text = source[key]?.tokenText, let id = tokens.id(of: text) { return id }
        }
        return nil
    }

    /// The most numbers of one list that are read; known models have up to four.
    private static let maximumEnds = 16

    /// The numbers of tokens at a key. Some publishers write numbers that no token has; those are left out.
    private mutating func numbers(_ key: String, _ sources: [JSONValue], _ tokens: TokenList) -> [Int] {
        let values = sources.flatMap {
            ($0[key] ?? $0["text_config"]?[key] ?? .null).oneOrMore.prefix(Self.maximumEnds)
        }
        let (known, others) = values.reduce(into: ([Int](), [String]())) { lists, value in
            if let id = value.wholeNumber, (0..<tokens.count).contains(id) {
                lists.0.append(id)
            } else if value != .number("-1") {
                lists.1.append(value.kind)
            }
        }
        notes += others.map { "\(key) names no token: \($0)" }
        return known
    }

    /// Takes the ends of turns and messages out of all ends.
    private mutating func sort(_ ends: [Int], _ tokens: TokenList, _ template: String) {
        endOfTurn = ends.first { id in
            guard let text = tokens.text(of: id), text.byteCount <= 256 else { return false }
            return template.utf8.contains(text.text.utf8)
        }
        var others: [Int] = []
        for id in ends where id != end && id != endOfTurn && !others.contains(id) {
            if let text = tokens.text(of: id)?.text, !Self.known.contains(text) { others.append(id) }
        }
        endOfMessage = others.first
        for id in others.dropFirst() {
            notes.append("the engine does not end an answer at \(tokens.text(of: id)?.text.quoted ?? "\(id)")")
        }
    }

    /// Tokens at which llama.cpp ends an answer because of their texts (`special_eog_ids`).
    private static let known: Set<String> = [
        "<|eot_id|>", "<|im_end|>", "<|end|>", "<|return|>", "<|call|>", "<end_of_turn>", "<|endoftext|>", "</s>",
        "<|eom_id|>", "<EOT>", "[EOT]", "[EOS]", "<|end_of_text|>", "<end_of_utterance>", "<eos>",
    ]

    // MARK: - Around a text

    private mutating func readProcessor(_ value: JSONValue, _ tokens: TokenList, depth: Int) throws(ImportError) {
        guard value != .null else { return }
        let type = value["type"]?.string ?? ""
        switch type {
        case "ByteLevel": return
        case "Sequence" where depth < 8:
            for step in value["processors"]?.items ?? [] { try readProcessor(step, tokens, depth: depth + 1) }
        case "TemplateProcessing": try readTemplate(value["single"]?.items ?? [], tokens)
        default: throw Self.refused(type.isEmpty ? value.kind : type)
        }
    }

    private mutating func readTemplate(_ parts: [JSONValue], _ tokens: TokenList) throws(ImportError) {
        guard let place = parts.firstIndex(where: { $0["Sequence"] != nil }) else {
            throw Self.refused("TemplateProcessing without a text")
        }
        let before = parts[..<place]
        let after = parts[(place + 1)...]
        func id(_ part: JSONValue?) -> Int? {
            (part?["SpecialToken"]?["id"]?.string).flatMap { tokens.id(of: TokenText($0)) }
        }
        guard before.count <= 1, after.count <= 1 else { throw Self.refused("TemplateProcessing with several tokens") }
        if !before.isEmpty {
            guard let first = id(before.first) else { throw Self.refused("TemplateProcessing with an unknown token") }
            beginning = first
            addsBeginning = true
        }
        if !after.isEmpty {
            guard let last = id(after.first), end == nil || end == last else {
                throw Self.refused("TemplateProcessing with another token than the end of text")
            }
            end = last
            addsEnd = true
        }
    }

    private static func refused(_ rule: String) -> ImportError {
        .refused(
            TokenizerDocument.name, "it puts tokens around a text in a way that the engine does not know",
            field: "post_processor", rule: rule)
    }
}
