import Foundation
import HearthBase

/// Decodes a type from nothing and notes what it asks for.
enum SchemaProbe {
    static func schema(of type: any Decodable.Type, inside outer: [any Decodable.Type]) throws -> JSONSchema {
        try (type as? any JSONSchemaProviding.Type)?.jsonSchema ?? probe(type, inside: outer).schema
    }

    /// The schema of a type and a value of it, which is of no meaning.
    fileprivate static func probe<Value: Decodable>(
        _ type: Value.Type, inside outer: [any Decodable.Type]
    ) throws -> (schema: JSONSchema, value: Value) {
        guard !outer.contains(where: { $0 == type }) else { throw unusable(type, "it contains itself") }
        if let (schema, value) = try known(type, inside: outer), let value = value as? Value { return (schema, value) }
        let notes = Notes()
        do {
            let value = try Value(from: ProbeDecoder(notes: notes, outer: outer + [type], codingPath: []))
            let provided = (type as? any JSONSchemaProviding.Type)?.jsonSchema
            // A type without properties asks for nothing.
            return (provided ?? notes.schema ?? .object([]), value)
        } catch let error as LLMError {
            throw error
        } catch {
            throw unusable(type, "it cannot be made of nothing")
        }
    }

    private static func known<Value: Decodable>(
        _ type: Value.Type, inside outer: [any Decodable.Type]
    ) throws -> (JSONSchema, Any)? {
        switch type {
        case is String.Type: return (.string, "")
        case is Bool.Type: return (.boolean, false)
        case is Double.Type: return (.number, 0 as Double)
        case is Float.Type: return (.number, 0 as Float)
        case is Decimal.Type: return (.number, 0 as Decimal)
        case is UUID.Type: return (.text(#"{"type":"string","format":"uuid"}"#), UUID())
        case let integer as any FixedWidthInteger.Type: return (try bounds(integer), zero(integer))
        case let list as any ListProbing.Type:
            return (.array(of: try schema(of: list.elementType, inside: outer)), list.empty)
        case let dictionary as any DictionaryProbing.Type:
            return (.dictionary(of: try schema(of: dictionary.valueType, inside: outer)), dictionary.empty)
        case let optional as any OptionalProbing.Type:
            return (try schema(of: optional.wrappedType, inside: outer), optional.empty)
        case let cases as any (CaseIterable & RawRepresentable).Type:
            return try enumeration(cases)
        default: return nil
        }
    }

    private static func zero<Value: FixedWidthInteger>(_ type: Value.Type) -> Value { .zero }

    /// The schema of the values that the type decodes.
    private static func bounds<Value: FixedWidthInteger>(_ type: Value.Type) throws -> JSONSchema {
        if Int64(exactly: Value.min) == .min { return .integer }
        guard let high = Int64(exactly: Value.max) else {
            return .text(#"{"type":"integer","minimum":0,"maximum":\#(Int64.max)}"#)
        }
        return .text(#"{"type":"integer","minimum":\#(Value.min),"maximum":\#(high)}"#)
    }

    private static func enumeration<Value: CaseIterable & RawRepresentable>(
        _ type: Value.Type
    ) throws -> (JSONSchema, Any)? {
        let values = type.allCases.map { value -> String? in
            switch value.rawValue {
            case let text as String: JSONSchema.quoted(text)
            case let number as any FixedWidthInteger: "\(number)"
            default: nil
            }
        }
        guard let first = type.allCases.first, !values.contains(nil) else { return nil }
        return (.oneOf(values.compactMap { $0 }), first)
    }

    fileprivate static func unusable(_ type: Any.Type, _ reason: String) -> LLMError {
        LLMError(
            .unusableGrammar, "no JSON schema can be made of the type \(type): \(reason)",
            context: ErrorContext(remedy: "Let it conform to JSONSchemaProviding."),
            disposition: .usage)
    }
}

private protocol ListProbing {
    static var elementType: any Decodable.Type { get }
    static var empty: Any { get }
}

extension Array: ListProbing where Element: Decodable {
    static var elementType: any Decodable.Type { Element.self }
    static var empty: Any { [Element]() }
}

extension Set: ListProbing where Element: Decodable {
    static var elementType: any Decodable.Type { Element.self }
    static var empty: Any { Set<Element>() }
}

private protocol DictionaryProbing {
    static var valueType: any Decodable.Type { get }
    static var empty: Any { get }
}

extension Dictionary: DictionaryProbing where Key == String, Value: Decodable {
    static var valueType: any Decodable.Type { Value.self }
    static var empty: Any { [String: Value]() }
}

private protocol OptionalProbing {
    static var wrappedType: any Decodable.Type { get }
    static var empty: Any { get }
}

extension Optional: OptionalProbing where Wrapped: Decodable {
    static var wrappedType: any Decodable.Type { Wrapped.self }
    static var empty: Any { Wrapped?.none as Any }
}

/// The requested values of a type.
private final class Notes {
    private var properties: [JSONSchema.Property]?
    private var whole: JSONSchema?

    var schema: JSONSchema? { properties.map { .object($0) } ?? whole }

    func beginObject() { properties = properties ?? [] }

    func note(_ property: JSONSchema.Property) {
        if properties?.contains(where: { $0.name == property.name }) == true { return }
        properties = (properties ?? []) + [property]
    }

    func note(_ schema: JSONSchema) { whole = schema }
}

private struct ProbeDecoder: Decoder {
    let notes: Notes
    let outer: [any Decodable.Type]
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
        notes.beginObject()
        return KeyedDecodingContainer(ProbeObject<Key>(decoder: self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        throw SchemaProbe.unusable(outer.last ?? Never.self, "it decodes a list by hand")
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { ProbeValue(decoder: self) }
}

private struct ProbeValue: SingleValueDecodingContainer {
    let decoder: ProbeDecoder
    var codingPath: [any CodingKey] { decoder.codingPath }

    func decodeNil() -> Bool { false }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let (schema, value) = try SchemaProbe.probe(type, inside: decoder.outer)
        decoder.notes.note(schema)
        return value
    }
}

private struct ProbeObject<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let decoder: ProbeDecoder
    var codingPath: [any CodingKey] { decoder.codingPath }
    var allKeys: [Key] { [] }

    func contains(_ key: Key) -> Bool { true }

    func decodeNil(forKey key: Key) -> Bool { false }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        let (schema, value) = try probe(type, key)
        decoder.notes.note(
            JSONSchema.Property(key.stringValue, schema, isRequired: !(type is any OptionalProbing.Type)))
        return value
    }

    private func probe<Value: Decodable>(_ type: Value.Type, _ key: Key) throws -> (JSONSchema, Value) {
        do {
            return try SchemaProbe.probe(type, inside: decoder.outer)
        } catch  where type is any JSONSchemaProviding.Type {
            // Its schema is known, but the caller needs a value of it, and no value can be made.
            throw SchemaProbe.unusable(
                decoder.outer.last ?? type, "its property \(key.stringValue) cannot be made of nothing")
        }
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        throw SchemaProbe.unusable(decoder.outer.last ?? Never.self, "it decodes nested objects by hand")
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        throw SchemaProbe.unusable(decoder.outer.last ?? Never.self, "it decodes a list by hand")
    }

    func superDecoder() -> any Decoder { decoder }

    func superDecoder(forKey key: Key) -> any Decoder { decoder }

    // What may be missing is asked for with these.

    private func optional<Value: Decodable>(_ type: Value.Type, _ key: Key) throws -> Value? {
        let schema = try SchemaProbe.schema(of: type, inside: decoder.outer)
        decoder.notes.note(JSONSchema.Property(key.stringValue, schema, isRequired: false))
        return nil
    }

    func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
        try optional(type, key)
    }
    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? { try optional(type, key) }
    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? { try optional(type, key) }
    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? { try optional(type, key) }
    func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? { try optional(type, key) }
    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? { try optional(type, key) }
    func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? { try optional(type, key) }
    func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? { try optional(type, key) }
    func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? { try optional(type, key) }
    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? { try optional(type, key) }
    func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? { try optional(type, key) }
    func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? { try optional(type, key) }
    func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? { try optional(type, key) }
    func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? { try optional(type, key) }
    func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? { try optional(type, key) }
}
