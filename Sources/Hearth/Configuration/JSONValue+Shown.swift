import HearthBase

extension JSONValue {
    /// The value as text, for messages and settings.
    var shown: String {
        switch self {
        case .null: "null"
        case .boolean(let value): "\(value)"
        case .number(let digits): digits
        case .string(let text): text
        case .array: "a list"
        case .object: "an object"
        }
    }
}
