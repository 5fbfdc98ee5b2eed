import HearthBase
import HearthInference

/// Reads raw prompts: a text, a list of tokens and texts, llama.cpp's object with a prompt, or a list of these.
enum PromptDecoding {
    /// The most tokens and texts of one prompt.
    static let maximumParts = 1 << 20

    private static let form: JSONForm = {
        let prompt = JSONForm.either(.text, .list(.either(.text, .integer)), ["prompt_string": .text])
        return .either(prompt, .list(prompt, atLeast: 1, atMost: 64))
    }()

    /// The prompts of a field.
    /// - Returns: the prompts, and whether the field is a list of them.
    static func prompts(
        _ fields: Fields, _ key: String, isRequired: Bool = true
    ) throws(APIFailure) -> (prompts: [[APIRequest.PromptPart]], isList: Bool) {
        if isRequired { fields.require(key) }
        guard let value = fields.value(key, form) else {
            throw .invalid(fields.name(key), "a text, a list of tokens, or a list of prompts")
        }
        guard let items = value.items else { return ([try prompt(value, fields.name(key))], false) }
        // A list of numbers, also with texts between them, is one prompt.
        if items.contains(where: { Fields.integer($0) != nil }) {
            return ([try parts(items, fields.name(key))], false)
        }
        guard !items.isEmpty, items.count <= 64 else {
            throw .invalid(fields.name(key), "a list of 1 to 64 prompts")
        }
        var prompts: [[APIRequest.PromptPart]] = []
        for item in items { prompts.append(try prompt(item, fields.name(key))) }
        return (prompts, true)
    }

    private static func prompt(_ value: JSONValue, _ name: String) throws(APIFailure) -> [APIRequest.PromptPart] {
        if let text = value.string { return [.text(text)] }
        if let items = value.items { return try parts(items, name) }
        guard let members = value.members else {
            throw .invalid(name, "a text, a list of tokens, or a list of prompts")
        }
        let fields = Fields(members, path: name + ".")
        if fields.value("multimodal_data") != nil { throw .notServed(fields.name("multimodal_data")) }
        return [.text(try fields.requiredString("prompt_string"))]
    }

    private static func parts(_ items: [JSONValue], _ name: String) throws(APIFailure) -> [APIRequest.PromptPart] {
        guard items.count <= maximumParts else { throw .invalid(name, "a list of at most \(maximumParts) tokens") }
        var parts: [APIRequest.PromptPart] = []
        var tokens: [TokenID] = []
        for item in items {
            if let text = item.string {
                if !tokens.isEmpty { parts.append(.tokens(tokens)) }
                tokens = []
                parts.append(.text(text))
            } else if let token = Fields.integer(item).flatMap({ TokenID(exactly: $0) }) {
                tokens.append(token)
            } else {
                throw .invalid(name, "a list of tokens and texts")
            }
        }
        if !tokens.isEmpty { parts.append(.tokens(tokens)) }
        guard !parts.isEmpty else { throw .invalid(name, "a prompt with at least one token") }
        return parts
    }
}
