import Foundation
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthHTTP
import HearthInference
import HearthStore
import HearthTestSupport
import HearthTransfer
import Testing

@testable import Hearth

/// What the front of a file tells before it is fetched.
@Suite(.timeLimit(.minutes(5))) struct RemoteModelTests {
    private static let location = URL(string: "https://models.example/model.gguf")

    private func release(size: UInt64, shards: [UInt64] = []) throws -> Release {
        func file(_ name: String, _ size: UInt64, _ role: FileRole) throws -> RemoteFile {
            RemoteFile(
                name: try #require(RelativePath(name)), role: role, size: .exact(size), digest: nil,
                locations: [try #require(Self.location)])
        }
        var release = Release(
            identity: ReleaseIdentity(
                family: try #require(Family("m")), version: try #require(ReleaseVersion("1.0.0"))),
            id: "m", file: try file("model.gguf", size, .weights))
        release.companions = try shards.enumerated().map { try file("part-\($0).gguf", $1, .shard) }
        return release
    }

    private func read(_ release: Release, _ bytes: Data) async throws -> RemoteModel? {
        try await RemoteModel.read(release) { _, isEnough in
            // As a server whose chunks are small.
            for count in stride(from: 64, to: min(bytes.count, 1 << 16), by: 64) {
                if try isEnough(bytes.prefix(count)) { return bytes.prefix(count) }
            }
            return bytes
        }
    }

    @Test func theFrontIsEnoughForTheWholePlan() async throws {
        let bytes = GGUFBuilder.small.header()
        let model = try #require(try await read(try release(size: 5 << 30), bytes))
        let local = try GGUFHeader(data: bytes, extent: .metadata)
        #expect(model.header == local && model.fileBytes == 5 << 30)
        let plan = try #require(try model.plan(deviceMemory: 16 << 30))
        #expect(plan == (try MemoryPlanning.plan(local, fileBytes: 5 << 30, deviceMemory: 16 << 30)))
        #expect(plan.estimate.weights == 5 << 30)
        #expect {
            try model.plan(deviceMemory: 4 << 30)
        } throws: {
            let error = $0 as? LLMError
            return error?.code == .doesNotFit && error?.context.found?.contains("bytes") == true
        }
        var configuration = Configuration()
        configuration.cacheType = .q8
        configuration.contextLength = 512
        configuration.flashAttention = .on
        let asked = try #require(try model.plan(configuration: configuration, deviceMemory: 16 << 30))
        // Heads of 16 numbers are no whole blocks.
        #expect(asked.contextLength == 512 && asked.cacheType == .f16 && !asked.compromises.isEmpty)
        configuration.flashAttention = .off
        let without = try #require(try model.plan(configuration: configuration, deviceMemory: 16 << 30))
        #expect(without.estimate.compute > asked.estimate.compute && without.estimate.cache == asked.estimate.cache)
    }

    @Test func allPartsOfASplitModelCount() async throws {
        var builder = GGUFBuilder.small
        builder.entries.append(("split.count", .uint16(3)))
        let model = try #require(
            try await read(try release(size: 1 << 30, shards: [2 << 30, 3 << 30]), builder.header()))
        #expect(try model.plan(deviceMemory: 16 << 30)?.estimate.weights == 6 << 30)
        let endless = try #require(try await read(try release(size: .max, shards: [.max]), builder.header()))
        #expect(throws: LLMError.self) { try endless.plan(deviceMemory: .max) }
    }

    /// Headers of strangers tell nothing, and cost nothing beyond their bytes.
    @Test func hostileHeadersTellNothing() async throws {
        var many = GGUFBuilder.small
        many.claimedEntries = .max
        var tensors = GGUFBuilder.small
        tensors.claimedTensors = .max
        let good = GGUFBuilder.small.header()
        let release = try release(size: 1 << 30)
        for bytes in [
            Data(), Data("GGUF".utf8), Data(repeating: 0, count: 1 << 20), Data("<html>".utf8), many.header(),
            good.prefix(100), Data(good.prefix(8)) + Data(repeating: 0xFF, count: 1 << 16),
        ] {
            #expect(try await read(release, bytes) == nil, "\(bytes.count) bytes")
        }
        // The number of tensors is nothing the plan stands on.
        _ = try await read(release, tensors.header())
        for cut in 0..<good.count {
            _ = try await read(release, good.prefix(cut))
        }
    }

    @Test func otherFormatsAreNotAskedFor() async throws {
        var other = try release(size: 1 << 30)
        other.format = .onnx
        let model = try await RemoteModel.read(other) { _, _ in
            Issue.record("asked")
            return Data()
        }
        #expect(model == nil)
    }

    // MARK: Before a pull

    private final class Server: HTTPClient {
        let bytes: Data
        let requests = Locked(0)

        init(_ bytes: Data) { self.bytes = bytes }

        func execute(_ request: HTTPRequest) async throws -> HTTPResponse {
            requests.withLock { $0 += 1 }
            return HTTPResponse(status: 200, headers: [:], url: request.url, body: HTTPBody([UInt8](bytes)))
        }
    }

    @Test func aReleaseThatCannotFitIsRefusedWithTheNumbers() async throws {
        let server = Server(GGUFBuilder.small.header())
        let told = Locked<[String]>([])
        let preflight = EnginePreflight(configuration: Configuration(), deviceMemory: 2 << 30) { sentence in
            told.withLock { $0.append(sentence) }
        }
        await #expect {
            try await preflight.check(try release(size: 3 << 30), head: RemoteHead(http: server))
        } throws: { error in
            guard let error = error as? DeliveryError else { return false }
            return error.code == .notEnoughMemory && error.message.contains("MiB")
                && error.context.expected == "at most \(MemoryPlan.Device(memory: 2 << 30).budget) bytes"
                && error.context.remedy?.contains("ignore the memory") == true
        }
        #expect(server.requests.withLock { $0 } == 1)
        try await preflight.check(try release(size: 1 << 30), head: RemoteHead(http: server))
        #expect(server.requests.withLock { $0 } == 2)
        let sentence = try #require(told.withLock { $0 }.first)
        #expect(
            sentence.hasPrefix("m@1.0.0 will take 1.") && sentence.contains("with a context of 2048 tokens"),
            "\(sentence)")
        #expect(!sentence.contains("GPU"))
        var graphic = preflight
        graphic.gpuMemory = { GPUMemory(free: 8 << 30) }
        try await graphic.check(try release(size: 1 << 30), head: RemoteHead(http: server))
        #expect(
            told.withLock { $0.popLast() }?.contains("; 3 of 3 layers on the GPU, which has 8.6 GB free") == true)
        // What is small fits, and nobody is asked.
        try await preflight.check(try release(size: 400 << 20), head: RemoteHead(http: server))
        #expect(server.requests.withLock { $0 } == 3 && told.withLock { $0.count } == 1)
    }

    /// What is quantized on the device is judged by what is made of it.
    @Test func whatQuantizingMakesFitIsNotRefused() async throws {
        var builder = GGUFBuilder.small
        builder.entries.removeAll { $0.key == "general.file_type" }
        builder.entries.append(("general.file_type", .uint32(1)))
        let server = Server(builder.header())
        let told = Locked<[String]>([])
        var preflight = EnginePreflight(configuration: Configuration(), deviceMemory: 4 << 30) { sentence in
            told.withLock { $0.append(sentence) }
        }
        preflight.quantizes = true
        try await preflight.check(try release(size: 5 << 30), head: RemoteHead(http: server))
        let sentence = try #require(told.withLock { $0.popLast() })
        #expect(sentence.contains("will take 3.") && sentence.contains("; it is quantized to Q8_0 on this device"))
        // Of these nothing that fits is made.
        for release in [try release(size: 15 << 30), try release(size: 4 << 30, shards: [1 << 30])] {
            await #expect(throws: DeliveryError.self) {
                try await preflight.check(release, head: RemoteHead(http: server))
            }
        }
        preflight.quantizes = false
        await #expect(throws: DeliveryError.self) {
            try await preflight.check(try release(size: 5 << 30), head: RemoteHead(http: server))
        }
        #expect(told.withLock { $0.isEmpty })
    }

    /// What the entry of a catalog tells, in MiB on a device of 4 GiB: the publisher's word, the weights' size and what is beside.
    @Test(
        arguments: [
            ("f16", 5000, nil, 0, "q8_0"), ("bf16", 5000, nil, 0, "q8_0"), ("f32", 10_000, nil, 0, "q8_0"),
            ("f16", 3000, nil, 0, nil), ("f16", 15_000, nil, 0, nil), ("q4_k_m", 5000, nil, 0, nil),
            ("mini", 5000, nil, 0, nil), (nil, 5000, nil, 0, nil), ("f16", 5000, nil, 900, "q6_k"),
            ("f16", 5000, 6256, 0, "q8_0"), ("f16", 5000, 7200, 0, "q6_k"), ("f16", 5000, 20_000, 0, nil),
            ("f16", .max >> 20, .max >> 20, .max >> 20, nil),
        ] as [(String?, UInt64, UInt64?, UInt64, String?)])
    func theEntryTellsWhetherTheArtifactFits(
        _ variant: String?, _ size: UInt64, _ memory: UInt64?, _ projector: UInt64, _ expected: String?
    ) throws {
        var release = try release(size: size << 20)
        release.requirements.memoryBytes = memory.map { $0 << 20 }
        if projector > 0 {
            release.companions = [
                RemoteFile(
                    name: try #require(RelativePath("mmproj.gguf")), role: .projector, size: .exact(projector << 20),
                    digest: nil, locations: [])
            ]
        }
        let choice = QuantizationChoice(release, storedAs: variant, deviceMemory: 4 << 30)
        #expect(choice?.candidate.name == expected)
    }

    @Test func whatCannotBeReadRefusesNothing() async throws {
        let preflight = EnginePreflight(configuration: Configuration(), deviceMemory: 2 << 30)
        for client in [Server(Data("no model".utf8)), UnreachableClient()] as [any HTTPClient] {
            try await preflight.check(try release(size: 3 << 30), head: RemoteHead(http: client))
        }
    }

    @Test func aPullAsksBeforeItsFirstByteUnlessMemoryIsToBeIgnored() async throws {
        let folder = try TemporaryFolder()
        let size = UInt64(TestModelFile.bytes.count)
        try folder.write("origin/model.gguf", TestModelFile.bytes)
        let digest = SHA256Digest(hashing: Array(TestModelFile.bytes)).hex
        try folder.write(
            "origin/models.json",
            Data(
                """
                {"schemaVersion": 1, "models": [{"id": "m", "version": "1.0.0", "filename": "m-v1.0.0-q4.gguf",
                 "family": "m", "sizeBytes": \(size), "sha256": "\(digest)", "downloadUrl": "model.gguf"}]}
                """.utf8))
        let manager = ModelManager(
            home: folder.path("home"),
            origins: [Origin(name: "m", manifestURL: folder.path("origin/models.json").url)],
            network: UnmonitoredNetwork(), deviceMemory: 1 << 20,
            preflight: EnginePreflight(configuration: Configuration(), deviceMemory: 1 << 20))
        await #expect {
            try await manager.pull(try ModelReference(parsing: "m"))
        } throws: {
            ($0 as? DeliveryError)?.code == .notEnoughMemory
        }
        #expect(try await manager.installed().isEmpty)
        var options = PullOptions()
        options.ignoreMemory = true
        guard case .installed = try await manager.pull(try ModelReference(parsing: "m"), options: options) else {
            Issue.record("not installed")
            return
        }
    }

    private enum TestModelFile {
        static let bytes = GGUFBuilder.small.header()
    }
}
