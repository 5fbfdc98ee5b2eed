/// A value that is encoded as `null` if it is absent, instead of being left out.
@propertyWrapper package struct OrNull<Value: Codable & Sendable>: Codable, Sendable {
    package var wrappedValue: Value?

    package init(wrappedValue: Value?) { self.wrappedValue = wrappedValue }

    package init(from decoder: any Decoder) throws {
        wrappedValue = try decoder.singleValueContainer().decode(Value?.self)
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(wrappedValue)
    }
}

extension OrNull: Hashable, Equatable where Value: Hashable {}

extension KeyedDecodingContainer {
    /// Decodes a value whose key may be absent; derived conformances call it.
    package func decodeIfPresent<Value>(_ type: OrNull<Value>.Type, forKey key: Key) throws -> OrNull<Value>? {
        try decodeIfPresent(Value.self, forKey: key).map { OrNull(wrappedValue: $0) }
    }

    /// Decodes a value that may be absent; derived conformances call it.
    package func decode<Value>(_ type: OrNull<Value>.Type, forKey key: Key) throws -> OrNull<Value> {
        OrNull(wrappedValue: try decodeIfPresent(Value.self, forKey: key))
    }
}
