import Foundation
import HearthBase

/// The vocabulary of a model folder, as metadata of a GGUF file that llama.cpp cuts texts with.
///
/// The way to cut texts is recognized by the rules in the files, never by the model's name. Rules that llama.cpp does
/// not know are refused.
package struct TokenizerImport: Sendable {
    /// The metadata, in the order of the file: `tokenizer.ggml.…`, `tokenizer.chat_template…`, and the keys of
    /// `GGUFOwnKeys`, which HearthLlama follows where it cuts texts.
    package private(set) var metadata: [(key: String, value: GGUFValue)] = []
    /// Differences to the original, each a sentence for people.
    package private(set) var notes: [String] = []
    /// A text that `general.name` has to contain in any case of letters, so that llama.cpp takes blanks behind control
    /// tokens as part of them; `nil` for most models.
    package private(set) var requiredNamePart: String?
    /// The number of tokens, with unused ones.
    package private(set) var tokenCount = 0

    /// Reads the files of a tokenizer.
    ///
    /// Takes about a second and 200 MB for a vocabulary of 256,000 tokens.
    /// - Parameters:
    ///   - files: the files of the model folder.
    ///   - vocabularySize: the rows of the model's embedding, at least 1; `nil` if the tokens decide. Rows without a
    ///     token get an unused one.
    ///   - architecture: the architecture in the GGUF file, such as `llama`.
    /// - Throws: `incompatible`, with the rule, for a tokenizer that llama.cpp does not have; `damaged` for a file that
    ///   contradicts itself; `missing-file` without `tokenizer.json` and `tokenizer.model`.
    package init(_ files: TokenizerFiles, vocabularySize: Int?, architecture: String) throws(ImportError) {
        var sources = SpecialTokens.Sources()
        sources.configuration = try Self.document("tokenizer_config.json", files.configuration)
        sources.map = try Self.document("special_tokens_map.json", files.specialTokens)
        sources.generation = try Self.document("generation_config.json", files.generation)
        sources.model = try Self.document("config.json", files.model)
        let templates = try ChatTemplates(configuration: sources.configuration, file: files.template)
        sources.template = templates.main ?? ""

        var tokens: TokenList
        if let file = files.tokenizer {
            tokens = try addMerged(try TokenizerDocument(file), vocabularySize, architecture, &sources)
        } else if let file = files.sentencePiece {
            let added = try Self.added(sources.configuration, try Self.document("added_tokens.json", files.addedTokens))
            tokens = try addScored(try SentencePieceFile(file), added, vocabularySize, &sources)
        } else {
            throw ImportError(
                .missingFile, "the model has no tokenizer",
                context: ErrorContext(
                    file: TokenizerDocument.name, remedy: "Fetch tokenizer.json into the model's folder."))
        }
        try addSpecial(sources, tokens)
        addTemplates(templates)
        tokenCount = tokens.count
    }

    // MARK: - Vocabularies

    private mutating func addMerged(
        _ document: TokenizerDocument, _ count: Int?, _ architecture: String, _ sources: inout SpecialTokens.Sources
    ) throws(ImportError) -> TokenList {
        sources.postProcessor = document.postProcessor
        let vocabulary = try MergedVocabulary(document, limit: count)
        var tokens = vocabulary.tokens
        notes += vocabulary.notes
        noteStripping(vocabulary.stripping, tokens, architecture)
        tokens.fill(to: count ?? 0)
        add("model", .string(vocabulary.form))
        add("pre", .string(vocabulary.rule))
        addTokens(tokens, scores: vocabulary.scores)
        if vocabulary.scores == nil {
            add("merges", .texts(vocabulary.merges.map { "\($0.left.text) \($0.right.text)" }))
        } else {
            add("add_space_prefix", .bool(vocabulary.addsBlank))
        }
        if vocabulary.composes { metadata.append((GGUFOwnKeys.normalizer, .string("nfc"))) }
        if vocabulary.cutsDigits { metadata.append((GGUFOwnKeys.cuts, .string("digits"))) }
        if vocabulary.addsFirstBlank { metadata.append((GGUFOwnKeys.firstBlank, .bool(true))) }
        return tokens
    }

    private mutating func addScored(
        _ file: SentencePieceFile, _ added: [AddedToken], _ count: Int?, _ sources: inout SpecialTokens.Sources
    ) throws(ImportError) -> TokenList {
        let vocabulary = try ScoredVocabulary(file, added: added, limit: count)
        var tokens = vocabulary.tokens
        notes += vocabulary.notes
        tokens.fill(to: count ?? 0)
        add("model", .string("llama"))
        add("pre", .string("default"))
        addTokens(tokens, scores: vocabulary.scores)
        add("add_space_prefix", .bool(vocabulary.addsBlank))
        sources.beginning = file.beginning
        sources.end = file.end
        return tokens
    }

    /// The tokens that `tokenizer_config.json` and `added_tokens.json` add to a `tokenizer.model`.
    private static func added(_ configuration: JSONValue, _ names: JSONValue) throws(ImportError) -> [AddedToken] {
        let file = "tokenizer_config.json"
        var added: [AddedToken] = []
        for (key, value) in configuration["added_tokens_decoder"]?.members ?? [:] {
            guard let id = Int(key) else { throw .damaged("an added token has no number", file: file) }
            added.append(try AddedToken(value, id: id, name: file))
        }
        let known = Set(added.map(\.text))
        for (name, value) in names.members ?? [:] where !known.contains(TokenText(name)) {
            guard let id = value.wholeNumber else {
                throw .damaged("a token has no number", file: "added_tokens.json", field: name)
            }
            added.append(AddedToken(text: TokenText(name), id: id, isSpecial: true))
        }
        return added
    }

    private static func document(_ name: String, _ data: Data?) throws(ImportError) -> JSONValue {
        guard let data else { return .null }
        return try JSONValue(name, data)
    }

    // MARK: - Metadata

    private mutating func add(_ key: String, _ value: GGUFValue) {
        metadata.append(("tokenizer.ggml.\(key)", value))
    }

    private mutating func addTokens(_ tokens: TokenList, scores: [Float]?) {
        add("tokens", .texts(tokens.allTexts))
        if let scores {
            // A token that other files add has no score: it is cut out of a text, never joined.
            let others = repeatElement(ScoredVocabulary.lowestScore, count: tokens.count - scores.count)
            add("scores", .floats(scores + others))
        }
        add("token_type", .integers(tokens.kinds.map(\.rawValue)))
    }

    private mutating func addSpecial(_ sources: SpecialTokens.Sources, _ tokens: TokenList) throws(ImportError) {
        let special = try SpecialTokens(sources, tokens: tokens)
        notes += special.notes
        // llama.cpp has a beginning of text of its own where the file names none.
        let ids: [(String, Int?)] = [
            ("bos_token_id", special.beginning ?? special.end), ("eos_token_id", special.end),
            ("eot_token_id", special.endOfTurn), ("eom_token_id", special.endOfMessage),
            ("unknown_token_id", special.unknown), ("padding_token_id", special.padding),
        ]
        for (key, id) in ids {
            if let id { add(key, .uint32(UInt32(id))) }
        }
        add("add_bos_token", .bool(special.addsBeginning))
        add("add_eos_token", .bool(special.addsEnd))
    }

    private mutating func addTemplates(_ templates: ChatTemplates) {
        if let main = templates.main { metadata.append(("tokenizer.chat_template", .string(main))) }
        guard !templates.others.isEmpty else { return }
        metadata.append(("tokenizer.chat_templates", .texts(templates.others.map(\.name))))
        for (name, text) in templates.others {
            metadata.append(("tokenizer.chat_template.\(name)", .string(text)))
        }
    }

    private mutating func noteStripping(_ stripping: [String], _ tokens: TokenList, _ architecture: String) {
        guard !stripping.isEmpty else { return }
        // llama.cpp knows such tokens only by the name of the model, and then needs these four.
        let needed = ["<s>", "</s>", "<unk>", "<|endoftext|>"]
        if architecture == "phi3", needed.allSatisfy({ tokens.id(of: TokenText($0)) != nil }) {
            requiredNamePart = "phi-3"
        } else {
            let names = stripping.prefix(4).map(\.quoted).joined(separator: ", ")
            notes.append("blanks around \(names) are kept, which the original drops")
        }
    }
}
