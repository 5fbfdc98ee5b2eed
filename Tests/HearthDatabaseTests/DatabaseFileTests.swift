import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthDatabase

@Suite struct DatabaseFileTests {
    private static let migrations = DatabaseTests.migrations

    private static func code(_ open: () async throws -> Database) async -> String? {
        do {
            _ = try await open()
            return nil
        } catch {
            return (error as? DatabaseError)?.code.rawValue ?? "\(error)"
        }
    }

    private static func count(_ database: Database, _ table: String = "item") async throws -> Int? {
        try await database.read { try $0.first("SELECT count(*) FROM \(table)") { $0.int(0) } }
    }

    @Test func onlyTheUserCanReadTheFiles() async throws {
        let folder = try TemporaryFolder()
        let database = try await Database(path: folder.path("home/a.db"), migrations: Self.migrations)
        try await database.write { try $0.run("INSERT INTO item(name) VALUES('one')") }
        for name in ["a.db", "a.db-wal", "a.db-shm"] {
            let attributes = try FileManager.default.attributesOfItem(atPath: folder.path("home/\(name)").string)
            #expect((attributes[.posixPermissions] as? Int) == 0o600, "\(name)")
        }
        await database.close()
        #expect(try LocalFileSystem().contents(of: folder.path("home")) == ["a.db"])
    }

    @Test func aNewerFileIsRefusedAndUnchanged() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path("a.db")
        let newer = Self.migrations + [Migration(3, "CREATE TABLE later(id)")]
        try await Database(path: path, migrations: newer).close()
        let before = try Data(contentsOf: path.url)
        #expect(await Self.code { try await Database(path: path, migrations: Self.migrations) } == "database-newer")
        #expect(try Data(contentsOf: path.url) == before)
        // The newer program still opens it.
        #expect(try await Self.count(Database(path: path, migrations: newer), "later") == 0)
    }

    @Test func aFailedStepLeavesTheOldSchema() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path("a.db")
        let old = try await Database(path: path, migrations: [Self.migrations[0]])
        try await old.write { try $0.run("INSERT INTO item(name) VALUES('kept')") }
        await old.close()
        let broken = Migration(2, "CREATE TABLE part(item); DROP TABLE item; CREATE TABLE part(again);")
        #expect(
            await Self.code { try await Database(path: path, migrations: [Self.migrations[0], broken]) }
                == "database-failed")
        let reopened = try await Database(path: path, migrations: Self.migrations)
        #expect(try await Self.count(reopened) == 1)
        #expect(try await Self.count(reopened, "part") == 0)
        #expect(try await reopened.integrity() == [])
    }

    /// The files as a kill between two statements leaves them: the database opens with the old schema or the new one.
    @Test func aKillDuringAMigrationLeavesOneSchema() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path("a.db")
        let old = try await Database(path: path, migrations: [Self.migrations[0]])
        try await old.write { connection in
            for number in 0..<500 {
                try connection.run(
                    "INSERT INTO item(name, value) VALUES(?1, ?2)",
                    [.text("\(number)"), .blob(Data(repeating: 7, count: 2000))])
            }
        }
        // A cache of a few pages writes the pages of the open transaction into the log.
        let statements = [
            "PRAGMA cache_size = 5", "CREATE TABLE other(name, value)",
            "INSERT INTO other SELECT name, value FROM item",
            "DROP TABLE item", "ALTER TABLE other RENAME TO item", "PRAGMA user_version = 2",
        ]
        for killed in 1...statements.count {
            struct Kill: Error {}
            let copy = folder.path("copy-\(killed)")
            await #expect(throws: Kill.self) {
                try await old.write { connection in
                    for statement in statements.prefix(killed) { try connection.runScript(statement) }
                    try LocalFileSystem().makeFolders(copy)
                    for suffix in ["", "-wal"] {
                        try FileManager.default.copyItem(
                            atPath: path.string + suffix, toPath: copy.string + "/a.db" + suffix)
                    }
                    throw Kill()
                }
            }
            let migrations = [
                Self.migrations[0], Migration(2, statements.dropFirst().dropLast().joined(separator: ";")),
            ]
            let reopened = try await Database(path: Path(copy.string + "/a.db"), migrations: migrations)
            #expect(try await Self.count(reopened) == 500)
            #expect(try await reopened.integrity() == [])
            #expect(try await reopened.read { try $0.schema } == 2)
        }
    }

    @Test(arguments: [
        "a web page", String(repeating: "x", count: 5000), "SQLite format 3\u{0}" + String(repeating: "y", count: 8000),
    ])
    func anotherFileIsDamaged(_ text: String) async throws {
        let folder = try TemporaryFolder()
        let path = try folder.write("a.db", Data(text.utf8))
        #expect(await Self.code { try await Database(path: path, migrations: Self.migrations) } == "database-damaged")
        #expect(try Data(contentsOf: path.url) == Data(text.utf8))
    }

    @Test func damagedPagesAreFound() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path("a.db")
        let database = try await Database(path: path, migrations: Self.migrations)
        try await database.write { connection in
            for number in 0..<2000 {
                try connection.run("INSERT INTO item(name) VALUES(?1)", [.text("name \(number)")])
            }
        }
        await database.close()
        var bytes = try Data(contentsOf: path.url)
        for index in stride(from: 4096 * 3, to: bytes.count, by: 4096) { bytes[index] = 0xEE }
        try bytes.write(to: path.url)
        let reopened = try await Database(path: path, migrations: Self.migrations)
        #expect(try await !reopened.integrity().isEmpty)
        let error = await #expect(throws: DatabaseError.self) { try await Self.count(reopened) }
        #expect(error?.code == .damaged)
    }

    @Test func aFolderThatCannotBeMadeIsAnError() async throws {
        let folder = try TemporaryFolder()
        try folder.write("file", Data())
        for name in ["file/a.db", "file/deep/a.db"] {
            #expect(
                await Self.code { try await Database(path: folder.path(name), migrations: Self.migrations) }
                    == "cannot-open-database")
        }
        try LocalFileSystem().makeFolders(folder.path("a.db"))
        #expect(
            await Self.code { try await Database(path: folder.path("a.db"), migrations: Self.migrations) }
                == "cannot-open-database")
    }

    @Test func aFullDiskChangesNothing() async throws {
        let database = try await Database(path: nil, migrations: Self.migrations)
        try await database.write { try $0.run("INSERT INTO item(name) VALUES('kept')") }
        let pages = try await database.read { try $0.first("PRAGMA page_count") { $0.int(0) } } ?? 0
        // The limit of pages acts as a full disk does.
        try await database.read { try $0.runScript("PRAGMA max_page_count = \(pages + 2)") }
        let error = await #expect(throws: DatabaseError.self) {
            try await database.write { connection in
                try connection.run("UPDATE item SET name = 'changed'")
                try connection.run("INSERT INTO item(value) VALUES(?1)", [.blob(Data(count: 1 << 20))])
            }
        }
        #expect(error?.code == .diskFull)
        #expect(try await database.read { try $0.rows("SELECT name FROM item") } == [[.text("kept")]])
    }

    @Test func anotherWriterIsWaitedForAndThenNamed() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path("a.db")
        let first = try await Database(path: path, migrations: Self.migrations)
        let second = try await Database(path: path, migrations: Self.migrations, busyTimeout: .milliseconds(20))
        let isHeld = DispatchSemaphore(value: 0)
        let mayEnd = DispatchSemaphore(value: 0)
        async let held: Void = first.write { connection in
            try connection.run("INSERT INTO item(name) VALUES('first')")
            isHeld.signal()
            mayEnd.wait()
        }
        await blocking { isHeld.wait() }
        let error = await #expect(throws: DatabaseError.self) {
            try await second.write { try $0.run("INSERT INTO item(name) VALUES('second')") }
        }
        #expect(error?.code == .busy)
        #expect(error?.disposition == .tryLater)
        // Reading sees the state before.
        #expect(try await Self.count(second) == 0)
        mayEnd.signal()
        try await held
        #expect(try await Self.count(second) == 1)
    }

    @Test func manyConnectionsWriteSideBySide() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path("a.db")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<6 {
                group.addTask {
                    // All of them create and migrate the same file.
                    let database = try await Database(
                        path: path, migrations: Self.migrations, busyTimeout: .seconds(60))
                    for number in 0..<50 {
                        try await database.write {
                            try $0.run("INSERT INTO item(name) VALUES(?1)", [.text("\(writer)-\(number)")])
                        }
                    }
                    await database.close()
                }
            }
            try await group.waitForAll()
        }
        let database = try await Database(path: path, migrations: Self.migrations)
        #expect(try await Self.count(database) == 300)
        #expect(try await database.integrity() == [])
    }

    @Test func compactingLeavesNoBytesOfRemovedRows() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path("a.db")
        let database = try await Database(path: path, migrations: Self.migrations)
        try await database.write { connection in
            for number in 0..<300 {
                try connection.run("INSERT INTO item(name) VALUES(?1)", [.text("hidden \(number)")])
            }
        }
        try await database.write { try $0.run("DELETE FROM item") }
        try await database.compact()
        for name in try LocalFileSystem().contents(of: folder.path) {
            #expect(try Data(contentsOf: folder.path(name).url).range(of: Data("hidden".utf8)) == nil, "\(name)")
        }
    }

    @Test func aDurableWriteIsCommitted() async throws {
        let folder = try TemporaryFolder()
        let database = try await Database(path: folder.path("a.db"), migrations: Self.migrations)
        let setting = try await database.writeDurably { connection in
            try connection.run("INSERT INTO item(name) VALUES('one')")
            return try connection.first("PRAGMA synchronous") { $0.int(0) }
        }
        // FULL is 2, NORMAL is 1.
        #expect(setting == 2)
        #expect(try await database.read { try $0.first("PRAGMA synchronous") { $0.int(0) } } == 1)
        #expect(try await Self.count(database) == 1)
    }
}
