import Foundation
import HearthBase

/// Decodes a type with placeholder values and notes the values that it requests.
enum SchemaProbe {
    static func schema(of type: any Decodable.Type, inside outer: [any Decodable.Type]) throws -> JSONSchema {
        try own(type) ?? probe(type, inside: outer).schema
    }

    /// The schema that a type provides.
    private static func own(_ type: any Decodable.Type) -> JSONSchema? {
        (type as? any JSONSchemaProviding.Type).map { .text($0.jsonSchema) }
    }

    /// The schema of a type, and a placeholder value.
    fileprivate static func probe<Value: Decodable>(
        _ type: Value.Type, inside outer: [any Decodable.Type]
    ) throws -> (schema: JSONSchema, value: Value) {
        guard !outer.contains(where: { $0 == type }) else { throw unusable(type, "it contains itself") }
        if let (schema, value) = try known(type, inside: outer), let value = value as? Value { return (schema, value) }
        let notes = Notes()
        do {
            let value = try Value(from: ProbeDecoder(notes: notes, outer: outer + [type], codingPath: []))
            let provided = own(type)
            // A type without properties requests no value.
            return (provided ?? notes.schema ?? .object([]), value)
        } catch let error as LLMError {
            throw error
        } catch {
            throw unusable(type, "it cannot be decoded from placeholder values")
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
        case let wrapper as any WrapperProbing.Type: return try wrapper.probed(inside: outer)
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
        .unusable(
            "no JSON schema can be made of the type \(type): \(reason)",
            remedy: "Let it conform to JSONSchemaProviding.")
    }
}

/// A type that wraps others, and has an empty value.
private protocol WrapperProbing {
    static func probed(inside outer: [any Decodable.Type]) throws -> (JSONSchema, Any)
}

extension Array: WrapperProbing where Element: Decodable {
    static func probed(inside outer: [any Decodable.Type]) throws -> (JSONSchema, Any) {
        (.array(of: try SchemaProbe.schema(of: Element.self, inside: outer)), Self())
    }
}

extension Set: WrapperProbing where Element: Decodable {
    static func probed(inside outer: [any Decodable.Type]) throws -> (JSONSchema, Any) {
        (.array(of: try SchemaProbe.schema(of: Element.self, inside: outer)), Self())
    }
}

extension Dictionary: WrapperProbing where Key == String, Value: Decodable {
    static func probed(inside outer: [any Decodable.Type]) throws -> (JSONSchema, Any) {
        (.dictionary(of: try SchemaProbe.schema(of: Value.self, inside: outer)), Self())
    }
}

extension Optional: WrapperProbing where Wrapped: Decodable {
    static func probed(inside outer: [any Decodable.Type]) throws -> (JSONSchema, Any) {
        (try SchemaProbe.schema(of: Wrapped.self, inside: outer), Self.none as Any)
    }
}

/// The requested values of a type.
private final class Notes {
    private var properties: [JSONSchema.Property]?
    private var whole: JSONSchema?
    /// The names of properties that may be missing.
    var optional: Set<String> = []

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

    /// Records that the value may be missing: the default `decodeIfPresent` of numbers, strings and booleans calls this
    /// first.
    func decodeNil(forKey key: Key) -> Bool {
        decoder.notes.optional.insert(key.stringValue)
        return false
    }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        let (schema, value) = try probe(type, key)
        let isOptional = type is any ExpressibleByNilLiteral.Type || decoder.notes.optional.contains(key.stringValue)
        decoder.notes.note(JSONSchema.Property(key.stringValue, schema, isRequired: !isOptional))
        return value
    }

    private func probe<Value: Decodable>(_ type: Value.Type, _ key: Key) throws -> (JSONSchema, Value) {
        do {
            return try SchemaProbe.probe(type, inside: decoder.outer)
        } catch  where type is any JSONSchemaProviding.Type {
            // The schema of the property is known, but the caller needs a value, and none can be made.
            throw SchemaProbe.unusable(
                decoder.outer.last ?? type, "its property \(key.stringValue) cannot be decoded from placeholder values")
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

    func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
        let schema = try SchemaProbe.schema(of: type, inside: decoder.outer)
        decoder.notes.note(JSONSchema.Property(key.stringValue, schema, isRequired: false))
        return nil
    }
}
