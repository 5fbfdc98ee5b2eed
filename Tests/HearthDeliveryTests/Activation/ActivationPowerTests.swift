import Foundation
import HearthBase
import HearthHTTP
import HearthTestSupport
import Testing

@testable import HearthCatalog
@testable import HearthDelivery
@testable import HearthStore
@testable import HearthTransfer

/// The power goes after any call of what makes a release live or leaves it; whatever the disk keeps, what is live is whole,
/// and the next start needs no help.
@Suite(.timeLimit(.minutes(10))) struct ActivationPowerTests {
    enum Deed: String, CaseIterable, Sendable {
        case activate, rollback, use
        /// From a first download to what came with the app, asked for and after two ends on probation.
        case retreat, failFirst
        /// From a release that ended twice on probation to the one before.
        case fail

        /// A single release, and a model that came with the app.
        var isFirst: Bool { self == .retreat || self == .failFirst }
        var leaves: Bool { self != .activate && self != .use }
    }

    private let one: ReleaseIdentity
    private let two: ReleaseIdentity
    private let fixture: StoreFixture

    init() throws {
        one = try StoreFixture.identity("1.0.0")
        two = try StoreFixture.identity("2.0.0")
        fixture = try StoreFixture()
    }

    private func prepare(_ deed: Deed) async throws {
        let before = fixture.manager(preparer: ScriptedPreparer(), probe: ScriptedProbe())
        if !deed.isFirst { try await fixture.install(one, activate: true) }
        try await fixture.install(two)
        if deed != .activate { try await before.activate(two) }
        if deed == .use { try await before.rollback(one.family) }
        if deed == .fail || deed == .failFirst {
            try fixture.leave(.load, two)
            try fixture.leave(.generate, two, process: 2)
        }
        let weights = Data("came with the app".utf8)
        try fixture.folder.write("app/tiny-v0.9.0-q4.gguf", weights)
        try fixture.folder.write(
            "app/models.json",
            Data(
                #"""
                {"schemaVersion": 1, "models": [{"id": "t", "filename": "tiny-v0.9.0-q4.gguf", "sizeBytes": \#(weights.count),
                  "sha256": "\#(SHA256Digest(hashing: weights))", "downloadUrl": "tiny-v0.9.0-q4.gguf"}]}
                """#.utf8))
    }

    private func manager(_ home: Path, _ fileSystem: any FileSystem, _ deed: Deed) -> ModelManager {
        ModelManager(
            home: home, origins: [], fileSystem: fileSystem, time: fixture.time, network: UnmonitoredNetwork(),
            deviceMemory: 1 << 40,
            bundled: deed.isFirst ? [BundledSource(folder: fixture.folder.path("app"))] : [],
            preparer: ScriptedPreparer(settings: "other", fileSystem: fileSystem), probe: ScriptedProbe())
    }

    private func perform(_ deed: Deed, _ manager: ModelManager) async throws {
        switch deed {
        case .activate, .use: try await manager.activate(two)
        case .rollback, .retreat: try await manager.rollback(one.family)
        case .fail, .failFirst: try await manager.recover()
        }
    }

    @Test(arguments: Deed.allCases) func everyPowerCutLeavesAWholeReleaseLive(_ deed: Deed) async throws {
        try await prepare(deed)
        let disk = try PowerCutDisk(root: fixture.folder.path)
        try await perform(deed, manager(disk.root.appending("home"), disk, deed))
        #expect(disk.operationCount > 10)
        var generator = SeededGenerator(seed: 5)
        for operation in 0...disk.operationCount {
            guard TestExtent.includes(oneIn: 12, using: &generator) else { continue }
            for policy in PowerCutDisk.Policy.allCases {
                let note = "\(deed), cut after \(disk.operations.prefix(operation).last ?? "nothing"), \(policy)"
                let after = try TemporaryFolder()
                try disk.rebuild(after: operation, policy: policy, into: after.path)
                try await check(after.path.appending("home"), deed, note)
                guard deed == .retreat else { continue }
                // A program that knows nothing of the app's model starts first.
                let other = try TemporaryFolder()
                try disk.rebuild(after: operation, policy: policy, into: other.path)
                let store = ModelStore(home: other.path.appending("home"), time: fixture.time)
                try await store.recover { _ in false }
                let state = try await store.state(of: two.family)
                #expect(state.active == (state.isHeldBack(two) ? nil : two), "\(note)")
            }
        }
    }

    /// What an engine makes is found again or made again, and is found only with every byte of it; as it is where it is made
    /// for the first time, and where it takes the place of what another version of the engine made.
    @Test(arguments: [false, true]) func everyPowerCutLeavesAWholeArtifactOrNone(_ isAgain: Bool) async throws {
        let release = try await fixture.install(one, activate: true)
        if isAgain {
            _ = try await fixture.manager(preparer: ScriptedPreparer(settings: "old")).weightsToOpen(of: release)
        }
        let disk = try PowerCutDisk(root: fixture.folder.path)
        func manager(_ root: Path, _ preparer: any ReleasePreparer, _ fileSystem: any FileSystem) -> ModelManager {
            ModelManager(
                home: root.appending("home"), origins: [], fileSystem: fileSystem, time: fixture.time,
                network: UnmonitoredNetwork(), deviceMemory: 1 << 40, preparer: preparer)
        }
        let preparer = ScriptedPreparer(fileSystem: disk)
        let first = manager(disk.root, preparer, disk)
        let made = try await first.weightsToOpen(of: try await first.installed(one.family))
        #expect(made.lastComponent == "made.bin")
        #expect(disk.operationCount > 10)
        var generator = SeededGenerator(seed: 6)
        for operation in 0...disk.operationCount {
            let isLast = operation == disk.operationCount
            guard isLast || TestExtent.includes(oneIn: 12, using: &generator) else { continue }
            for policy in PowerCutDisk.Policy.allCases {
                let note = "cut after \(disk.operations.prefix(operation).last ?? "nothing"), \(policy)"
                let after = try TemporaryFolder()
                try disk.rebuild(after: operation, policy: policy, into: after.path)
                let again = ScriptedPreparer()
                let next = manager(after.path, again, LocalFileSystem())
                let release = try await next.installed(one.family)
                if let found = try await next.store.artifact(of: release) {
                    #expect(try isWhole(found), "\(note): \(found.recipe.settings)")
                }
                let path = try await next.weightsToOpen(of: release)
                let artifact = try #require(try await next.store.artifact(of: release), "\(note)")
                #expect(try artifact.path == path && isWhole(artifact), "\(note)")
                #expect(artifact.recipe.settings == "small", "\(note)")
                if isLast { #expect(again.builds.withLock { $0 } == 0, "\(note): what is finished lasts") }
                let folder = next.store.layout.preparedFolder(of: one)
                #expect(try LocalFileSystem().contents(of: folder) == [path.parent.lastComponent], "\(note)")
            }
        }
    }

    private func isWhole(_ artifact: Artifact) throws -> Bool {
        try fixture.text(artifact.path) == "\(artifact.recipe.settings) of \(artifact.release)"
    }

    private func check(_ home: Path, _ deed: Deed, _ note: String) async throws {
        let store = ModelStore(home: home, time: fixture.time)
        let next = manager(home, LocalFileSystem(), deed)
        // Asked of the store: a manager would put in order first what is looked at here.
        func live() async throws -> ReleaseIdentity? {
            guard let release = try await store.active(one.family) else {
                #expect(deed.isFirst, "\(note): nothing is live")
                return nil
            }
            #expect(try await store.verify(release).isIntact, "\(note)")
            return release.identity
        }
        _ = try await live()
        // The process of the mark is gone with the power.
        try await store.recover(bundled: deed.isFirst ? [one.family] : []) { _ in false }
        let goal = deed.leaves ? (deed.isFirst ? nil : one) : two
        let isReached = try await live() == goal
        let state = try await store.state(of: one.family)
        #expect(state.isHeldBack(two) == (deed == .use ? !isReached : deed.leaves && isReached), "\(note)")
        if isReached { #expect(state.probation?.release == (deed.leaves ? nil : two), "\(note)") }
        if deed == .fail || deed == .failFirst { #expect(isReached, "\(note): a start does all there is to do") }
        if !isReached { try await perform(deed, next) }
        #expect(try await live() == goal, "\(note)")
        #expect(try await store.state(of: one.family).active == goal, "\(note)")
    }
}
