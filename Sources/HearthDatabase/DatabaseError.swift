import CSQLite
import Foundation
import HearthBase

/// The domain of ``DatabaseError``.
package enum DatabaseErrorDomain: ErrorDomain {}

/// A failure of a database: the one of conversations, notes and habits, or that of a gateway.
package typealias DatabaseError = HearthError<DatabaseErrorDomain>

extension ErrorCode<DatabaseErrorDomain> {
    /// The file cannot be created or opened.
    package static var cannotOpen: Self { "cannot-open-database" }
    /// A newer version of Hearth has written the file.
    package static var newer: Self { "database-newer" }
    /// The file is no database, or its pages contradict each other.
    package static var damaged: Self { "database-damaged" }
    /// Another process has locked the database for too long.
    package static var busy: Self { "database-busy" }
    /// No space is left on the disk.
    package static var diskFull: Self { "database-disk-full" }
    /// The file or its folder cannot be written.
    package static var readOnly: Self { "database-read-only" }
    /// The database server does not answer, or the connection to it broke.
    package static var unreachable: Self { "database-unreachable" }
    /// The database refused a statement for another reason.
    package static var failed: Self { "database-failed" }
}

extension HearthError where Domain == DatabaseErrorDomain {
    /// The error for a result code of SQLite (https://sqlite.org/rescode.html).
    /// - Parameters:
    ///   - result: the extended result code.
    ///   - systemError: the `errno` of the failed system call; 0 without one.
    ///   - detail: SQLite's own words, without values of a user.
    ///   - doing: the operation, such as `write to`.
    ///   - path: the file; `nil` for a database in memory.
    init(sqlite result: Int32, systemError: Int32, detail: String, doing: String, path: Path?) {
        let isFull = [ENOSPC, EDQUOT].contains(systemError)
        let (code, reason, remedy): (ErrorCode<DatabaseErrorDomain>, String, String?) =
            switch result & 0xFF {
            case SQLITE_FULL: (.diskFull, "no space is left on the disk", "Free some space and try again.")
            case SQLITE_IOERR where isFull:
                (.diskFull, "no space is left on the disk", "Free some space and try again.")
            case SQLITE_CORRUPT, SQLITE_NOTADB:
                (
                    .damaged, "the file is damaged, or no database",
                    "Restore it from a backup, or move it away: a new one is created at the next start."
                )
            case SQLITE_BUSY, SQLITE_LOCKED:
                (.busy, "another process is using it", "Try again, or end the other process.")
            case SQLITE_READONLY, SQLITE_PERM:
                (.readOnly, "it cannot be written", "Check who owns the file and its folder, and their access rights.")
            case SQLITE_CANTOPEN:
                (.cannotOpen, "it cannot be opened", "Check the folder, who owns it and its access rights.")
            default: (.failed, detail, nil)
            }
        self.init(
            code, "cannot \(doing) \(Self.name(of: path)): \(reason)",
            context: ErrorContext(file: path?.string, found: "SQLite \(result): \(detail)", remedy: remedy),
            disposition: code == .busy ? .tryLater : .failed)
        if systemError != 0 { context.systemError = systemError }
    }

    /// The name of a SQLite database in messages.
    static func name(of path: Path?) -> String { path.map { "the database \($0)" } ?? "the database in memory" }

    /// The error for a database of a newer schema.
    /// - Parameter file: that of a SQLite database.
    static func newer(_ name: String, found: Int, known: Int, file: Path? = nil) -> Self {
        Self(
            .newer, "\(name) was written by a newer version of Hearth",
            context: ErrorContext(
                file: file?.string, expected: "schema \(known) or older", found: "schema \(found)",
                remedy: "Update this program; the \(file == nil ? "database" : "file") is unchanged."))
    }
}
