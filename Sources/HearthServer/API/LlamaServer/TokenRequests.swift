import HearthBase
import HearthInference

/// A request of llama.cpp's `/tokenize`.
struct TokenizeRequest: Sendable {
    var model: String?
    /// The text, or texts and tokens; nothing without a content.
    var parts: [APIRequest.PromptPart] = []
    /// Whether the tokens that stand at the beginning of each prompt are added.
    var addsSpecial: Bool
    /// Whether a control token's name is that token.
    var parsesSpecial: Bool
    /// Whether the reply shows the text of each token.
    var showsPieces: Bool

    init(_ fields: Fields) throws(APIFailure) {
        model = try fields.string("model")
        addsSpecial = try fields.flag("add_special") ?? false
        parsesSpecial = try fields.flag("parse_special") ?? true
        showsPieces = try fields.flag("with_pieces") ?? false
        guard fields.value("content") != nil else { return }
        parts = Array(try PromptDecoding.prompts(fields, "content", isRequired: false).prompts.joined())
    }
}

/// A request of llama.cpp's `/detokenize`.
struct DetokenizeRequest: Sendable {
    var model: String?
    var tokens: [TokenID] = []

    init(_ fields: Fields) throws(APIFailure) {
        model = try fields.string("model")
        for item in try fields.items("tokens", of: .integer) ?? [] {
            guard let token = Fields.integer(item).flatMap({ TokenID(exactly: $0) }) else {
                throw .invalid("tokens", "a list of tokens")
            }
            tokens.append(token)
        }
        guard tokens.count <= PromptDecoding.maximumParts else {
            throw .invalid("tokens", "a list of at most \(PromptDecoding.maximumParts) tokens")
        }
    }
}
