import HearthBase

/// A type that provides its JSON schema; those of simpler types are found: ``OutputConstraint/fitting(_:after:)``.
///
/// A type with a property of such a type is still decoded with placeholder values, unless the property is optional or
/// in a list. If the property cannot be decoded in that way, because it has its own decoder or contains itself, both
/// types must provide their schemas.
public protocol JSONSchemaProviding: Decodable {
    /// The schema as JSON.
    static var jsonSchema: String { get }
}

/// The shape of a JSON value.
package indirect enum JSONSchema: Sendable, Hashable {
    case string
    case integer
    case number
    case boolean
    /// One of these values, each as JSON text: `"\"red\""`, `3`.
    case oneOf([String])
    case array(of: JSONSchema)
    /// An object with these properties in this order.
    case object([Property])
    /// An object with any names, whose values all have this schema.
    case dictionary(of: JSONSchema)
    /// A schema as text.
    case text(String)

    /// A property of an object.
    package struct Property: Sendable, Hashable {
        package var name: String
        package var schema: JSONSchema
        package var isRequired: Bool

        /// Makes a property.
        package init(_ name: String, _ schema: JSONSchema, isRequired: Bool = true) {
            self.name = name
            self.schema = schema
            self.isRequired = isRequired
        }
    }

    /// Finds the schema of a type by decoding it with placeholder values. Supported are structures of strings, numbers,
    /// truth values, optionals, arrays, dictionaries with names as keys, other such structures, `UUID`s, and
    /// enumerations with raw values that are `CaseIterable`.
    ///
    /// ```swift
    /// struct City: Codable { var name: String; var inhabitants: Int? }
    /// let schema = try JSONSchema(of: City.self)
    /// ```
    /// - Throws: `grammar-unusable` for other types, which must provide their schema: ``JSONSchemaProviding``.
    package init(of type: any Decodable.Type) throws {
        self = try SchemaProbe.schema(of: type, inside: [])
    }

    /// The schema as JSON.
    package var json: String {
        switch self {
        case .string: #"{"type":"string"}"#
        case .integer: #"{"type":"integer"}"#
        case .number: #"{"type":"number"}"#
        case .boolean: #"{"type":"boolean"}"#
        case .oneOf(let values): #"{"enum":[\#(values.joined(separator: ","))]}"#
        case .array(let element): #"{"type":"array","items":\#(element.json)}"#
        case .dictionary(let value): #"{"type":"object","additionalProperties":\#(value.json)}"#
        case .text(let text): text
        case .object(let properties):
            #"{"type":"object","properties":{"#
                + properties.map { "\(Self.quoted($0.name)):\($0.schema.json)" }.joined(separator: ",")
                + #"},"required":["#
                + properties.filter(\.isRequired).map { Self.quoted($0.name) }.joined(separator: ",")
                + #"],"additionalProperties":false}"#
        }
    }

    /// A text as JSON.
    static func quoted(_ text: String) -> String { JSONValue.string(text).line }
}
