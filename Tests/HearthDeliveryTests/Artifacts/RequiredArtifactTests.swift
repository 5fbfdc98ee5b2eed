import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthCatalog
@testable import HearthDelivery
@testable import HearthStore
@testable import HearthTransfer

/// A release that no engine runs without its artifact: a failed build is the failure of the release, and one that was cut
/// off goes on.
@Suite(.timeLimit(.minutes(5))) struct RequiredArtifactTests {
    private let fixture: StoreFixture
    private let release: InstalledRelease

    init() async throws {
        fixture = try StoreFixture()
        release = try await fixture.install(try StoreFixture.identity())
    }

    /// Writes ten pieces into `made.bin.part`, each of which may be the last of an attempt, then renames it.
    private final class Piecewise: ReleasePreparer {
        /// The pieces that were written in all attempts together.
        let written = Locked(0)
        /// Ends an attempt after a piece.
        let interruption: @Sendable (Int) throws -> Void

        init(_ interruption: @escaping @Sendable (Int) throws -> Void) { self.interruption = interruption }

        func isRequired(for release: InstalledRelease) -> Bool { true }

        func recipe(for release: InstalledRelease) -> Recipe? {
            Recipe(
                engine: "pieces", engineVersion: "1", settings: "", fileName: "made.bin", expectedSize: 10, summary: "")
        }

        func build(
            _ recipe: Recipe, of release: InstalledRelease, at target: Path,
            progress: @escaping @Sendable (Double) -> Void
        ) async throws {
            let files = LocalFileSystem()
            let part = target.withSuffix(".part")
            var text = try files.status(at: part) == nil ? "" : String(contentsOf: part.url, encoding: .utf8)
            while text.count < 10 {
                text += "\(text.count)"
                try Data(text.utf8).write(to: part.url)
                written.withLock { $0 += 1 }
                try interruption(text.count)
            }
            try files.rename(part, to: target)
        }
    }

    private struct Refusal: Error {}

    private func manager(_ preparer: any ReleasePreparer, _ probe: ScriptedProbe = ScriptedProbe()) -> ModelManager {
        fixture.manager(preparer: preparer, probe: probe)
    }

    @Test func aFailureIsThatOfTheRelease() async throws {
        let failing = Piecewise { if $0 == 3 { throw Refusal() } }
        await #expect(throws: Refusal.self) { try await manager(failing).activate(release.identity) }
        #expect(try await fixture.store.state(of: release.identity.family).active == nil)
        #expect(try await fixture.store.state(of: release.identity.family).heldBack.isEmpty, "it may be tried again")
        #expect(try await fixture.store.installed(release.identity) != nil, "the download stays")
        let whole = Piecewise { _ in }
        #expect(try await manager(whole).activate(release.identity).isActive)
        #expect(whole.written.withLock { $0 } == 10, "of a failed build nothing is used")
    }

    @Test func anInterruptedBuildGoesOn() async throws {
        let preparer = Piecewise { if $0 == 4 { throw CancellationError() } }
        await #expect(throws: CancellationError.self) { try await manager(preparer).activate(release.identity) }
        // Another start of the program, which recovers first.
        _ = try await manager(preparer).recover()
        let rest = Piecewise { _ in }
        let active = try await manager(rest).activate(release.identity)
        #expect(active.isActive && rest.written.withLock { $0 } == 6)
        let opened = try await manager(rest).weightsToOpen(of: active)
        #expect(try fixture.text(opened) == "0123456789")
        #expect(try fixture.temporaryNames().isEmpty)
    }

    @Test func aProbeThatRefusesItRefusesTheRelease() async throws {
        let asked = Locked<[String]>([])
        let probe = ScriptedProbe { candidate in
            asked.withLock { $0.append(candidate.weights.lastComponent) }
            throw StoreError(.releaseDamaged, "it says nothing")
        }
        let error = await #expect(throws: StoreError.self) {
            try await manager(Piecewise { _ in }, probe).activate(release.identity)
        }
        #expect(error?.code == .probeFailed)
        #expect(asked.withLock { $0 } == ["made.bin"], "no engine opens the release itself")
    }

    /// What two ends of the process refuse otherwise is made again and again until it is complete.
    @Test func unfinishedFoldersAreTakenOverHoweverOftenTheProcessEnded() throws {
        let artifacts = fixture.store.artifacts
        let recipe = try #require(Piecewise { _ in }.recipe(for: release))
        for round in 1...4 {
            let build = try artifacts.begin(recipe, of: release, isRequired: true, at: Date())
            let part = build.path.withSuffix(".part")
            #expect(try LocalFileSystem().status(at: part)?.size == (round == 1 ? nil : UInt64(round - 1)))
            try Data(repeating: 1, count: round).write(to: part.url)
            // The process ends: its lock goes, and the folder stays.
            build.close(keepsFolder: true)
        }
        try artifacts.sweep(release.identity.family, keepingUnfinished: true)
        let names = try LocalFileSystem().contents(
            of: fixture.store.layout.preparedFolder(of: release.identity))
        #expect(names.count == 1)
        try artifacts.sweep(release.identity.family)
        #expect(try LocalFileSystem().contents(of: fixture.store.layout.preparedFolder(of: release.identity)) == [])
    }
}
