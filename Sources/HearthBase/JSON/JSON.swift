import Foundation

/// Codes values as JSON in one form: keys sorted, slashes not escaped, dates of ISO 8601.
package enum JSON {
    /// The precision of written dates; each is read.
    package enum Dates: Sendable, Hashable { case seconds, milliseconds }

    /// The bytes of a value.
    /// - Throws: `EncodingError` for a number that JSON does not have.
    package static func data(
        _ value: some Encodable, isPretty: Bool = false, dates: Dates = .seconds
    ) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        if isPretty { encoder.outputFormatting.insert(.prettyPrinted) }
        encoder.dateEncodingStrategy = .iso8601
        if dates == .milliseconds {
            encoder.dateEncodingStrategy = .custom { date, encoder in
                var container = encoder.singleValueContainer()
                try container.encode(Timestamp(date).description)
            }
        }
        return try encoder.encode(value)
    }

    /// A value on one line.
    /// - Throws: `EncodingError` for a number that JSON does not have.
    package static func text(_ value: some Encodable) throws -> String {
        String(decoding: try data(value), as: UTF8.self)
    }

    /// A value on indented lines, for people.
    /// - Throws: `EncodingError` for a number that JSON does not have.
    package static func pretty(_ value: some Encodable) throws -> String {
        String(decoding: try data(value, isPretty: true), as: UTF8.self)
    }

    /// Reads a value; its dates have any precision and offset.
    /// - Throws: `DecodingError`.
    package static func value<Value: Decodable>(_ type: Value.Type, _ data: Data) throws -> Value {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .custom { decoder in
            let container = try decoder.singleValueContainer()
            guard let time = Timestamp(try container.decode(String.self)) else {
                throw DecodingError.typeMismatch(
                    Date.self, .init(codingPath: decoder.codingPath, debugDescription: "not a date of ISO 8601"))
            }
            return time.date
        }
        return try decoder.decode(type, from: data)
    }
}
