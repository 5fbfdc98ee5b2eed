import CSQLite
import Foundation

/// One prepared statement, the owner of its `sqlite3_stmt`.
final class Statement {
    let sql: String
    let handle: OpaquePointer
    /// Whether the statement cannot change the database (`sqlite3_stmt_readonly`).
    let isReadOnly: Bool

    init(sql: String, handle: OpaquePointer) {
        self.sql = sql
        self.handle = handle
        isReadOnly = sqlite3_stmt_readonly(handle) != 0
    }

    deinit { sqlite3_finalize(handle) }

    /// Binds values to the parameters, which are numbered from 1.
    /// - Returns: SQLite's result code; `SQLITE_RANGE` if the number of values is not that of the parameters.
    func bind(_ values: [SQLValue]) -> Int32 {
        guard values.count == Int(sqlite3_bind_parameter_count(handle)) else { return SQLITE_RANGE }
        for (index, value) in values.enumerated() {
            let result = bind(value, at: Int32(index) + 1)
            if result != SQLITE_OK { return result }
        }
        return SQLITE_OK
    }

    private func bind(_ value: SQLValue, at index: Int32) -> Int32 {
        // SQLite copies the bytes during the call (SQLITE_TRANSIENT, a macro that Swift does not import).
        let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        switch value {
        case .null: return sqlite3_bind_null(handle, index)
        case .int(let number): return sqlite3_bind_int64(handle, index, number)
        case .double(let number): return sqlite3_bind_double(handle, index, number)
        case .text(var text):
            return text.withUTF8 { bytes in
                // An empty buffer may have no address, which SQLite would take for NULL.
                bytes.withMemoryRebound(to: CChar.self) { characters in
                    if let start = characters.baseAddress {
                        sqlite3_bind_text64(
                            handle, index, start, UInt64(characters.count), copied, UInt8(SQLITE_UTF8))
                    } else {
                        sqlite3_bind_text64(handle, index, "", 0, copied, UInt8(SQLITE_UTF8))
                    }
                }
            }
        case .blob(let data):
            return data.withUnsafeBytes { bytes in
                guard let start = bytes.baseAddress, !bytes.isEmpty else {
                    return sqlite3_bind_zeroblob(handle, index, 0)
                }
                return sqlite3_bind_blob64(handle, index, start, UInt64(bytes.count), copied)
            }
        }
    }

    /// Ends the statement's work and forgets its values.
    func reset() {
        sqlite3_reset(handle)
        sqlite3_clear_bindings(handle)
    }
}

/// Prepared statements by their text.
///
/// A statement leaves the cache while it is used, so that a nested use of the same text gets a statement of its own.
struct StatementCache {
    private var idle: [String: Statement] = [:]
    private let limit: Int

    init(limit: Int) { self.limit = limit }

    mutating func take(_ sql: String) -> Statement? { idle.removeValue(forKey: sql) }

    mutating func put(_ statement: Statement) {
        statement.reset()
        if idle.count >= limit { idle.removeAll() }
        idle[statement.sql] = statement
    }

    mutating func removeAll() { idle.removeAll() }
}
