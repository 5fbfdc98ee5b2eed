import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthDelivery

/// What was made of a release goes when nobody reads it any more, and not before.
@Suite(.timeLimit(.minutes(10))) struct PreparedReadersTests {
    private let fixture: StoreFixture
    private let release: InstalledRelease
    private let preparer = ScriptedPreparer()

    init() async throws {
        fixture = try StoreFixture()
        release = try await fixture.install(try StoreFixture.identity())
    }

    private var builds: Int { preparer.builds.withLock { $0 } }

    /// A lease beside that of the opening, as another process would hold it.
    private func reader() throws -> ReleaseLease {
        try ReleaseLeases(layout: fixture.layout, fileSystem: LocalFileSystem()).acquire(release.identity)
    }

    /// Opens the release as an engine does: under a lease of its own.
    private func open(_ preparer: (any ReleasePreparer)? = nil) async throws -> Path {
        let lease = try await fixture.store.lease(release.identity)
        defer { lease.release() }
        return try await fixture.manager(preparer: preparer ?? self.preparer).weightsToOpen(of: release, under: lease)
    }

    private func identity(_ path: Path) throws -> FileIdentity? { try LocalFileSystem().status(at: path)?.identity }

    private var folders: [String] {
        get throws { try LocalFileSystem().contents(of: fixture.layout.preparedFolder(of: release.identity)) }
    }

    @Test func theLeaseOfTheOpeningItselfKeepsNothing() async throws {
        let old = try await open()
        preparer.use("smaller")
        let new = try await open()
        #expect(try fixture.text(new) == "smaller of \(release.identity)")
        #expect(try !fixture.exists(old))
        #expect(try folders == [new.parent.lastComponent])
    }

    @Test func whatWasReadThenGoesWithTheNextOpening() async throws {
        let old = try await open()
        let reader = try reader()
        preparer.use("smaller")
        let new = try await open()
        #expect(try await open() == new)
        #expect(try fixture.text(old) == "small of \(release.identity)", "somebody reads it")
        reader.release()
        #expect(try await open() == new)
        #expect(builds == 2)
        #expect(try folders == [new.parent.lastComponent])
        #expect(try fixture.temporaryNames().isEmpty)
    }

    /// The record is gone, or the bytes changed: another file is made, and a reader of this one keeps it.
    @Test(arguments: ["record", "bytes", "unnoticed bytes"])
    func whatIsDamagedIsMadeAgainBesideItsReader(_ damage: String) async throws {
        let old = try await open()
        let inode = try #require(try identity(old))
        let reader = try reader()
        if damage == "record" {
            try LocalFileSystem().removeFile(old.parent.appending("prepared.json"))
        } else {
            let date = try #require(try LocalFileSystem().status(at: old)?.modified)
            let file = try FileHandle(forWritingTo: old.url)
            try file.write(contentsOf: Data("X".utf8))
            try file.close()
            try FileManager.default.setAttributes(
                [.modificationDate: damage == "bytes" ? Date(timeIntervalSince1970: 5) : date],
                ofItemAtPath: old.string)
        }
        // Only who reads it all notices bytes that changed behind everybody's back.
        if damage == "unnoticed bytes" {
            try await fixture.manager(preparer: preparer, probe: ScriptedProbe()).activate(release.identity)
        }
        let new = try await open()
        #expect(builds == 2)
        #expect(new != old && new.lastComponent == old.lastComponent)
        #expect(try fixture.text(new) == "small of \(release.identity)")
        #expect(try identity(old) == inode, "it was taken from under its reader")
        #expect(try await fixture.store.prepared(of: release)?.path == new)
        #expect(try await open() == new)
        reader.release()
        #expect(try await open() == new)
        #expect(try folders == [new.parent.lastComponent])
        #expect(builds == 2)
    }

    @Test func whatAnEngineRefusedStaysUnderItsReaderAndIsFoundByNobody() async throws {
        let old = try await open()
        let inode = try #require(try identity(old))
        let reader = try reader()
        try await fixture.store.drop(try #require(try await fixture.store.prepared(of: release)))
        #expect(try identity(old) == inode)
        #expect(try await fixture.store.prepared(of: release) == nil)
        let new = try await open()
        #expect(new != old && builds == 2)
        #expect(try identity(old) == inode)
        reader.release()
        #expect(try await open() == new)
        #expect(try folders == [new.parent.lastComponent])
        // Dropping what nobody reads leaves nothing, and twice is as good as once.
        let prepared = try #require(try await fixture.store.prepared(of: release))
        for _ in 0..<2 { try await fixture.store.drop(prepared) }
        #expect(try folders == [])
    }

    // MARK: - Collected

    /// What another recipe made while somebody read the release is collected once nobody does, and what is opened stays.
    @Test func whatIsOutdatedIsCollectedWhenNobodyReadsIt() async throws {
        let old = try await open()
        let reader = try reader()
        preparer.use("smaller")
        let new = try await open()
        let manager = fixture.manager(preparer: preparer)
        #expect(try await manager.collectionPlan().removals.isEmpty, "somebody reads it")
        reader.release()
        let plan = try await manager.collectionPlan()
        #expect(plan.removals.map(\.item) == [.prepared(release.identity)])
        #expect(plan.removals.map(\.reason) == [.outdated])
        let total = try #require(try await fixture.store.facts().members.first).preparedBytes
        #expect(plan.freedBytes > 0 && plan.freedBytes < total)
        #expect(try fixture.exists(old), "a plan changes nothing")
        // Between the plan and its execution somebody reads it.
        let late = try self.reader()
        #expect(try await manager.collect(plan).isEmpty && fixture.exists(old))
        late.release()
        #expect(try await manager.collect(plan) == plan.removals)
        #expect(try folders == [new.parent.lastComponent])
        #expect(try await manager.collectionPlan().removals.isEmpty)
        #expect(try await open() == new && builds == 2)
        #expect(try fixture.temporaryNames().isEmpty)
    }

    /// By the recipe of today; who makes nothing of a release cannot tell what others open.
    @Test func whatIsOutdatedIsKnownByTheRecipe() async throws {
        let made = try await open()
        func count(_ preparer: (any ReleasePreparer)?) async throws -> Int {
            try await fixture.manager(preparer: preparer).collectionPlan().removals.count
        }
        #expect(try await count(preparer) == 0)
        #expect(try await count(nil) == 0)
        #expect(try await count(ScriptedPreparer(settings: nil)) == 0)
        #expect(try await count(ScriptedPreparer(settings: "other")) == 1)
        preparer.recipe.withLock { $0?.engineVersion = "2" }
        #expect(try await count(preparer) == 1)
        // Without its record nobody opens it, whatever the recipe.
        try LocalFileSystem().removeFile(made.parent.appending("prepared.json"))
        #expect(try await count(nil) == 1)
        let manager = fixture.manager()
        #expect(try await manager.collect(try await manager.collectionPlan()).count == 1)
        #expect(try !fixture.exists(made.parent))
    }

    /// Two processes make the same at once: the second takes what the first made, which may be open by then.
    @Test func whatAnotherMadeMeanwhileIsTaken() async throws {
        let (fixture, release) = (fixture, release)
        let first = Locked<Path?>(nil)
        let slow = ClosurePreparer { target in
            try Data("the second".utf8).write(to: target.url)
            let quick = ClosurePreparer { try Data("the first".utf8).write(to: $0.url) }
            let path = try await fixture.manager(preparer: quick).weightsToOpen(of: release)
            first.withLock { $0 = path }
        }
        let path = try await open(slow)
        #expect(path == first.withLock { $0 })
        #expect(try fixture.text(path) == "the first")
        #expect(try folders.count == 1)
        #expect(try fixture.temporaryNames().isEmpty)
    }
}
