import Foundation
import HearthBase

/// What an answer, or a part of it, has to look like. What the model thinks before is free.
///
/// ```swift
/// options.constraint = .jsonSchema(#"{"type": "object", "properties": {"city": {"type": "string"}}}"#)
/// options.constraint = .gbnf(#"root ::= "yes" | "no""#)
/// options.constraint = .jsonSchema(event, after: ["[CALENDAR_ACTION:"])
/// ```
/// An answer that a limit cuts short is only the beginning of something that fits.
public struct OutputConstraint: Sendable, Hashable {
    /// How the shape is described.
    public enum Shape: Sendable, Hashable {
        /// A grammar in llama.cpp's notation, whose first rule is `root`.
        case gbnf(String)
        /// A JSON schema, as far as llama.cpp can make a grammar of it.
        case jsonSchema(String)
    }

    /// The most bytes of a schema.
    public static let maximumSchemaLength = 128 << 10
    /// The most objects and arrays of a schema inside each other.
    public static let maximumSchemaDepth = 64

    /// What has to fit.
    public var shape: Shape
    /// Text that begins a part with this shape; prose is free before, and again behind it. None: the whole answer.
    public var triggers: [String]

    /// Answers of a shape, or parts of them that follow one of `triggers`.
    public init(_ shape: Shape, after triggers: [String] = []) {
        self.shape = shape
        self.triggers = triggers
    }

    /// Answers that a grammar describes.
    public static func gbnf(_ grammar: String, after triggers: [String] = []) -> OutputConstraint {
        OutputConstraint(.gbnf(grammar), after: triggers)
    }

    /// Answers that a JSON schema describes.
    public static func jsonSchema(_ schema: String, after triggers: [String] = []) -> OutputConstraint {
        OutputConstraint(.jsonSchema(schema), after: triggers)
    }

    /// Refuses a schema that nobody should work on: no JSON, too long or too deep, or with a `pattern` that would be taken for
    /// any string.
    /// - Throws: `grammar-unusable`.
    public static func check(schema: String) throws(LLMError) {
        guard schema.utf8.count <= maximumSchemaLength else {
            throw unusable("it has more than \(maximumSchemaLength) bytes")
        }
        // Before anything recurses over it.
        var depth = 0
        var isString = false
        var isEscaped = false
        // Patterns are taken apart recursively, too.
        var groups = 0
        for byte in schema.utf8 {
            switch byte {
            case _ where isEscaped: isEscaped = false
            case UInt8(ascii: "\\") where isString: isEscaped = true
            case UInt8(ascii: "\""):
                isString.toggle()
                groups = 0
            case UInt8(ascii: "(") where isString: groups += 1
            case UInt8(ascii: ")") where isString: groups -= 1
            case UInt8(ascii: "{") where !isString, UInt8(ascii: "[") where !isString: depth += 1
            case UInt8(ascii: "}") where !isString, UInt8(ascii: "]") where !isString: depth -= 1
            default: break
            }
            guard max(depth, groups) <= maximumSchemaDepth else {
                throw unusable("it is nested more than \(maximumSchemaDepth) deep")
            }
        }
        // How it is broken JSON nobody needs to know.
        guard let value = try? JSONSerialization.jsonObject(with: Data(schema.utf8)),
            let object = value as? [String: Any]
        else { throw unusable("it is no JSON object") }
        if let flaw = SchemaPattern.flaw(inSchema: object) { throw unusable(flaw) }
    }

    /// The failure for a schema.
    public static func unusable(_ reason: String) -> LLMError {
        LLMError(
            .unusableGrammar, "the JSON schema cannot be used: \(reason)",
            context: ErrorContext(remedy: "Correct the schema, or make it simpler."),
            disposition: .usage)
    }
}
