/// Decodes records from outside: each value is bounded, and an error names its reason.
extension KeyedDecodingContainer {
    /// The error for a refused value.
    package func refusal(_ key: Key, _ reason: String) -> DecodingError {
        .dataCorruptedError(forKey: key, in: self, debugDescription: reason)
    }

    /// Decodes a value and checks it.
    package func checked<Value: Decodable>(
        _ key: Key, or reason: String, _ isAllowed: (Value) throws -> Bool
    ) throws -> Value {
        let value = try decode(Value.self, forKey: key)
        guard try isAllowed(value) else { throw refusal(key, reason) }
        return value
    }

    /// Decodes and checks a value, `nil` if the record has none.
    package func checkedIfPresent<Value: Decodable>(
        _ key: Key, or reason: String, _ isAllowed: (Value) throws -> Bool
    ) throws -> Value? {
        guard let value = try decodeIfPresent(Value.self, forKey: key) else { return nil }
        guard try isAllowed(value) else { throw refusal(key, reason) }
        return value
    }

    /// Decodes a text of at most `limit` bytes.
    package func text(_ key: Key, atMost limit: Int = 64) throws -> String {
        try checked(key, or: "too long") { (text: String) in text.utf8.count <= limit }
    }

    /// Decodes a text of at most `limit` bytes, `nil` if the record has none.
    package func optionalText(_ key: Key, atMost limit: Int = 64) throws -> String? {
        try checkedIfPresent(key, or: "too long") { (text: String) in text.utf8.count <= limit }
    }

    /// Refuses a record of another format.
    package func require(format: Int, _ key: Key) throws {
        let _: Int = try checked(key, or: "unknown format") { $0 == format }
    }
}
