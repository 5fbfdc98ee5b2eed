import Foundation
import HearthBase
import HearthHTTP
import HearthTestSupport
import HearthTransfer
import Testing

@testable import HearthCatalog
@testable import HearthDelivery
@testable import HearthStore

/// Models of the catalog: pulled by a short name from a repository of the Hub, and kept under that name.
@Suite(.timeLimit(.minutes(10))) struct ShortNameTests {
    private let lab: HubLab
    private static let repository = "bartowski/SmolLM2-135M-Instruct-GGUF"
    private static let family = "smollm2-135m-instruct"

    init() throws { lab = try HubLab() }

    private func manager(
        memory: UInt64 = 8 << 30, origins: [Origin] = [], catalog: Origin? = nil, bandwidth: Double? = nil
    ) throws -> ModelManager {
        ModelManager(
            home: lab.folder.path("home"), origins: origins, http: HubLab.http, time: lab.clock.time,
            network: UnmonitoredNetwork(), deviceMemory: memory, hub: .success(try lab.settings()),
            shipped: try ShippedCatalog(origin: catalog), bandwidth: { bandwidth })
    }

    private func files(_ seed: UInt64 = 0) -> [String: TestHub.File] {
        [
            "README.md": .small("x"),
            "SmolLM2-135M-Instruct-Q4_K_M.gguf": .large(.pattern(offset: seed, count: 40_000)),
            "SmolLM2-135M-Instruct-Q8_0.gguf": .large(.pattern(offset: seed + 1, count: 80_000)),
            "SmolLM2-135M-Instruct-f16.gguf": .large(.pattern(offset: seed + 2, count: 160_000)),
            "SmolLM2-135M-Instruct.imatrix.gguf": .large(.pattern(count: 900_000)),
        ]
    }

    private func reference(_ text: String) throws -> ModelReference { try ModelReference(parsing: text) }

    @Test func anEntryKeepsItsShortName() async throws {
        let commit = lab.hub.publish(Self.repository, files())
        let manager = try manager()
        let outcome = try await manager.pull(reference(Self.family))
        let identity = outcome.release.identity
        #expect(identity.description == "\(Self.family)@\(commit.prefix(12)):q8_0")
        #expect(outcome.release.receipt.manifestEntry == "\(Self.family)=hf:\(Self.repository)")
        #expect(outcome.release.receipt.name == "SmolLM2 135M Instruct")
        #expect(try await manager.installed(try #require(Family(Self.family))).identity == identity)
        #expect(try await manager.updates().map(\.reason) == [.upToDate])

        // The next commit is the update, in the variant in use.
        let next = lab.hub.publish(Self.repository, files(10))
        let finding = try #require(try await manager.updates().first)
        #expect(finding.offer?.release.identity.description == "\(Self.family)@\(next.prefix(12)):q8_0")
        let check = await manager.checkForUpdates()
        #expect(check.failures.isEmpty)
        #expect(check.installed.map(\.identity.version.name) == [String(next.prefix(12))])
        #expect(try await manager.installed(try #require(Family(Self.family))).identity.version.name == next.prefix(12))
    }

    @Test func variantsAreChosenByQuantizationAndVersionsByCommit() async throws {
        let commit = lab.hub.publish(Self.repository, files())
        let manager = try manager()
        for (text, variant) in [
            (":q4_k_m", "q4_k_m"), (":Q4_K_M", "q4_k_m"), (":f16", "f16"), ("@\(commit.prefix(12)):q8_0", "q8_0"),
            ("", "q8_0"),
        ] {
            let offer = try await manager.resolve(reference(Self.family + text))
            #expect(offer.release.identity.variant?.name == variant)
            #expect(offer.isNamed == text.hasPrefix("@"))
        }
        #expect(
            await HubLab.code { _ = try await manager.resolve(reference(Self.family + ":q5_0")) } == "unknown-variant")
        #expect(
            await HubLab.code { _ = try await manager.resolve(reference(Self.family + "@1.0.0")) } == "unknown-version")
        // So little memory bandwidth that only the smallest good one is quick enough.
        let slow = try await self.manager(bandwidth: 300_000).resolve(reference(Self.family))
        #expect(slow.release.identity.variant?.name == "q4_k_m")
    }

    @Test func anInterruptedPullIsContinuedUnderTheShortName() throws {
        let family = try #require(Family(Self.family))
        let hub = try #require(HubReference(path: Self.repository, alias: family))
        let version = try #require(ReleaseVersion("0123456789ab"))
        let purpose = TransferPurpose(
            release: ReleaseIdentity(family: family, version: version, variant: Variant("q8_0")), source: nil,
            repository: .hub(hub))
        let tag = try #require(purpose.tag)
        let read = try #require(TransferPurpose(tag: tag))
        #expect(read.reference == .hub(hub))
        // Another family in the text is refused.
        let other = TransferPurpose(
            release: ReleaseIdentity(family: try #require(Family("other")), version: version), source: nil,
            repository: .hub(hub))
        #expect(other.reference == nil)
    }

    @Test func aModelIsFoundByItsRepositoryToo() async throws {
        lab.hub.publish(Self.repository, files())
        let manager = try manager()
        let release = try await manager.pull(reference(Self.family)).release
        for (text, isThere) in [
            ("", true), (":Q8_0", true), (":Q4_K_M", false), (":*Q8*", true),
            (":SmolLM2-135M-Instruct-Q8_0.gguf", true),
            (":none.gguf", false),
        ] {
            let hub = try #require(HubReference(record: "hf:\(Self.repository)\(text)"))
            #expect(try await manager.installed(hub)?.identity == (isThere ? release.identity : nil), "\(text)")
        }
    }

    @Test func unknownNamesGetTheNearestAndTheSearch() async throws {
        for (text, near) in [
            ("qwen3-4b", "qwen3-4b-2507"), ("smollm2-135m-instrukt", Self.family), ("llama-3.2:3b", "llama-3.2-3b"),
            ("zzzzzzzzzz", nil),
        ] as [(String, String?)] {
            let error = await #expect(throws: CatalogError.self) { try await manager().resolve(reference(text)) }
            #expect(error?.code == .unknownFamily && error?.context.field == "hub")
            #expect(
                near.map { error?.context.expected?.contains($0) == true } ?? (error?.context.expected == ""), "\(text)"
            )
        }
    }

    @Test func withoutTheCatalogNamesAreThoseOfOrigins() async throws {
        #expect(await HubLab.code { _ = try await lab.manager().resolve(reference(Self.family)) } == "no-origin")
        #expect(try await lab.manager().suggestions().models.isEmpty)
    }

    @Test func anOriginWithTheNameComesFirst() async throws {
        let manifest = """
            {"schemaVersion": 1, "models": [{"id": "m", "version": "1.0.0", "filename": "\(Self.family)-v1.0.0-q4_0.gguf",
             "sizeBytes": 5, "sha256": "\(String(repeating: "a", count: 64))", "minAppVersion": "0.0.0", "downloadUrl": "m.gguf"}]}
            """
        let server = try FaultServer { _ in .text(manifest) }
        let origin = Origin(name: "own", manifestURL: try server.url("/models.json"))
        let offer = try await manager(origins: [origin]).resolve(reference(Self.family))
        #expect(offer.release.identity.version.name == "1.0.0")
        #expect(lab.hub.requests.isEmpty)
    }

    /// One quantization only: the nearest is taken, and the offer says so.
    @Test func aRepositoryOfOneQuantizationGivesThatOne() async throws {
        lab.hub.publish("o/one", ["one-MXFP4.gguf": .large(.pattern(count: 1000))])
        let offer = try await manager().resolve(reference("o/one:Q4_K_M"))
        #expect(offer.release.file.name.string == "one-MXFP4.gguf")
        #expect(offer.reason == .nearest(to: try #require(QuantizationLabel("Q4_K_M"))))
        lab.hub.publish("o/two", files())
        #expect(await HubLab.code { _ = try await manager().resolve(reference("o/two:Q5_0")) } == "unknown-variant")
        let exact = try await manager().resolve(reference("hf.co/o/two:q4_k_m"))
        #expect(exact.release.file.name.string == "SmolLM2-135M-Instruct-Q4_K_M.gguf" && exact.reason == .only)
    }

    @Test func whatIsNoModelIsNotTaken() async throws {
        lab.hub.publish(
            "o/beside",
            [
                "mmproj-m-f16.gguf": .large(.pattern(count: 10)), "imatrix.gguf": .large(.pattern(count: 10)),
                "mtp-m-Q8_0.gguf": .large(.pattern(count: 10)), "m-Q4_0_4_4.gguf": .large(.pattern(count: 10)),
                "README.md": .small("x"),
            ])
        lab.hub.publish("o/none", ["README.md": .small("x")])
        for name in ["o/beside", "o/none", "o/beside:Q8_0"] {
            #expect(
                await HubLab.code { _ = try await manager().resolve(reference(name)) } == "no-known-model", "\(name)")
        }
    }

    @Test(arguments: [
        (429, "origin-unreachable"), (503, "origin-unreachable"), (404, "repository-missing"),
        (200, "hub-answer-invalid"),
    ])
    func aHubThatFailsIsNamed(status: Int, code: String) async throws {
        lab.hub.publish(Self.repository, files())
        lab.hub.disturb { _ in status == 200 ? .htmlPage : Reply(status).header("RateLimit", #""api";r=0;t=55"#) }
        let error = await #expect(throws: CatalogError.self) { try await manager().resolve(reference(Self.family)) }
        #expect(error?.code.rawValue == code)
        #expect(error?.context.retryAfterSeconds == (status == 429 ? 55 : nil))
    }

    @Test func aGatedOneNeedsAToken() async throws {
        lab.hub.publish(Self.repository, files(), access: .gated)
        #expect(await HubLab.code { _ = try await manager().resolve(reference(Self.family)) } == "repository-gated")
    }

    // MARK: Newer lists

    @Test func aNewerListIsFetchedAndTheCompiledOneStandsIn() async throws {
        let list = Locked<Reply>(
            .text(
                #"""
                {"schemaVersion": 1, "issued": "2099-01-01T00:00:00Z", "models": [], "hubModels": [
                 {"family": "newer", "repository": "o/newer", "parameters": 1000, "license": "mit", "summary": "New."}]}
                """#))
        let server = try FaultServer { _ in list.withLock { $0 } }
        let origin = Origin(name: "catalog", manifestURL: try server.url("/models.json"))
        lab.hub.publish("o/newer", ["m-Q8_0.gguf": .large(.pattern(count: 1000))])
        let offer = try await manager(catalog: origin).resolve(reference("newer"))
        #expect(offer.release.identity.family.name == "newer" && offer.release.license == "apache-2.0")
        #expect(try await manager(catalog: origin).suggestions().models.map(\.model.family.name) == ["newer"])
        for reply in [.htmlPage, .text("{", status: 200), Reply(404)] as [Reply] {
            list.withLock { $0 = reply }
            let other = Origin(name: "catalog", manifestURL: try server.url("/other.json"))
            let (models, problem) = try await manager(catalog: other).suggestions(.now)
            #expect(problem != nil && models.count >= 15)
        }
    }
}
