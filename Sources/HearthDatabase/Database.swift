import CSQLite
import Foundation
import HearthBase

/// A SQLite database with one connection on a thread of its own.
///
/// The file is in WAL mode: several processes may open it, one writes at a time. A committed transaction survives a kill of
/// the process; a power cut can undo the last ones, and never damages the file (`synchronous=NORMAL`).
package actor Database {
    private let executor: ThreadExecutor
    private var connection: Connection?
    /// The file; `nil` for a database in memory.
    package nonisolated let path: Path?

    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// Opens a database, creates it with access for the user alone if it is missing, and brings its schema up to date.
    /// - Parameters:
    ///   - path: the file; `nil` for a database in memory.
    ///   - migrations: the steps from an empty file to the present schema.
    ///   - busyTimeout: the time to wait for another process that writes.
    /// - Throws: ``DatabaseError``: `cannot-open-database`, `database-newer`, `database-damaged`, `database-busy`, …
    package init(path: Path?, migrations: [Migration], busyTimeout: Duration = .seconds(5)) async throws {
        executor = ThreadExecutor(name: "hearth.database")
        self.path = path
        try await start(migrations, busyTimeout: busyTimeout)
    }

    private func start(_ migrations: [Migration], busyTimeout: Duration) async throws {
        let connection = try Connection.opened(path, busyTimeout: busyTimeout)
        try connection.migrate(migrations, path: path)
        self.connection = connection
    }

    /// Runs a reading body on one state of the database. A statement that writes fails.
    package func read<Value: Sendable>(_ body: @Sendable (Connection) throws -> Value) throws -> Value {
        let connection = try opened()
        connection.refusesWrites = true
        defer { connection.refusesWrites = false }
        return try connection.transaction("BEGIN") { try body(connection) }
    }

    /// Runs a body in one transaction, which is rolled back if the body throws.
    /// - Throws: errors of the body; `database-busy` if another process writes for longer than the time-out.
    package func write<Value: Sendable>(_ body: @Sendable (Connection) throws -> Value) throws -> Value {
        let connection = try opened()
        return try connection.transaction("BEGIN IMMEDIATE") { try body(connection) }
    }

    /// As ``write(_:)``, and the transaction is on the disk when the call returns: a power cut does not undo it either.
    package func writeDurably<Value: Sendable>(_ body: @Sendable (Connection) throws -> Value) throws -> Value {
        let connection = try opened()
        try connection.run("PRAGMA synchronous = FULL")
        // A connection that fails here stays with the safer setting.
        defer { try? connection.run("PRAGMA synchronous = NORMAL") }
        return try connection.transaction("BEGIN IMMEDIATE") { try body(connection) }
    }

    /// Checks the structure of the file and its references.
    /// - Returns: the found faults, at most 20; empty for a whole database.
    package func integrity() throws -> [String] {
        let connection = try opened()
        do {
            let found = try connection.rows("PRAGMA quick_check(20)") { $0.text(0) }.filter { $0 != "ok" }
            let references = try connection.rows("PRAGMA foreign_key_check") {
                "a row of \($0.text(0)) refers to a missing row of \($0.text(2))"
            }
            return Array((found + references).prefix(20))
        } catch let error as DatabaseError where error.code == .damaged {
            return [error.message]
        }
    }

    /// Moves the committed pages into the database file and empties the WAL.
    /// - Throws: `database-busy` if another connection is reading for longer than the time-out.
    package func checkpoint() throws { try checkpoint(opened()) }

    /// Rebuilds the file without free pages and empties the WAL, so that neither holds bytes of removed rows.
    package func compact() throws {
        let connection = try opened()
        try connection.run("VACUUM")
        try checkpoint(connection)
    }

    private func checkpoint(_ connection: Connection) throws {
        let isBusy = try connection.first("PRAGMA wal_checkpoint(TRUNCATE)") { $0.int(0) != 0 }
        guard isBusy != true else {
            throw DatabaseError(
                sqlite: SQLITE_BUSY, systemError: 0, detail: "checkpoint", doing: "shorten the log of", path: path)
        }
    }

    /// Closes the file; later calls fail. Without this call the file is closed with the last reference.
    package func close() { connection = nil }

    private func opened() throws -> Connection {
        guard let connection else {
            throw DatabaseError(
                sqlite: SQLITE_MISUSE, systemError: 0, detail: "it is closed", doing: "use", path: path)
        }
        return connection
    }
}
