import Foundation
import Hearth
import HearthAssistant
import HearthBase
import HearthCatalog
import HearthInference
import HearthRouting

/// A type whose JSON Schema and sample are not those of its properties.
protocol SchemaDescribed {
    static func describe(_ maker: SchemaMaker) throws -> (schema: JSONValue, sample: Self)
}

/// A text of a closed list, such as a state.
protocol SchemaWord: SchemaDescribed, CaseIterable, RawRepresentable, Codable, Sendable, Hashable
where RawValue == String {}

extension SchemaWord {
    static func describe(_ maker: SchemaMaker) throws -> (schema: JSONValue, sample: Self) {
        guard let first = allCases.first else { throw SchemaMaker.Undescribed(type: "\(Self.self)") }
        let words = allCases.map { JSONValue.string($0.rawValue) }
        return (.object(["type": .string("string"), "enum": .array(words)]), first)
    }
}

/// Derives JSON Schema from `Decodable` types: it decodes a sample, and records the keys and types that the type asks for.
///
/// So the description of the API and its code cannot differ.
final class SchemaMaker {
    /// A type that cannot be described.
    struct Undescribed: Error { let type: String }

    /// The schemas of structures by name.
    private(set) var components: JSONMembers = [:]

    /// The schema that a reference leads to.
    func component(_ reference: JSONValue?) -> JSONValue? {
        guard case .string(let text)? = reference else { return nil }
        return components[String(text.split(separator: "/").last ?? "")]
    }

    /// The schema of a type.
    func schema<Value: Decodable>(of type: Value.Type) throws -> JSONValue { try describe(type).schema }

    /// The schema of a type with a value of it.
    func describe<Value: Decodable>(_ type: Value.Type) throws -> (schema: JSONValue, sample: Value) {
        if let described = type as? any SchemaDescribed.Type {
            let (schema, sample) = try open(described)
            return (schema, try cast(sample))
        }
        switch type {
        case is String.Type: return (Self.type("string"), try cast(""))
        case is Bool.Type: return (Self.type("boolean"), try cast(false))
        case is Double.Type: return (Self.type("number"), try cast(0.0))
        case let integer as any FixedWidthInteger.Type: return (Self.type("integer"), try cast(Self.zero(integer)))
        default: return try structure(type)
        }
    }

    private func open<Described: SchemaDescribed>(_ type: Described.Type) throws -> (JSONValue, Any) {
        let (schema, sample) = try Described.describe(self)
        return (schema, sample)
    }

    private func cast<Value>(_ sample: Any) throws -> Value {
        guard let value = sample as? Value else { throw Undescribed(type: "\(Value.self)") }
        return value
    }

    private static func zero<Integer: FixedWidthInteger>(_ type: Integer.Type) -> Any { Integer.zero }

    private static func type(_ name: String) -> JSONValue { .object(["type": .string(name)]) }

    private func structure<Value: Decodable>(_ type: Value.Type) throws -> (schema: JSONValue, sample: Value) {
        let keys = RecordedKeys()
        let sample = try Value(from: SchemaDecoder(maker: self, keys: keys))
        let name = Self.name(of: type)
        var object: JSONMembers = [
            "type": .string("object"), "properties": .object(keys.properties),
        ]
        if !keys.required.isEmpty { object["required"] = .array(keys.required.map { .string($0) }) }
        components[name] = .object(object)
        return (.object(["$ref": .string("#/components/schemas/\(name)")]), sample)
    }

    /// The name of a structure without the ending of its Swift type.
    private static func name(of type: Any.Type) -> String {
        let name = "\(type)".filter { $0 != "<" && $0 != ">" }
        return name.hasSuffix("Body") || name.hasSuffix("Form") ? String(name.dropLast("Body".count)) : name
    }
}

/// The keys that a type asks for.
private final class RecordedKeys {
    var properties: JSONMembers = [:]
    var optional: Set<String> = []

    /// The keys without which a value cannot be read, in order.
    var required: [String] { properties.keys.filter { !optional.contains($0) }.sorted() }
}

private struct SchemaDecoder: Decoder {
    let maker: SchemaMaker
    let keys: RecordedKeys
    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(SchemaContainer(maker: maker, keys: keys))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw SchemaMaker.Undescribed(type: "a list") }

    func singleValueContainer() throws -> any SingleValueDecodingContainer {
        throw SchemaMaker.Undescribed(type: "a single value")
    }
}

/// A container that has every key.
private struct SchemaContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let maker: SchemaMaker
    let keys: RecordedKeys
    let codingPath: [any CodingKey] = []
    let allKeys: [Key] = []

    /// Asked before the decoding of an optional value, and not before that of another.
    func contains(_ key: Key) -> Bool {
        keys.optional.insert(key.stringValue)
        return true
    }

    func decodeNil(forKey key: Key) -> Bool { false }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        let (schema, sample) = try maker.describe(type)
        keys.properties[key.stringValue] = schema
        return sample
    }

    private func unknown(_ type: Any.Type) -> SchemaMaker.Undescribed { SchemaMaker.Undescribed(type: "\(type)") }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> { throw unknown(type) }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        throw SchemaMaker.Undescribed(type: "a list")
    }

    func superDecoder() throws -> any Decoder { throw SchemaMaker.Undescribed(type: "a superclass") }
    func superDecoder(forKey key: Key) throws -> any Decoder { try superDecoder() }
}

extension Array: SchemaDescribed where Element: Decodable {
    static func describe(_ maker: SchemaMaker) throws -> (schema: JSONValue, sample: Self) {
        let item = try maker.describe(Element.self)
        return (.object(["type": .string("array"), "items": item.schema]), [item.sample])
    }
}

extension Dictionary: SchemaDescribed where Key: CodingKeyRepresentable, Value: Decodable {
    static func describe(_ maker: SchemaMaker) throws -> (schema: JSONValue, sample: Self) {
        let value = try maker.describe(Value.self)
        return (.object(["type": .string("object"), "additionalProperties": value.schema]), [:])
    }
}

extension Date: SchemaDescribed {
    static func describe(_ maker: SchemaMaker) throws -> (schema: JSONValue, sample: Self) {
        (.object(["type": .string("string"), "format": .string("date-time")]), Date(timeIntervalSince1970: 0))
    }
}

/// A text of an open set.
extension SchemaDescribed
where Self: RawRepresentable<String> & ExpressibleByStringLiteral, StringLiteralType == String {
    static func describe(_ maker: SchemaMaker) throws -> (schema: JSONValue, sample: Self) {
        (["type": "string"], Self(stringLiteral: ""))
    }
}

extension ActionTag: SchemaDescribed {}
extension FinishReason: SchemaDescribed {}
extension ActionCard.State: SchemaWord {}
extension AnswerEnding.Help: SchemaWord {}
extension ChatRole: SchemaWord {}
extension DocumentKind: SchemaWord {}
extension ConversationForm: SchemaWord {}
extension HubModel.Kind: SchemaWord {}
extension HubModel.Tools: SchemaWord {}
extension ReleaseRow.Presence: SchemaWord {}
extension RouteSource: SchemaWord {}

extension ChatImage: SchemaDescribed {
    static func describe(_ maker: SchemaMaker) throws -> (schema: JSONValue, sample: Self) {
        (["type": "string", "format": "byte"], try ChatImage(smallest))
    }

    /// A BMP file of one pixel.
    private static let smallest: [UInt8] = {
        let header: [UInt8] = [
            0x42, 0x4D, 58, 0, 0, 0, 0, 0, 0, 0, 54, 0, 0, 0, 40, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 24,
        ]
        return header + [UInt8](repeating: 0, count: 58 - header.count)
    }()
}
