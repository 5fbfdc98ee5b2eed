import Foundation
import Hearth
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthHTTP
import HearthInference
import HearthStore
import HearthTestSupport
import HearthTransfer
import Testing

/// Bundled models and downloads of the same family.
@Suite(.timeLimit(.minutes(10))) struct LiveModelsBundledTests {
    private let lab: LiveModelsLab

    init() throws { lab = try LiveModelsLab() }

    /// A disk whose next reading of a bundled list waits.
    private final class PausingDisk: ForwardingFileSystem {
        let base: any FileSystem = LocalFileSystem()
        let waits = Locked(false)
        let arrived: AsyncStream<Void>
        private let arrival: AsyncStream<Void>.Continuation
        private let release = DispatchSemaphore(value: 0)

        init() { (arrived, arrival) = AsyncStream.makeStream() }

        func open(_ path: Path, _ mode: OpenMode, permissions: UInt32) throws -> OpenFile {
            let isHeld = waits.withLock { waits in
                defer { waits = false }
                return waits
            }
            if isHeld {
                arrival.yield()
                release.wait()
            }
            return try base.open(path, mode, permissions: permissions)
        }

        func goOn() { release.signal() }
    }

    /// A release becomes live while a caller looks up the live one, and before there is a model in memory to swap.
    @Test func whatBecomesLiveWhileAModelIsLookedUpIsWhatAnswers() async throws {
        let disk = PausingDisk()
        _ = try lab.bundle("0.1.0", "bundled")
        let manager = lab.manager(bundled: [BundledSource(folder: lab.folder.path("app"), fileSystem: disk)])
        try await lab.install("1.0.0", "one", with: manager)
        let models = lab.models(manager)
        disk.waits.withLock { $0 = true }
        let family = lab.family
        let lookup = Task { try await models.model(family, policy: .localOnly) }
        var arrived = disk.arrived.makeAsyncIterator()
        _ = await arrived.next()
        try await lab.install("2.0.0", "two", with: manager)
        disk.goOn()
        #expect(try await lab.answer(LanguageModelSession(model: try await lookup.value)) == "two")
    }

    @Test func whatCameWithTheAppAnswersUntilADownloadIsNewer() async throws {
        let manager = lab.manager(bundled: [try lab.bundle("1.0.0", "bundled")])
        let models = lab.models(manager)
        let model = try await models.model(lab.family, policy: .localOnly)
        func answered() async throws -> String { try await lab.answer(LanguageModelSession(model: model)) }
        #expect(try await answered() == "bundled")
        #expect(await model.release?.version.name == "1.0.0")
        try await lab.install("0.9.0", "old", with: manager)
        #expect(try await answered() == "bundled", "an older download changes nothing")
        try await lab.install("2.0.0", "two", with: manager)
        #expect(try await answered() == "two")
        // The way back is to an older download, and what came with the app goes before it.
        #expect(try await manager.rollback(lab.family).to?.identity.version.name == "0.9.0")
        #expect(try await answered() == "bundled")
        #expect(try await manager.availability(of: lab.family).identity?.version.name == "1.0.0")
        // And with no download left it is the only one.
        await models.unload(lab.family)
        try await manager.store.remove(lab.family, version: nil, variant: nil)
        let again = try await models.model(lab.family, policy: .localOnly)
        #expect(try await lab.answer(LanguageModelSession(model: again)) == "bundled")
        #expect(lab.log.withLock { $0 }.filter { $0 == "load old" }.isEmpty)
    }

    @Test func theFirstDownloadGoesBackToWhatCameWithTheApp() async throws {
        let manager = lab.manager(bundled: [try lab.bundle("1.0.0", "bundled")])
        let models = lab.models(manager)
        try await lab.install("2.0.0", "two", with: manager)
        let model = try await models.model(lab.family, policy: .localOnly)
        func answered() async throws -> String { try await lab.answer(LanguageModelSession(model: model)) }
        #expect(try await answered() == "two")
        let rollback = try await manager.rollback(lab.family)
        #expect(rollback.from.version.name == "2.0.0" && rollback.to == nil)
        #expect(try await answered() == "bundled")
        #expect(try await manager.store.active(lab.family) == nil)
        #expect(try await manager.store.state(of: lab.family).isHeldBack(rollback.from))
        // There is no further back than that.
        await #expect(throws: StoreError.self) { try await manager.rollback(lab.family) }
    }
}
