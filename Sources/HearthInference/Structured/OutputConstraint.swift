import Foundation
import HearthBase

/// The shapes of an answer or of blocks within it. Thinking before the answer is not constrained.
///
/// ```swift
/// options.constraint = .jsonSchema(#"{"type": "object", "properties": {"city": {"type": "string"}}}"#)
/// options.constraint = .gbnf(#"root ::= "yes" | "no""#)
/// options.constraint = .jsonSchema(event, after: ["EVENT:"])   // what follows this mark in free text
/// ```
/// A block after a mark permits tool calls; a shape of the whole answer excludes them. A limit may cut an answer short.
public struct OutputConstraint: Sendable, Hashable {
    /// The description of a shape.
    package enum Shape: Sendable, Hashable {
        /// A grammar in llama.cpp's notation, whose first rule is `root`.
        case gbnf(String)
        /// A JSON schema.
        case jsonSchema(String)
        /// A call of one of the tools: an object with its `name` and `arguments`. What no grammar can hold of a tool's
        /// schema is left to the check of the finished call.
        case calls([ToolDefinition])
    }

    /// A part of an answer with its own shape.
    package struct Block: Sendable, Hashable {
        /// The text that starts the block, outside code fences; empty for a shape of the whole answer.
        package var opening: String
        /// The shape of the text after the opening.
        package var shape: Shape
        /// The text that must follow the shape; empty for none.
        package var closing: String
        /// Whether the answer ends with the block; otherwise free text may follow.
        package var endsAnswer: Bool
        /// The text that the model must write before the shape; empty for none.
        package var prefix = ""

        /// Makes a block between two texts.
        package init(_ opening: String, _ shape: Shape, closing: String = "", endsAnswer: Bool = false) {
            self.opening = opening
            self.shape = shape
            self.closing = closing
            self.endsAnswer = endsAnswer
        }
    }

    /// The most bytes of a schema.
    public static let maximumSchemaLength = 1 << 20
    /// The deepest nesting of objects and arrays in a schema.
    public static let maximumSchemaDepth = 64

    package var blocks: [Block]

    /// Makes a constraint with these blocks in free text.
    package init(blocks: [Block]) { self.blocks = blocks }

    /// Makes a constraint of the whole answer, or of a block after each of the openings.
    package init(_ shape: Shape, after openings: [String] = []) {
        blocks = (openings.isEmpty ? [""] : openings).map { Block($0, shape) }
    }

    /// Constrains answers to a grammar.
    public static func gbnf(_ grammar: String, after openings: [String] = []) -> OutputConstraint {
        OutputConstraint(.gbnf(grammar), after: openings)
    }

    /// Constrains answers to a JSON schema.
    public static func jsonSchema(_ schema: String, after openings: [String] = []) -> OutputConstraint {
        OutputConstraint(.jsonSchema(schema), after: openings)
    }

    /// Constrains the whole answer to one block: its opening is forced, then its shape and closing follow.
    package static func forced(_ block: Block) -> OutputConstraint {
        var whole = block
        (whole.prefix, whole.opening, whole.endsAnswer) = (block.opening, "", true)
        return OutputConstraint(blocks: [whole])
    }

    /// Whether one shape covers the whole answer, which excludes tool calls.
    package var coversAnswer: Bool { blocks.contains(where: \.opening.isEmpty) }

    /// Refuses an unusable schema: one that is no JSON, is too long or too deep, that no value meets, or whose keywords
    /// no grammar holds.
    /// - Throws: `grammar-unusable`, with the keyword and its place.
    package static func check(schema: String) throws(LLMError) { _ = try SchemaGrammar.grammar(of: schema) }

    /// Refuses a schema that is too long or too deep.
    /// - Throws: `grammar-unusable`.
    package static func checkForm(ofSchema schema: String) throws(LLMError) {
        guard schema.utf8.count <= maximumSchemaLength else {
            throw unusable("it has more than \(maximumSchemaLength) bytes")
        }
        // The depth is checked before any recursion over the schema.
        var depth = 0
        var isString = false
        var isEscaped = false
        for byte in schema.utf8 {
            switch byte {
            case _ where isEscaped: isEscaped = false
            case UInt8(ascii: "\\") where isString: isEscaped = true
            case UInt8(ascii: "\""): isString.toggle()
            case UInt8(ascii: "{") where !isString, UInt8(ascii: "[") where !isString: depth += 1
            case UInt8(ascii: "}") where !isString, UInt8(ascii: "]") where !isString: depth -= 1
            default: break
            }
            guard depth <= maximumSchemaDepth else {
                throw unusable("it is nested more than \(maximumSchemaDepth) deep")
            }
        }
    }

    /// The error of an unusable schema.
    package static func unusable(_ reason: String) -> LLMError {
        .unusable("the JSON schema cannot be used: \(reason)", remedy: "Correct the schema, or make it simpler.")
    }
}
