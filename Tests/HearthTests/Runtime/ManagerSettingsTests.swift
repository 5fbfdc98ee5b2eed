#if Llama
import Hearth
import HearthBase
import HearthCatalog
import HearthTransfer
import HearthStore
import HearthDelivery
import HearthInference
import HearthTestSupport
import Testing

/// A release is loaded with the settings of the manager that tried it.
@Suite(.serialized, .timeLimit(.minutes(10))) struct ManagerSettingsTests {
    @Test func aReleaseLoadsWithTheSettingsItWasTriedWith() async throws {
        let folder = try TemporaryFolder()
        var configuration = Configuration()
        configuration.contextLength = 512
        configuration.ignoresMemory = true
        // The model needs more memory, and passes its probe because the settings ignore that.
        let hearth = try Hearth(
            home: folder.path("home"), configuration: configuration, environment: ["HEARTH_NETWORK": "offline"],
            deviceMemory: 1 << 20)
        let release = try await hearth.manager.store.install("small@1.0.0", weights: TestModel.path)
        _ = try await hearth.manager.activate(release.identity)
        let model = try await hearth.model("small")
        #expect(try await model.modelInformation.contextLength == 512)
        let file = try await hearth.open(TestModel.path.url).modelInformation
        #expect(file.contextLength == 512)
        // Exports and the page show these names, and the true number of weights.
        #expect(try await model.modelInformation.description == "small@1.0.0")
        #expect(file.description == TestModel.fileName && file.parameterCount == 134_515_008)
        await hearth.close()
    }
}
#endif
