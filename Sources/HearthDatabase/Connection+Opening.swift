import Foundation
import HearthBase

extension Connection {
    /// Makes a file's creation and close one step in this process.
    ///
    /// A POSIX lock ends when any descriptor of the file is closed. So no connection of this process may open the file
    /// between the two.
    private static let creation = NSLock()

    /// Opens the file, creates it if it is missing, and sets what holds for a connection.
    static func opened(_ path: Path?, busyTimeout: Duration) throws -> Connection {
        if let path { try create(path) }
        let connection = try Connection(path: path, busyTimeout: busyTimeout)
        if try connection.schema == 0 { try connection.run("PRAGMA auto_vacuum = NONE") }
        try connection.useLog(within: busyTimeout)
        for setting in [
            "synchronous = NORMAL", "foreign_keys = ON", "secure_delete = ON", "temp_store = MEMORY",
            "trusted_schema = OFF", "cache_size = -8000", "journal_size_limit = 8388608",
        ] {
            try connection.runScript("PRAGMA \(setting)")
        }
        return connection
    }

    /// Creates an empty file, and its folder, that only the user can read. SQLite gives its log the same access rights.
    private static func create(_ path: Path) throws {
        do {
            let files = LocalFileSystem()
            try files.makeFolders(path.parent)
            creation.lock()
            defer { creation.unlock() }
            guard try files.status(at: path) == nil else { return }
            _ = try files.open(path, .createNew, permissions: 0o600)
        } catch let error as FileError where error.code == .alreadyExists {
            // Another process created it first.
        } catch let error as FileError {
            let code: ErrorCode<DatabaseErrorDomain> = error.code == .diskFull ? .diskFull : .cannotOpen
            throw DatabaseError(
                code, "cannot create the database \(path)",
                context: ErrorContext(file: path.string, remedy: error.context.remedy), underlying: error)
        }
    }

    /// Switches the file to a write-ahead log. Where shared memory does not exist, such as on some network file systems,
    /// the file keeps its rollback journal.
    private func useLog(within timeout: Duration) throws {
        // SQLite does not wait for a process that switches the same file at the same time.
        let clock = ContinuousClock()
        let end = clock.now.advanced(by: timeout)
        while true {
            do {
                return try run("PRAGMA journal_mode = WAL")
            } catch let error as DatabaseError where error.code == .busy && clock.now < end {
                usleep(5000)
            }
        }
    }
}
