import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthCatalog
@testable import HearthDelivery
@testable import HearthStore
@testable import HearthTransfer

/// An outdated artifact is removed when no process reads its release; a damaged one is replaced at once.
@Suite(.timeLimit(.minutes(10))) struct ArtifactReadersTests {
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
        #expect(try fixture.text(old) == "small of \(release.identity)", "the release is read")
        reader.release()
        #expect(try await open() == new)
        #expect(builds == 2)
        #expect(try folders == [new.parent.lastComponent])
        #expect(try fixture.temporaryNames().isEmpty)
    }

    /// A process that has the damaged file open keeps its bytes.
    @Test(arguments: ["record", "bytes", "unnoticed bytes"])
    func aDamagedOneIsReplacedBesideItsReader(_ damage: String) async throws {
        let path = try await open()
        let reader = try reader()
        let file = try FileHandle(forReadingFrom: path.url)
        if damage == "record" {
            try LocalFileSystem().removeFile(path.parent.appending("artifact.json"))
        } else {
            let date = try #require(try LocalFileSystem().status(at: path)?.modified)
            let file = try FileHandle(forWritingTo: path.url)
            try file.write(contentsOf: Data("X".utf8))
            try file.close()
            try FileManager.default.setAttributes(
                [.modificationDate: damage == "bytes" ? Date(timeIntervalSince1970: 5) : date],
                ofItemAtPath: path.string)
        }
        // Changed bytes under an unchanged date are found only when all of it is read.
        if damage == "unnoticed bytes" {
            try await fixture.manager(preparer: preparer, probe: ScriptedProbe()).activate(release.identity)
        }
        #expect(try await open() == path && builds == 2)
        #expect(try fixture.text(path) == "small of \(release.identity)")
        let read = String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
        #expect(read == (damage == "record" ? "small of \(release.identity)" : "Xmall of \(release.identity)"))
        reader.release()
        #expect(try folders == [path.parent.lastComponent] && fixture.temporaryNames().isEmpty)
    }

    // MARK: - Collected

    /// An outdated artifact is collected once no process reads its release.
    @Test func anOutdatedArtifactIsCollectedWhenItsReleaseIsNotRead() async throws {
        let old = try await open()
        let reader = try reader()
        preparer.use("smaller")
        let new = try await open()
        let manager = fixture.manager(preparer: preparer)
        #expect(try await manager.collectionPlan().removals.isEmpty, "the release is read")
        reader.release()
        let plan = try await manager.collectionPlan()
        #expect(plan.removals.map(\.item) == [.prepared(release.identity)])
        #expect(plan.removals.map(\.reason) == [.outdated])
        let total = try #require(try await fixture.store.facts().members.first).preparedBytes
        #expect(plan.freedBytes > 0 && plan.freedBytes < total)
        #expect(try fixture.exists(old), "a plan changes nothing")
        // A process begins to read the release between the plan and its execution.
        let late = try self.reader()
        #expect(try await manager.collect(plan).isEmpty && fixture.exists(old))
        late.release()
        #expect(try await manager.collect(plan) == plan.removals)
        #expect(try folders == [new.parent.lastComponent])
        #expect(try await manager.collectionPlan().removals.isEmpty)
        #expect(try await open() == new && builds == 2)
        #expect(try fixture.temporaryNames().isEmpty)
    }

    /// Without a preparer the recipe in use is unknown, and every artifact stays.
    @Test func outdatedArtifactsAreKnownByTheRecipe() async throws {
        let made = try await open()
        func count(_ preparer: (any ReleasePreparer)?) async throws -> Int {
            try await fixture.manager(preparer: preparer).collectionPlan().removals.count
        }
        #expect(try await count(preparer) == 0)
        #expect(try await count(nil) == 0)
        #expect(try await count(ScriptedPreparer(settings: nil)) == 1)
        #expect(try await count(ScriptedPreparer(settings: "other")) == 1)
        preparer.recipe.withLock { $0?.engineVersion = "2" }
        #expect(try await count(preparer) == 1)
        preparer.recipe.withLock { $0?.engineVersion = "1" }
        // Without its record it is never opened, whatever the recipe.
        try LocalFileSystem().removeFile(made.parent.appending("artifact.json"))
        let manager = fixture.manager(preparer: preparer)
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
