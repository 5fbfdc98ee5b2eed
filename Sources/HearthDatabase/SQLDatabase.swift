/// A database that SQLite or PostgreSQL keeps, for code that runs on both.
///
/// Its statements are in the common part of the two dialects, with the parameters `?1`, `?2`, …. Columns are BIGINT or TEXT.
package protocol SQLDatabase: Sendable {
    /// Runs a body in one transaction, which is rolled back if the body throws.
    ///
    /// The body may run again: after a connection that broke, even if the first run was committed. So a second run must
    /// not change the result of the first.
    /// - Throws: errors of the body; ``DatabaseError``.
    func transaction<Value: Sendable>(
        _ body: @escaping @Sendable (any SQLSession) throws -> Value
    ) async throws -> Value

    /// Closes the database; later calls fail.
    func close() async
}

/// The statements of one transaction.
package protocol SQLSession {
    /// Runs a statement and returns its rows.
    func rows(_ sql: String, _ values: [SQLValue]) throws -> [[SQLValue]]
}

extension SQLSession {
    /// Runs a statement whose rows, if any, do not matter.
    package func execute(_ sql: String, _ values: [SQLValue] = []) throws { _ = try rows(sql, values) }
}

extension Connection: SQLSession {}

extension Database: SQLDatabase {
    package func transaction<Value: Sendable>(
        _ body: @escaping @Sendable (any SQLSession) throws -> Value
    ) throws -> Value {
        try write { try body($0) }
    }
}

extension SQLValue {
    /// A whole number; `nil` for another value.
    package var integer: Int? { if case .int(let number) = self { Int(exactly: number) } else { nil } }

    /// A text; `nil` for another value.
    package var string: String? { if case .text(let text) = self { text } else { nil } }
}
