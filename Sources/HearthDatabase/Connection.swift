import CSQLite
import Foundation
import HearthBase

/// One connection to a database, the owner of its `sqlite3`. Used by one thread at a time; valid in the body that gets it.
///
/// Statements are texts of this package; values reach them only as bound parameters, `?1` and so on.
package final class Connection {
    private let handle: OpaquePointer
    private let path: Path?
    private var cache = StatementCache(limit: 256)
    /// Set during a reading body, in which statements that write are refused.
    var refusesWrites = false

    init(path: Path?, busyTimeout: Duration) throws {
        var handle: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        // An absolute path is never taken for a URI or for the name of a database in memory.
        let result = sqlite3_open_v2(path?.absolute.string ?? ":memory:", &handle, flags, nil)
        guard result == SQLITE_OK, let handle else {
            let number = handle.map { sqlite3_system_errno($0) } ?? 0
            sqlite3_close_v2(handle)
            throw DatabaseError(
                sqlite: result, systemError: number, detail: String(cString: sqlite3_errstr(result)), doing: "open",
                path: path)
        }
        self.handle = handle
        self.path = path
        sqlite3_busy_timeout(handle, Int32(clamping: Int((busyTimeout.seconds * 1000).rounded(.up))))
    }

    deinit {
        cache.removeAll()
        sqlite3_close_v2(handle)
    }

    /// Runs a statement to its end.
    package func run(_ sql: String, _ values: [SQLValue] = []) throws {
        try forEachRow(sql, values) { _ in }
    }

    /// Runs a query and calls `body` for each row. An error of the body ends the query.
    package func forEachRow(_ sql: String, _ values: [SQLValue] = [], _ body: (borrowing Row) throws -> Void) throws {
        let statement = try cache.take(sql) ?? prepare(sql)
        defer { cache.put(statement) }
        guard !refusesWrites || statement.isReadOnly else {
            throw failure(SQLITE_READONLY, detail: "a statement that writes in a reading body", doing: "write to")
        }
        let bound = statement.bind(values)
        guard bound == SQLITE_OK else { throw failure(bound, detail: errorText(bound), doing: "bind values in") }
        while true {
            let result = sqlite3_step(statement.handle)
            if result == SQLITE_DONE { return }
            guard result == SQLITE_ROW else {
                throw failure(
                    result, detail: errorText(result), doing: statement.isReadOnly ? "read" : "write to")
            }
            try body(Row(statement))
        }
    }

    /// The rows of a query.
    package func rows<Value>(
        _ sql: String, _ values: [SQLValue] = [], _ body: (borrowing Row) throws -> Value
    ) throws -> [Value] {
        var found: [Value] = []
        try forEachRow(sql, values) { found.append(try body($0)) }
        return found
    }

    /// The rows of a query as values.
    package func rows(_ sql: String, _ values: [SQLValue] = []) throws -> [[SQLValue]] {
        try rows(sql, values) { row in (0..<row.columnCount).map { row.value($0) } }
    }

    /// The first row of a query; `nil` without one.
    package func first<Value>(
        _ sql: String, _ values: [SQLValue] = [], _ body: (borrowing Row) throws -> Value
    ) throws -> Value? {
        var found: Value?
        try forEachRow(sql, values) { row in
            if found == nil { found = try body(row) }
        }
        return found
    }

    /// Runs the statements of a script, which has no parameters.
    package func runScript(_ sql: String) throws {
        let result = sqlite3_exec(handle, sql, nil, nil, nil)
        guard result == SQLITE_OK else { throw failure(result, detail: errorText(result), doing: "write to") }
    }

    /// The rows changed by the last INSERT, UPDATE or DELETE (`sqlite3_changes64`).
    package var changes: Int { Int(sqlite3_changes64(handle)) }

    /// The row of the last INSERT (`sqlite3_last_insert_rowid`).
    package var lastRow: Int { Int(sqlite3_last_insert_rowid(handle)) }

    /// Whether a transaction is open.
    var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

    private func prepare(_ sql: String) throws -> Statement {
        var text = sql
        var prepared: OpaquePointer?
        let result = text.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) { characters in
                sqlite3_prepare_v3(
                    handle, characters.baseAddress, Int32(clamping: characters.count),
                    UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, nil)
            }
        }
        guard result == SQLITE_OK, let prepared else {
            throw failure(result, detail: String(cString: sqlite3_errmsg(handle)), doing: "prepare a statement for")
        }
        return Statement(sql: sql, handle: prepared)
    }

    /// SQLite's words for a failed step. The words for SQLITE_ERROR are general ones: its own may quote a user's value.
    private func errorText(_ result: Int32) -> String {
        String(cString: result & 0xFF == SQLITE_ERROR ? sqlite3_errstr(result) : sqlite3_errmsg(handle))
    }

    private func failure(_ result: Int32, detail: String, doing: String) -> DatabaseError {
        DatabaseError(
            sqlite: result, systemError: sqlite3_system_errno(handle), detail: detail, doing: doing, path: path)
    }
}
