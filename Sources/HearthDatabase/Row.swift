import CSQLite
import Foundation

/// The present row of a query. Columns are numbered from 0.
package struct Row: ~Copyable {
    private let handle: OpaquePointer

    init(_ statement: Statement) { handle = statement.handle }

    package func isNull(_ column: Int) -> Bool { sqlite3_column_type(handle, Int32(column)) == SQLITE_NULL }

    /// A whole number; 0 for NULL.
    package func int(_ column: Int) -> Int { Int(sqlite3_column_int64(handle, Int32(column))) }

    /// A number; 0 for NULL.
    package func double(_ column: Int) -> Double { sqlite3_column_double(handle, Int32(column)) }

    /// A text; empty for NULL. Bytes that are no UTF-8 become replacement characters.
    package func text(_ column: Int) -> String {
        guard let start = sqlite3_column_text(handle, Int32(column)) else { return "" }
        let count = Int(sqlite3_column_bytes(handle, Int32(column)))
        return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    }

    /// Bytes; empty for NULL.
    package func blob(_ column: Int) -> Data {
        guard let start = sqlite3_column_blob(handle, Int32(column)) else { return Data() }
        return Data(bytes: start, count: Int(sqlite3_column_bytes(handle, Int32(column))))
    }

    /// A date that `SQLValue.date` bound; 2001 for NULL.
    package func date(_ column: Int) -> Date { Date(timeIntervalSinceReferenceDate: double(column)) }

    /// A text; `nil` for NULL.
    package func optionalText(_ column: Int) -> String? { isNull(column) ? nil : text(column) }

    /// The value with its kind.
    package func value(_ column: Int) -> SQLValue {
        switch sqlite3_column_type(handle, Int32(column)) {
        case SQLITE_INTEGER: .int(sqlite3_column_int64(handle, Int32(column)))
        case SQLITE_FLOAT: .double(double(column))
        case SQLITE_TEXT: .text(text(column))
        case SQLITE_BLOB: .blob(blob(column))
        default: .null
        }
    }

    package var columnCount: Int { Int(sqlite3_column_count(handle)) }
}
