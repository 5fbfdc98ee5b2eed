import Foundation
import HearthAssistant
import HearthBase

/// Reads and writes the native API's JSON: dates of ISO 8601 with milliseconds.
enum NativeJSON {
    /// The bytes of a value.
    static func bytes(_ value: some Encodable) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .custom { date, encoder in
            var container = encoder.singleValueContainer()
            try container.encode(Timestamp(date).description)
        }
        return [UInt8](try encoder.encode(value))
    }

    /// The value of a request's body. The parser of ``JSONValue`` bounds the depth first.
    /// - Throws: ``NativeFailure``.
    static func value<Value: Decodable>(_ type: Value.Type, _ data: Data) throws -> Value {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .custom { decoder in
            let container = try decoder.singleValueContainer()
            guard let time = Timestamp(try container.decode(String.self)) else {
                throw DecodingError.typeMismatch(
                    Date.self, .init(codingPath: decoder.codingPath, debugDescription: "not a date"))
            }
            return time.date
        }
        do {
            return try decoder.decode(type, from: data)
        } catch let error as DecodingError {
            throw NativeFailure(error)
        }
    }

    /// The path of the first member of a document that a schema does not have; `nil` for none.
    static func unknownField(in value: JSONValue, _ schema: JSONValue, _ components: [String: JSONValue]) -> String? {
        var schema = schema.members ?? [:]
        if case .string(let reference)? = schema["$ref"], let name = reference.split(separator: "/").last {
            schema = components[String(name)]?.members ?? [:]
        }
        switch value {
        case .object(let members):
            guard let properties = schema["properties"]?.members else { return nil }
            for (name, member) in members.sorted(by: { $0.key < $1.key }) {
                guard let known = properties[name] else { return name }
                if let found = unknownField(in: member, known, components) { return "\(name).\(found)" }
            }
        case .array(let items):
            guard let known = schema["items"] else { return nil }
            for (index, item) in items.enumerated() {
                if let found = unknownField(in: item, known, components) { return "[\(index)].\(found)" }
            }
        default: break
        }
        return nil
    }
}
