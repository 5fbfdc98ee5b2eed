import Foundation

/// A value bound to a parameter of a statement, or read from a column.
package enum SQLValue: Sendable, Hashable {
    case null
    case int(Int64)
    case double(Double)
    case text(String)
    case blob(Data)

    /// A text, or NULL.
    package static func text(_ value: String?) -> Self { value.map { .text($0) } ?? .null }

    /// Bytes, or NULL.
    package static func blob(_ value: Data?) -> Self { value.map { .blob($0) } ?? .null }

    /// A whole number.
    package static func int(_ value: Int) -> Self { .int(Int64(value)) }

    /// A date as seconds since 2001, which keeps each bit of it; or NULL.
    package static func date(_ value: Date?) -> Self {
        value.map { .double($0.timeIntervalSinceReferenceDate) } ?? .null
    }
}
