import Foundation
import HearthBase
import HearthHTTP
import HearthTestSupport
import Testing

@testable import HearthCatalog
@testable import HearthDelivery
@testable import HearthStore
@testable import HearthTransfer

/// What a manager refuses, or takes all the same.
extension ModelManagerTests {
    /// Makes every release of a variant fit.
    private struct Shrinking: ReleasePreparer {
        let variant: String

        func recipe(for release: InstalledRelease) -> Recipe? { nil }
        func fitsAfterPreparation(_ release: Release) -> Bool { release.identity.variant?.name == variant }
        func build(
            _ recipe: Recipe, of release: InstalledRelease, at target: Path,
            progress: @escaping @Sendable (Double) -> Void
        ) {}
    }

    @Test(arguments: [NetworkCondition.metered, .offline], [MeteredUse.ask, .deny])
    func aHeldNetworkLeavesThisMachinesOwnAddresses(condition: NetworkCondition, metered: MeteredUse) async throws {
        let elsewhere = #""mirrors": ["https://models.invalid/toy.gguf"],"#
        let companion = #"""
            "files": [{"path": "labels.txt", "sizeBytes": 1, "url": "https://models.invalid/labels.txt",
             "sha256": "\#(SHA256Digest(hashing: [1]).hex)"}],
            """#
        var options = PullOptions()
        #expect(options.metered == .deny)
        options.metered = metered
        let monitor = ScriptedNetworkMonitor(condition)
        offer(Offer(version: "1.0.0", content: Self.old, extra: elsewhere + companion))
        let error = await #expect(throws: NetworkError.self) {
            try await manager(network: monitor).pull(ModelReference(parsing: "toy"), options: options)
        }
        #expect(error?.code == (condition == .metered ? .meteredNetwork : .offline))
        #expect(modelRequests().isEmpty, "refused before the first byte, though one file is here")
        offer(Offer(version: "1.0.0", content: Self.old, extra: elsewhere))
        let outcome = try await manager(network: monitor).pull(ModelReference(parsing: "toy"), options: options)
        #expect(outcome.release.isActive)
        #expect(modelRequests().count == 1)
    }

    @Test func anArchiveNobodyUnpacksIsRefusedBeforeTheFirstByte() async throws {
        let packed = #""archive": {"format": "tar.xz", "member": "w.gguf"},"#
        offer(Offer(version: "1.0.0", content: Self.old, extra: packed))
        let error = await #expect(throws: DeliveryError.self) {
            try await manager().pull(ModelReference(parsing: "toy"))
        }
        #expect(error?.code == .archiveUnsupported)
        #expect(modelRequests().isEmpty)
    }

    @Test func aRefusedArchiveIsFetchedAgainAndNotKept() async throws {
        let archive = ArchiveFiles.zip([("toy.gguf", ModelFiles.gguf()), ("../out", Data([1]))])
        offer(Offer(version: "1.0.0", content: .data(archive), extra: #""archive": {"format": "zip"},"#))
        let manager = try manager()
        for attempt in 1...2 {
            let error = await #expect(throws: StoreError.self) {
                try await manager.pull(ModelReference(parsing: "toy"))
            }
            #expect(error?.code == .archiveUnsafe)
            #expect(try LocalFileSystem().contents(of: manager.store.transfersFolder) == [])
            #expect(modelRequests().count == attempt)
        }
    }

    @Test func whatDoesNotFitTheMemoryIsRefusedBeforeTheFirstByte() async throws {
        offer(Offer(version: "1.0.0", content: Self.old, memory: 2 << 30))
        let manager = try manager(memory: 1 << 30)
        let error = await #expect(throws: DeliveryError.self) { try await manager.pull(ModelReference(parsing: "toy")) }
        #expect(error?.code == .notEnoughMemory)
        #expect(modelRequests().isEmpty)
        var options = PullOptions()
        options.ignoreMemory = true
        _ = try await manager.pull(ModelReference(parsing: "toy"), options: options)
    }

    /// Whoever insists, for good or this once, is not left on what is older.
    @Test(arguments: [(true, false), (false, true), (false, false)])
    func anUpdateIgnoresMemoryToo(always: Bool, once: Bool) async throws {
        offer(Offer(version: "1.0.0", content: Self.old))
        let manager = try manager(memory: 1 << 30, ignoresMemory: always)
        _ = try await manager.pull(ModelReference(parsing: "toy"))
        offer(Offer(version: "1.1.0", content: Self.new, memory: 2 << 30))
        var options = PullOptions()
        options.refresh = true
        options.ignoreMemory = once
        let check = await manager.checkForUpdates(options: options)
        #expect(check.installed.map(\.identity.version.name) == (always || once ? ["1.1.0"] : []))
        #expect(check.failures.isEmpty)
        guard always else { return }
        #expect(try await manager.resolve(ModelReference(parsing: "toy")).objection == nil)
    }

    @Test func whatThePreparerMakesFitIsPulled() async throws {
        offer(Offer(version: "1.0.0", variant: "f16", content: Self.old, memory: 2 << 30))
        let other = try manager(memory: 1 << 30, preparer: Shrinking(variant: "f32"))
        await #expect(throws: DeliveryError.self) { try await other.pull(ModelReference(parsing: "toy")) }
        let manager = try manager(memory: 1 << 30, preparer: Shrinking(variant: "f16"))
        #expect(try await manager.available().map(\.objection) == [nil])
        #expect(try await manager.pull(ModelReference(parsing: "toy")).release.isActive)
        offer(Offer(version: "1.1.0", variant: "f16", content: Self.new, memory: 2 << 30))
        #expect(try await manager.updates(.now).first?.offer?.release.identity.version.name == "1.1.0")
    }

    @Test func aVariantIsChosenByMemory() async throws {
        offer(
            Offer(version: "1.0.0", variant: "q4_1", content: Self.old, memory: 1 << 30),
            Offer(version: "1.0.0", variant: "q8_0", content: Self.new, memory: 4 << 30))
        let small = try await manager(memory: 2 << 30).resolve(ModelReference(parsing: "toy"))
        #expect(small.release.identity.variant?.name == "q4_1")
        let large = try await manager(memory: 8 << 30).resolve(ModelReference(parsing: "toy"))
        #expect(large.release.identity.variant?.name == "q8_0")
    }

    @Test func anAppThatIsTooOldIsTold() async throws {
        offer(Offer(version: "1.0.0", content: Self.old))
        let manager = try manager(appVersion: SemanticVersion(0, 9, 0))
        let error = await #expect(throws: DeliveryError.self) { try await manager.pull(ModelReference(parsing: "toy")) }
        #expect(error?.code == .appTooOld)
    }

    @Test func anUnknownFamilyListsTheNearNames() async throws {
        offer(Offer(version: "1.0.0", content: Self.old))
        let manager = try manager()
        let error = await #expect(throws: CatalogError.self) { try await manager.pull(ModelReference(parsing: "tyo")) }
        #expect(error?.code == .unknownFamily)
        #expect(error?.context.remedy?.contains("toy") == true)
    }

    @Test func loadingWhatIsInstalledNeedsNoNetwork() async throws {
        offer(Offer(version: "1.0.0", content: Self.old))
        let manager = try manager()
        _ = try await manager.pull(ModelReference(parsing: "toy"))
        let before = server.requests.count
        let family = try #require(Family("toy"))
        #expect(try await manager.installed(family).isActive)
        #expect(try await manager.installed().count == 1)
        #expect(server.requests.count == before)
    }

    @Test func aLocalFileIsInstalledLikeAnyOther() async throws {
        let good = try folder.write("local-model-v1.2.3-Q8_0.gguf", Self.old.bytes)
        let outcome = try await manager().pull(.file(good))
        #expect(outcome.release.identity.description == "local-model@1.2.3:q8_0")
        #expect(try LocalFileSystem().status(at: good) != nil, "the user's own file stays where it is")
    }

    @Test func anExpiredCatalogInstallsNothingNew() async throws {
        let manifest =
            #"{"schemaVersion": 1, "expires": "2020-01-01T00:00:00Z", "models": [\#(Offer(version: "1.0.0", content: Self.old).json)]}"#
        let path = try folder.write("origin/models.json", Data(manifest.utf8))
        let reference = try ModelReference(parsing: path.string)
        let error = await #expect(throws: DeliveryError.self) { try await manager().pull(reference) }
        #expect(error?.code == .catalogExpired)
    }
}
