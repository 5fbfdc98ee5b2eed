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
            let manager = try ModelManager(
                home: folder.path("home"), configuration: configuration, environment: ["HEARTH_NETWORK": "offline"],
                deviceMemory: 1 << 20)
            let release = try await manager.store.install("small@1.0.0", weights: TestModel.path)
            _ = try await manager.activate(release.identity)
            for models in [LiveModels(manager: manager), EngineLoader(manager: manager).models] {
                let model = try await models.model(release.identity.family, policy: .localOnly)
                #expect(try await model.modelInformation.contextLength == 512)
                await models.unload(release.identity.family)
            }
        }
    }
#endif
