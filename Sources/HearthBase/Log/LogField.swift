import Foundation

extension Log {
    /// A named fact of an entry, with its type.
    public struct Field: Sendable, Hashable {
        /// Lower-case words joined by hyphens, such as `size` or `retry-after`.
        public let name: String
        public let value: FieldValue
        /// Whether the value can contain facts about a person, such as a path. Handlers for shared logs hide it.
        public let isPrivate: Bool

        package init(_ name: String, _ value: FieldValue, isPrivate: Bool = false) {
            self.name = name
            self.value = value
            self.isPrivate = isPrivate
        }

        /// An error with its code. Private, because its sentence can contain a path.
        package static func error(_ error: any Error) -> Field {
            let code = (error as? any HearthFailure)?.codeText ?? "\(type(of: error))"
            return Field("error", .error(code: code, message: "\(error)"), isPrivate: true)
        }

        package static func text(_ name: String, _ value: some CustomStringConvertible) -> Field {
            Field(name, .text(value.description))
        }

        package static func count(_ name: String, _ value: some BinaryInteger) -> Field {
            Field(name, .count(Int64(clamping: value)))
        }

        package static func bytes(_ name: String, _ value: some BinaryInteger) -> Field {
            Field(name, .bytes(Int64(clamping: value)))
        }

        package static func duration(_ name: String, _ value: Duration) -> Field { Field(name, .duration(value)) }

        package static func flag(_ name: String, _ value: Bool) -> Field { Field(name, .flag(value)) }
    }

    /// The value of a field.
    public enum FieldValue: Sendable, Hashable {
        case text(String)
        case count(Int64)
        case bytes(Int64)
        case duration(Duration)
        case flag(Bool)
        /// An error: its code, or the name of its type if it has none, and its description.
        case error(code: String, message: String)
    }
}

extension Log.Field: CustomStringConvertible {
    /// `name=value`, with quotes around values that contain blanks, quotes or equals signs; seconds for durations.
    public var description: String {
        switch value {
        case .text(let text): "\(name)=\(Self.quoted(text))"
        case .count(let number), .bytes(let number): "\(name)=\(number)"
        case .duration(let time): "\(name)=\(time / .seconds(1))s"
        case .flag(let isSet): "\(name)=\(isSet)"
        case .error(let code, let message): "\(name)=\(Self.quoted(code)) \(name)-message=\(Self.quoted(message))"
        }
    }

    private static func quoted(_ text: String) -> String {
        guard text.isEmpty || text.contains(where: { $0.isWhitespace || "\"=\\".contains($0) }) else { return text }
        let escaped = text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
        return "\"\(escaped)\""
    }
}
