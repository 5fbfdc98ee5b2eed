import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthDatabase

@Suite struct DatabaseTests {
    static let migrations = [
        Migration(1, "CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT UNIQUE, value);"),
        Migration(
            2,
            """
            -- A part refers to its item.
            CREATE TABLE part(item INTEGER NOT NULL REFERENCES item(id) ON DELETE CASCADE, name TEXT NOT NULL);
            CREATE INDEX part_item ON part(item);
            """),
    ]

    @Test func valuesComeBackAsTheyWere() async throws {
        let values: [SQLValue] = [
            .null, .int(Int64.min), .int(Int64.max), .int(0), .double(0.1), .double(-1e300), .text(""),
            .text("a\u{0}b"), .text("Grüße, 日本語 👩‍👩‍👧"), .text("'; DROP TABLE item; --"), .blob(Data()),
            .blob(Data([0, 255, 0])), .text(String(repeating: "x", count: 1 << 20)),
        ]
        let database = try await Database(path: nil, migrations: Self.migrations)
        for value in values {
            let found = try await database.write { connection in
                try connection.run("INSERT INTO item(value) VALUES(?1)", [value])
                return try connection.rows("SELECT value FROM item WHERE id = ?1", [.int(connection.lastRow)])
            }
            #expect(found == [[value]])
        }
    }

    @Test func aThrowingBodyChangesNothing() async throws {
        struct Stop: Error {}
        let database = try await Database(path: nil, migrations: Self.migrations)
        await #expect(throws: Stop.self) {
            try await database.write { connection in
                try connection.run("INSERT INTO item(name) VALUES('one')")
                throw Stop()
            }
        }
        #expect(try await database.read { try $0.first("SELECT count(*) FROM item") { $0.int(0) } } == 0)
        // The transaction has ended, so the next one begins.
        try await database.write { try $0.run("INSERT INTO item(name) VALUES('one')") }
    }

    @Test func aReadingBodyCannotWrite() async throws {
        let database = try await Database(path: nil, migrations: Self.migrations)
        let error = await #expect(throws: DatabaseError.self) {
            try await database.read { try $0.run("INSERT INTO item(name) VALUES('one')") }
        }
        #expect(error?.code == .readOnly)
        try await database.write { try $0.run("INSERT INTO item(name) VALUES('one')") }
    }

    @Test func aStatementInUseCanBeUsedAgain() async throws {
        let database = try await Database(path: nil, migrations: Self.migrations)
        let pairs = try await database.write { connection in
            for name in ["a", "b", "c"] { try connection.run("INSERT INTO item(name) VALUES(?1)", [.text(name)]) }
            let sql = "SELECT name FROM item ORDER BY name"
            var pairs: [String] = []
            try connection.forEachRow(sql) { outer in
                let first = outer.text(0)
                try connection.forEachRow(sql) { pairs.append(first + $0.text(0)) }
            }
            return pairs
        }
        #expect(pairs == ["aa", "ab", "ac", "ba", "bb", "bc", "ca", "cb", "cc"])
    }

    @Test(arguments: [[], [.text("one"), .text("two")]] as [[SQLValue]])
    func aWrongNumberOfValuesIsRefused(_ values: [SQLValue]) async throws {
        let database = try await Database(path: nil, migrations: Self.migrations)
        let error = await #expect(throws: DatabaseError.self) {
            try await database.write { try $0.run("INSERT INTO item(name) VALUES(?1)", values) }
        }
        #expect(error?.code == .failed)
    }

    @Test func foreignKeysHold() async throws {
        let database = try await Database(path: nil, migrations: Self.migrations)
        let error = await #expect(throws: DatabaseError.self) {
            try await database.write { try $0.run("INSERT INTO part VALUES(7, 'wheel')") }
        }
        #expect(error?.code == .failed)
        let parts = try await database.write { connection in
            try connection.run("INSERT INTO item(id, name) VALUES(7, 'car')")
            try connection.run("INSERT INTO part VALUES(7, 'wheel')")
            try connection.run("DELETE FROM item")
            #expect(connection.changes == 1)
            return try connection.rows("SELECT * FROM part").count
        }
        #expect(parts == 0)
    }

    @Test func errorsQuoteNoValues() async throws {
        let database = try await Database(path: nil, migrations: Self.migrations)
        let error = await #expect(throws: DatabaseError.self) {
            try await database.write { connection in
                try connection.runScript("CREATE VIRTUAL TABLE words USING fts5(text)")
                try connection.run("SELECT * FROM words WHERE words MATCH ?1", [.text("\"secret")])
            }
        }
        #expect(error?.code == .failed)
        #expect(error.map { "\($0) \($0.context)".contains("secret") } == false)
    }

    @Test func aClosedDatabaseRefuses() async throws {
        let folder = try TemporaryFolder()
        let database = try await Database(path: folder.path("a.db"), migrations: Self.migrations)
        await database.close()
        let error = await #expect(throws: DatabaseError.self) { try await database.read { _ in } }
        #expect(error?.code == .failed)
        #expect(try LocalFileSystem().contents(of: folder.path) == ["a.db"])
    }
}
