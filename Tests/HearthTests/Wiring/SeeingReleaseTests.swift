#if Llama
import Hearth
import HearthBase
import HearthCatalog
import HearthTransfer
import HearthStore
import HearthDelivery
import HearthHTTP
import HearthInference
import HearthTestSupport
import Testing

/// A release of a model and the projector that sees for it, tried, made live and asked about a picture.
@Suite(.serialized, .timeLimit(.minutes(10))) struct SeeingReleaseTests {
    private let folder: TemporaryFolder
    private let hearth: Hearth
    private var manager: ModelManager { hearth.manager }

    init() throws {
        folder = try TemporaryFolder()
        var configuration = Configuration()
        configuration.contextLength = 512
        configuration.threads = 1
        hearth = try Hearth(
            home: folder.path("home"), configuration: configuration, environment: ["HEARTH_NETWORK": "offline"],
            deviceMemory: 1 << 40, pressure: Plenty())
    }

    private func answer(_ release: InstalledRelease) async throws -> (summary: GenerationSummary?, leftOut: Int) {
        let model = try await hearth.find(.family(release.identity.family, version: nil, variant: nil))
        let picture = try ChatImage(TestPictures.png(width: 40, height: 30))
        var options = GenerationOptions()
        options.sampling = .greedy
        options.maximumNewTokens = 4
        var (summary, leftOut) = (GenerationSummary?.none, 0)
        for try await event in model.generate(
            [ChatMessage(.user, "What is this?", images: [picture])], options: options)
        {
            if case .picturesLeftOut(let count) = event { leftOut += count }
            if case .finish(let facts) = event { summary = facts }
        }
        await hearth.models.unload(release.identity.family)
        return (summary, leftOut)
    }

    @Test func aReleaseSeesWithItsOwnProjector() async throws {
        let seeing = try await manager.store.install(
            "seeing@1.0.0", weights: TestModel.path, projector: try TestModel.path(.projector))
        let seen = try await answer(manager.activate(seeing.identity))
        #expect(seen.summary?.encodedPictures == 1 && seen.leftOut == 0)
        // The same weights without one answer the text alone, and say so.
        let blind = try await manager.store.install("blind@1.0.0", weights: TestModel.path)
        let unseen = try await answer(manager.activate(blind.identity))
        #expect(unseen.summary?.encodedPictures == 0 && unseen.leftOut == 1)
        #expect(try await manager.store.state(of: seeing.identity.family).probation?.answers == 1)
    }

    /// The probe loads what answers later: a projector of another model is found before the release is live.
    @Test func aProjectorOfAnotherModelIsRefused() async throws {
        let release = try await manager.store.install(
            "crossed@1.0.0", weights: TestModel.path, projector: try TestModel.path(.gridProjector))
        let error = await #expect(throws: StoreError.self) { try await manager.activate(release.identity) }
        #expect(error?.code == .probeFailed)
        let state = try await manager.store.state(of: release.identity.family)
        #expect(state.active == nil)
        #expect(state.heldBack(release.identity)?.reason.contains("mmproj.gguf") == true, "\(state)")
    }
}
#endif
