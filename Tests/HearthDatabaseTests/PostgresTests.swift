import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthDatabase

/// PostgreSQL: values, transactions, the schema, and connections that break. The tests with a server need the address of an
/// empty database in `HEARTH_TEST_POSTGRES`, as in the stage `gateway` of `make verify`.
@Suite(.timeLimit(.minutes(2)))
struct PostgresTests {
    private static let server: String? = {
        let address = ProcessInfo.processInfo.environment["HEARTH_TEST_POSTGRES"] ?? ""
        if address.isEmpty { print("postgres: HEARTH_TEST_POSTGRES is not set; these tests are skipped") }
        return address.isEmpty ? nil : address
    }()

    private static let migrations = [
        Migration(1, "CREATE TABLE item(id BIGINT PRIMARY KEY, name TEXT UNIQUE);"),
        Migration(
            2, "CREATE TABLE part(item BIGINT NOT NULL REFERENCES item(id)); CREATE INDEX part_item ON part(item);"),
    ]

    /// The address of a schema of its own.
    private static func address() async throws -> String {
        let server = try required(server)
        let schema = "t_" + Claim.newToken()
        let outside = try await PostgresDatabase(server, migrations: [], connections: 1)
        try await outside.transaction { try $0.execute("CREATE SCHEMA \(schema)") }
        await outside.close()
        return "\(server)\(server.contains("?") ? "&" : "?")options=-csearch_path%3D\(schema)"
    }

    // MARK: With a server

    @Test(.enabled(if: server != nil)) func valuesComeBackAsTheyWere() async throws {
        let database = try await PostgresDatabase(try await Self.address(), migrations: Self.migrations)
        let texts = ["", "Grüße, 日本語 👩‍👩‍👧", "'; DROP TABLE item; --", "a\\b\n\t", String(repeating: "x", count: 2000)]
        for (index, text) in texts.enumerated() {
            let found = try await database.transaction { session in
                try session.execute("INSERT INTO item(id, name) VALUES(?1, ?2)", [.int(index), .text(text)])
                return try session.rows("SELECT id, name FROM item WHERE name = ?1", [.text(text)])
            }
            #expect(found == [[.int(index), .text(text)]])
        }
        let others = try await database.transaction { session in
            try session.execute("INSERT INTO item(id) VALUES(?1)", [.int(Int64.min)])
            return try session.rows(
                "SELECT id, name, 0.5::float8, true, '\\x00ff'::bytea FROM item WHERE name IS NULL", [])
        }
        #expect(others == [[.int(Int64.min), .null, .double(0.5), .int(1), .blob(Data([0, 255]))]])
        let error = await #expect(throws: DatabaseError.self) {
            try await database.transaction { _ = try $0.rows("SELECT ?1::text", [.text("a\u{0}b")]) }
        }
        #expect(error?.code == .failed)
        await database.close()
        await #expect(throws: DatabaseError.self) { try await database.transaction { try $0.execute("SELECT 1") } }
    }

    @Test(.enabled(if: server != nil)) func aThrowingBodyChangesNothing() async throws {
        struct Stop: Error {}
        let database = try await PostgresDatabase(
            try await Self.address(), migrations: Self.migrations, connections: 1)
        await #expect(throws: Stop.self) {
            try await database.transaction { session in
                try session.execute("INSERT INTO item(id) VALUES(1)")
                throw Stop()
            }
        }
        let error = await #expect(throws: DatabaseError.self) {
            try await database.transaction { session in
                try session.execute("INSERT INTO item(id, name) VALUES(1, 'a secret')")
                try session.execute("INSERT INTO item(id, name) VALUES(2, 'a secret')")
            }
        }
        #expect(error?.code == .failed && error?.context.found == "SQLSTATE 23505")
        #expect(!"\(String(describing: error))".contains("a secret"))
        let count = try await database.transaction { try $0.rows("SELECT count(*) FROM item", []) }
        #expect(count == [[.int(0)]])
        await database.close()
    }

    @Test(.enabled(if: server != nil)) func theSchemaIsMadeOnce() async throws {
        let address = try await Self.address()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    try await PostgresDatabase(address, migrations: Self.migrations, connections: 1).close()
                }
            }
            try await group.waitForAll()
        }
        let error = await #expect(throws: DatabaseError.self) {
            try await PostgresDatabase(address, migrations: [Self.migrations[0]])
        }
        #expect(error?.code == .newer)
    }

    /// A connection that the server ended is opened again, and the transaction runs anew.
    @Test(.enabled(if: server != nil)) func aBrokenConnectionIsOpenedAgain() async throws {
        let address = try await Self.address()
        let database = try await PostgresDatabase(address, migrations: Self.migrations, connections: 1)
        let other = try await PostgresDatabase(address, migrations: Self.migrations, connections: 1)
        let process = try await database.transaction { try $0.rows("SELECT pg_backend_pid()", []) }
        _ = try await other.transaction { try $0.rows("SELECT pg_terminate_backend(?1::int)", process[0]) }
        let runs = Locked(0)
        try await database.transaction { session in
            runs.withLock { $0 += 1 }
            try session.execute("INSERT INTO item(id) VALUES(?1)", [.int(7)])
            if runs.withLock({ $0 }) == 1 {
                // This very connection ends in the middle of its transaction.
                try session.execute("SELECT pg_terminate_backend(pg_backend_pid())")
            }
        }
        #expect(runs.withLock { $0 } == 2)
        #expect(try await other.transaction { try $0.rows("SELECT id FROM item", []) } == [[.int(7)]])
        await database.close()
        await other.close()
    }

    @Test(.enabled(if: server != nil)) func anAbsentDatabaseIsRefusedAtOnce() async throws {
        let address = try required(Self.server)
        let mark = address.contains("?") ? "&" : "?"
        let error = await #expect(throws: DatabaseError.self) {
            try await PostgresDatabase("\(address)\(mark)dbname=absent_database", migrations: [])
        }
        #expect(error?.code == .cannotOpen)
    }

    // MARK: Without one

    @Test(arguments: [
        "x", "postgresql://[", "nonsense=1 password=secret", "a\u{0}b", "//secret@h",
    ])
    func anAddressThatCannotBeReadIsNotShown(address: String) async throws {
        let error = await #expect(throws: DatabaseError.self) {
            try await PostgresDatabase(address, migrations: [], time: HurriedClock().time)
        }
        #expect(error?.code == .cannotOpen || error?.code == .unreachable)
        #expect(!"\(String(describing: error))".contains("secret"))
    }

    @Test func aServerThatIsAwayIsWaitedFor() async throws {
        let clock = HurriedClock()
        // Nothing listens on the first port of all.
        let error = await #expect(throws: DatabaseError.self) {
            try await PostgresDatabase("postgresql://127.0.0.1:1/x", migrations: [], time: clock.time)
        }
        guard error?.code != .cannotOpen else { return }  // libpq is not installed
        #expect(error?.code == .unreachable && error?.disposition == .tryLater)
        #expect(clock.now.offset > .seconds(15) && clock.now.offset <= PostgresDatabase.reconnectTime)
    }

    @Test(
        arguments: [
            ("57P01", "database-unreachable"), ("57P03", "database-unreachable"), ("08006", "database-unreachable"),
            ("", "database-unreachable"), ("40001", "database-busy"), ("40P01", "database-busy"),
            ("57014", "database-busy"), ("53100", "database-disk-full"), ("25006", "database-read-only"),
            ("42501", "database-read-only"), ("23505", "database-failed"), ("42P01", "database-failed"),
        ])
    func statesHaveCodes(state: String, code: String) {
        #expect(DatabaseError(postgres: state, isBroken: false).codeText == code)
        #expect(DatabaseError(postgres: state, isBroken: true).code == .unreachable)
    }

    @Test func parametersAndValuesAreTranslated() {
        #expect(PostgresText.statement("SELECT ?1, ?2") == "SELECT $1, $2")
        #expect(PostgresText.value("-5", type: 20) == .int(-5))
        #expect(PostgresText.value("x", type: 20) == .text("x"))
        #expect(PostgresText.value("f", type: 16) == .int(0))
        #expect(PostgresText.value("\\x0g", type: 17) == .text("\\x0g"))
        #expect(PostgresText.value("5", type: 25) == .text("5"))
    }

    @Test func bothDatabasesSpeakOneDialect() async throws {
        let database = try await Database(path: nil, migrations: Self.migrations)
        let found = try await database.transaction { session in
            try session.execute("INSERT INTO item(id, name) VALUES(?1, ?2)", [.int(1), .text("one")])
            return try session.rows("SELECT id, name FROM item", [])
        }
        #expect(found == [[.int(1), .text("one")]])
        #expect(found[0][0].integer == 1 && found[0][1].string == "one" && found[0][0].string == nil)
    }
}
