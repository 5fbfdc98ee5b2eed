#if canImport(CPostgres)
import CPostgres
import Foundation
import HearthBase

/// One connection to PostgreSQL, the owner of its `PGconn`. Used by one thread at a time; each call blocks.
final class PostgresConnection: SQLSession {
    private let handle: OpaquePointer

    /// The longest wait for a connection, in seconds.
    private static let connectSeconds: Int32 = 5

    /// Connects.
    /// - Throws: ``DatabaseError``: `cannot-open-database` for an address that cannot be used, a missing library or a
    ///   refused user; `database-unreachable` if no server answers.
    init(_ address: String) throws {
        guard hearth_pg_available() else { throw DatabaseError.libraryMissing }
        guard !address.utf8.contains(0), hearth_pg_is_address(address) else { throw DatabaseError.notAnAddress }
        guard let handle = hearth_pg_connect(address, Self.connectSeconds) else {
            throw DatabaseError.unreachable("memory is short")
        }
        self.handle = handle
        guard hearth_pg_is_open(handle) else {
            // `deinit` closes the handle, since every property is set.
            throw DatabaseError.cannotConnect(String(cString: hearth_pg_message(handle)))
        }
        // A statement never waits for ever, neither for a lock nor for a disk.
        try runScript("SET statement_timeout = 10000; SET lock_timeout = 5000")
    }

    deinit { hearth_pg_close(handle) }

    /// Whether the connection broke.
    var isBroken: Bool { !hearth_pg_is_open(handle) }

    /// Runs the statements of a script, which has no parameters.
    func runScript(_ script: String) throws {
        let result = hearth_pg_run(handle, script)
        defer { hearth_pg_free(result) }
        try check(result)
    }

    func rows(_ sql: String, _ values: [SQLValue]) throws -> [[SQLValue]] {
        let texts = try values.map { try PostgresText.text($0) }.map { $0.flatMap { strdup($0) } }
        defer { for text in texts { free(text) } }
        let result = hearth_pg_query(
            handle, PostgresText.statement(sql), Int32(values.count), texts.map { UnsafePointer($0) }, nil, nil)
        defer { hearth_pg_free(result) }
        let checked = try check(result)
        let columns = hearth_pg_column_count(checked)
        return (0..<hearth_pg_row_count(checked)).map { row in
            (0..<columns).map { column in Self.value(checked, row, column) }
        }
    }

    /// Runs a body in a transaction, which is rolled back if the body throws.
    func transaction<Value>(_ body: (any SQLSession) throws -> Value) throws -> Value {
        try runScript("BEGIN")
        do {
            let value = try body(self)
            try runScript("COMMIT")
            return value
        } catch {
            // The caller gets the first error; a broken connection has no transaction any more.
            if !isBroken { try? runScript("ROLLBACK") }
            throw error
        }
    }

    @discardableResult
    private func check(_ result: OpaquePointer?) throws -> OpaquePointer {
        guard let result else { throw DatabaseError.unreachable("the connection broke") }
        guard hearth_pg_succeeded(result) else {
            throw DatabaseError(postgres: String(cString: hearth_pg_state(result)), isBroken: isBroken)
        }
        return result
    }

    private static func value(_ result: OpaquePointer, _ row: Int32, _ column: Int32) -> SQLValue {
        guard !hearth_pg_is_null(result, row, column), let start = hearth_pg_value(result, row, column) else {
            return .null
        }
        let count = Int(hearth_pg_length(result, row, column))
        let text = start.withMemoryRebound(to: UInt8.self, capacity: count) {
            String(decoding: UnsafeBufferPointer(start: $0, count: count), as: UTF8.self)
        }
        return PostgresText.value(text, type: hearth_pg_type(result, column))
    }
}

/// The difference between the two dialects: how parameters are written, and values read.
enum PostgresText {
    /// A statement with `$1` in place of `?1`. The statements of this package have no other question mark.
    static func statement(_ sql: String) -> String { sql.replacing("?", with: "$") }

    /// The text of a parameter; `nil` for NULL.
    static func text(_ value: SQLValue) throws -> String? {
        switch value {
        case .null: return nil
        case .int(let number): return "\(number)"
        case .double(let number): return "\(number)"
        case .text(let text):
            // PostgreSQL keeps no such text, and libpq would cut it.
            guard !text.utf8.contains(0) else { throw DatabaseError(postgres: "22021", isBroken: false) }
            return text
        case .blob(let data): return "\\x" + [UInt8](data).hexadecimal
        }
    }

    /// The value of a text that PostgreSQL sent, by the number of its type.
    static func value(_ text: String, type: UInt32) -> SQLValue {
        switch type {
        case 20, 21, 23: Int64(text).map { SQLValue.int($0) } ?? .text(text)
        case 16: .int(text == "t" ? Int64(1) : 0)
        case 700, 701: Double(text).map { SQLValue.double($0) } ?? .text(text)
        case 17 where text.hasPrefix("\\x"):
            [UInt8](hexadecimal: text.dropFirst(2)).map { SQLValue.blob(Data($0)) } ?? .text(text)
        default: .text(text)
        }
    }
}
#endif
