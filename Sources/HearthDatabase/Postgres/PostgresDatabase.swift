#if canImport(CPostgres)
import Foundation
import HearthBase

/// A PostgreSQL database, with some connections on threads of their own.
///
/// A connection that broke is opened again. A transaction waits up to ``reconnectTime`` for a server that restarts, and
/// is then run anew. Several processes on several machines may use one database.
package final class PostgresDatabase: SQLDatabase {
    /// How long a transaction waits for a server that does not answer.
    package static let reconnectTime = Duration.seconds(20)
    /// The lock that guards the steps of the schema: the bytes of "hearth".
    private static let migrationLock = 0x6865_6172_7468

    private let workers: [PostgresWorker]
    /// The waiting and running transactions of each worker.
    private let load: Locked<[Int]>
    private let time: TimeSource

    /// Connects, and brings the schema up to date.
    /// - Parameters:
    ///   - address: `postgresql://user@host/database`, or settings such as `host=… dbname=…`.
    ///   - migrations: the steps from an empty database to the present schema, in the common part of both dialects.
    ///   - connections: the most connections of this process.
    /// - Throws: ``DatabaseError``: `cannot-open-database`, `database-unreachable`, `database-newer`, …
    package init(
        _ address: String, migrations: [Migration], connections: Int = 4, time: TimeSource = .system
    ) async throws {
        workers = (0..<max(1, connections)).map { _ in PostgresWorker(address) }
        load = Locked(Array(repeating: 0, count: workers.count))
        self.time = time
        try await retrying { try await $0.migrate(migrations, Self.migrationLock) }
    }

    package func transaction<Value: Sendable>(
        _ body: @escaping @Sendable (any SQLSession) throws -> Value
    ) async throws -> Value {
        try await retrying { try await $0.transaction(body) }
    }

    package func close() async {
        for worker in workers { await worker.close() }
    }

    /// Runs a step on the least busy worker, and again while the server is away or a lock is taken.
    private func retrying<Value: Sendable>(
        _ step: @Sendable (PostgresWorker) async throws -> Value
    ) async throws -> Value {
        let waited = time.stopwatch()
        var pause = Duration.milliseconds(50)
        while true {
            let index = load.withLock { load in
                let index = load.indices.min { load[$0] < load[$1] } ?? 0
                load[index] += 1
                return index
            }
            do {
                defer { load.withLock { $0[index] -= 1 } }
                return try await step(workers[index])
            } catch let error as DatabaseError
                where error.disposition == .tryLater && waited.elapsed + pause < Self.reconnectTime
            {
                Log.write(.info, "database", "a transaction is run again", [.error(error)])
                try await time.sleep(for: pause)
                pause = min(pause * 2, .seconds(1))
            }
        }
    }
}

/// One connection and its thread.
private actor PostgresWorker {
    private let executor = ThreadExecutor(name: "hearth.postgres")
    private let address: String
    private var connection: PostgresConnection?
    private var isClosed = false

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(_ address: String) { self.address = address }

    func transaction<Value: Sendable>(_ body: @Sendable (any SQLSession) throws -> Value) throws -> Value {
        try using { try $0.transaction(body) }
    }

    /// Brings the schema up to date, each step in one transaction, under a lock that other processes wait for.
    func migrate(_ migrations: [Migration], _ lock: Int) throws {
        try using { connection in
            try connection.transaction { session in
                try session.execute("SELECT pg_advisory_xact_lock(\(lock))")
                try session.execute("CREATE TABLE IF NOT EXISTS hearth_schema(number BIGINT NOT NULL)")
                let found = try session.rows("SELECT number FROM hearth_schema", []).first?.first?.integer ?? 0
                let last = migrations.last?.number ?? 0
                guard found <= last else {
                    throw DatabaseError.newer("the PostgreSQL database", found: found, known: last)
                }
                for migration in migrations where migration.number > found {
                    try connection.runScript(migration.script)
                }
                guard found < last else { return }
                try session.execute("DELETE FROM hearth_schema")
                try session.execute("INSERT INTO hearth_schema(number) VALUES(?1)", [.int(last)])
            }
        }
    }

    func close() {
        isClosed = true
        connection = nil
    }

    /// Runs a body on the open connection, and forgets that if it broke.
    private func using<Value>(_ body: (PostgresConnection) throws -> Value) throws -> Value {
        guard !isClosed else { throw DatabaseError.closed }
        let connection = try self.connection ?? PostgresConnection(address)
        self.connection = connection
        defer {
            if connection.isBroken { self.connection = nil }
        }
        return try body(connection)
    }
}
#endif
