import Foundation
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthHTTP
import HearthPublishing
import HearthStore
import HearthTestSupport
import HearthTransfer
import Testing

@Suite(.timeLimit(.minutes(5))) struct ArchivePublishingTests {
    private static let bundle: [ArchiveFiles.Member] = [
        ("leaf/model.gguf", ModelFiles.gguf(payload: [1, 2])), ("leaf/mmproj.gguf", Parts.projector()),
        ("leaf/labels.txt", Data("a\nb\n".utf8)), ("leaf/tokenizer.json", Data("{}".utf8)),
        ("readme.md", Data("hello".utf8)),
    ]

    static func packed(_ format: ArchiveFormat, _ members: [ArchiveFiles.Member]) -> Data {
        switch format {
        case .zip: ArchiveFiles.zip(members)
        case .tar, .tarXz: ArchiveFiles.tar(members)
        case .tarGzip: ArchiveFiles.gzip(ArchiveFiles.tar(members))
        case .tarZstandard: ArchiveFiles.zstandard(ArchiveFiles.tar(members))
        }
    }

    @Test(arguments: [ArchiveFormat.zip, .tar, .tarGzip, .tarZstandard])
    func everyFileInsideIsListed(_ format: ArchiveFormat) async throws {
        let origin = try TestOrigin()
        let data = Self.packed(format, Self.bundle)
        let release = try await origin.release(origin.write("leaf-v1.2.0-q8_0.\(format.rawValue)", data))
        #expect(release.identity.description == "leaf@1.2.0:q8_0")
        #expect(release.archive == Archive(format: format))
        #expect(release.format == .gguf)
        #expect(release.role == .vision)
        #expect(release.file.name.string == "leaf-v1.2.0-q8_0.\(format.rawValue)")
        #expect(release.file.digest == SHA256Digest(hashing: data))
        #expect(try origin.bytes(release.file) == data)
        #expect(
            release.companions.map { "\($0.role) \($0.name)" } == [
                "weights leaf/model.gguf", "projector leaf/mmproj.gguf", "labels leaf/labels.txt",
                "tokenizer leaf/tokenizer.json", "other readme.md",
            ])
        for (file, member) in zip(release.companions, Self.bundle) {
            #expect(file.digest == SHA256Digest(hashing: member.data))
            #expect(file.size == .exact(UInt64(member.data.count)))
            #expect(file.locations.isEmpty)
        }
        let stored = UInt64(data.count) + Self.bundle.map { UInt64($0.data.count) }.reduce(0, +)
        #expect(release.requirements.storageBytes == stored + stored / 5)
        #expect(Set(try origin.names()) == ["leaf-v1.2.0-q8_0.\(format.rawValue)", "leaf-v1.2.0-q8_0.index"])
    }

    @Test func oneMemberIsTheModel() async throws {
        let origin = try TestOrigin()
        let data = ArchiveFiles.zip(Self.bundle)
        let release = try await origin.release(
            origin.write("leaf-v1.0.0.zip", data), origin.write("mmproj.gguf", Parts.projector([3]))
        ) { $0.member = RelativePath("leaf/model.gguf") }
        #expect(release.file.name.string == "leaf-v1.0.0.gguf")
        #expect(release.file.locations.first?.lastPathComponent == "leaf-v1.0.0.zip")
        #expect(release.archive == Archive(format: .zip, member: RelativePath("leaf/model.gguf")))
        // The member by the name it gets, and what lies beside the archive.
        #expect(release.companions.map(\.name.string) == ["leaf-v1.0.0.gguf", "mmproj.gguf"])
        #expect(
            release.companions.map(\.digest) == [
                SHA256Digest(hashing: Self.bundle[0].data), SHA256Digest(hashing: Parts.projector([3])),
            ])
    }

    @Test(arguments: [
        (
            ["a/model-00001-of-00002.safetensors", "a/config.json", "a/model-00002-of-00002.safetensors"],
            ModelFormat.mlx,
            "a/model-00001-of-00002.safetensors"
        ),
        (["small.onnx", "model.onnx.data"], .onnx, "small.onnx"),
        (
            ["Leaf.mlpackage/Manifest.json", "Leaf.mlpackage/Data/com.apple.CoreML/model.mlmodel"], .coreml,
            "Leaf.mlpackage/Data/com.apple.CoreML/model.mlmodel"
        ),
        (
            [
                "Leaf.mlmodelc/weights/weight.bin", "Leaf.mlmodelc/analytics/coremldata.bin",
                "Leaf.mlmodelc/coremldata.bin",
            ], .coreml, "Leaf.mlmodelc/coremldata.bin"
        ),
    ])
    func otherKindsOfModels(_ names: [String], _ format: ModelFormat, _ weights: String) async throws {
        let origin = try TestOrigin()
        let data = ArchiveFiles.zip(names.map { ($0, Data($0.utf8)) })
        let release = try await origin.release(origin.write("Leaf.mlpackage.zip", data)) {
            $0.version = SemanticVersion(1, 0, 0)
        }
        #expect(release.identity.description == "leaf@1.0.0")
        #expect(release.format == format)
        #expect(release.companions.filter { $0.role == .weights }.map(\.name.string) == [weights])
    }

    @Test func theSameArchiveChangesNothing() async throws {
        let origin = try TestOrigin()
        let path = try origin.write("leaf-v1.0.0.zip", ArchiveFiles.zip(Self.bundle))
        try await origin.publish(path)
        #expect(try await origin.publish(path).items.map(\.outcome) == [.unchanged])
        // Only one file of it is another release.
        let error = try await #require(throws: PublishingError.self) {
            try await origin.publish(path) { $0.member = RelativePath("leaf/model.gguf") }
        }
        #expect(error.code == .releaseExists)
    }

    @Test func whatPublishesIsWhatInstalls() async throws {
        for member in [nil, RelativePath("leaf/model.gguf")] {
            let origin = try TestOrigin()
            let release = try await origin.release(
                origin.write("leaf-v1.0.0.tar.zst", Self.packed(.tarZstandard, Self.bundle))
            ) { $0.member = member }
            let manager = ModelManager(
                home: origin.folder.path("home"), origins: [Origin(name: "test", manifestURL: origin.manifest.url)],
                network: ScriptedNetworkMonitor(), deviceMemory: 1 << 40)
            let pulled = try await manager.pull(.family(release.identity.family, version: nil, variant: nil))
            #expect(pulled.release.receipt.files.count == (member == nil ? Self.bundle.count : 1))
            #expect(pulled.release.weights?.lastComponent == (member == nil ? "model.gguf" : "leaf-v1.0.0.gguf"))
            #expect(try await manager.store.verify(release.identity).isIntact)
        }
    }
}

@Suite(.timeLimit(.minutes(5))) struct ArchiveRefusalTests {
    private func refused<Failure: Error>(
        _ name: String, _ data: Data, as: Failure.Type = PublishingError.self,
        change: (inout PublishRequest) -> Void = { _ in }
    ) async throws -> Failure {
        let origin = try TestOrigin()
        var request = PublishRequest(files: [try origin.write(name, data)])
        change(&request)
        let error = try await #require(throws: Failure.self) {
            try await Publisher(folder: origin.path).publish(request)
        }
        #expect(try LocalFileSystem().status(at: origin.manifest) == nil)
        return error
    }

    @Test func whatDevicesWouldRefuse() async throws {
        let model: ArchiveFiles.Member = ("m.gguf", ModelFiles.gguf())
        let cases: [([ArchiveFiles.Member], String)] = [
            ([model, ("../out", Data([1]))], "archive-unsafe"), ([model, ("/etc/x", Data([1]))], "archive-unsafe"),
            ([model, ("M.GGUF", Data([1]))], "archive-unsafe"), ([model, model], "archive-unsafe"),
            ([model, ("receipt.json", Data([1]))], "archive-unsafe"),
            ((0...512).map { ("\($0).gguf", ModelFiles.gguf()) }, "archive-too-large"),
        ]
        for (members, code) in cases {
            let error = try await refused("m-v1.0.0.tar", ArchiveFiles.tar(members), as: StoreError.self)
            #expect(error.codeText == code, "\(members.map(\.name).suffix(2))")
            #expect(error.context.remedy?.contains("Pack the files again") == true)
        }
        let whole = ArchiveFiles.zip([model])
        for broken in [whole.dropLast(5), whole + Data("more".utf8), Data("x".utf8), ArchiveFiles.tar([model])] {
            let error = try await refused("m-v1.0.0.zip", Data(broken), as: StoreError.self)
            #expect(error.codeText == "archive-damaged")
        }
    }

    @Test func aBomb() async throws {
        let members: [ArchiveFiles.Member] = [("m.gguf", ModelFiles.gguf()), ("zeros", Data(count: 32 << 20))]
        let data = ArchiveFiles.zstandard(ArchiveFiles.tar(members))
        #expect(data.count < 256 << 10)
        let error = try await refused("m-v1.0.0.tar.zst", data, as: StoreError.self)
        #expect(error.codeText == "archive-too-large")
    }

    @Test func whatNoDeviceCouldUse() async throws {
        let model: ArchiveFiles.Member = ("m.gguf", ModelFiles.gguf())
        let hidden = ArchiveFiles.zip([model, ("a/.DS_Store", Data([1]))])
        #expect(try await refused("m-v1.0.0.zip", hidden).message.contains("hidden files"))
        let nothing = ArchiveFiles.zip([("readme.md", Data([1]))])
        #expect(try await refused("m-v1.0.0.zip", nothing).message.contains("of a known kind"))
        let page = ArchiveFiles.zip([("m.gguf", Data("<html>".utf8))])
        #expect(try await refused("m-v1.0.0.zip", page).message.contains("not a GGUF file"))
        #expect(try await refused("m-v1.0.0.tar.xz", Data([1])).message.contains("unpacks tar.xz"))
        let absent = try await refused("m-v1.0.0.zip", ArchiveFiles.zip([model])) { $0.member = RelativePath("n.gguf") }
        #expect(absent.message.contains("n.gguf is not in it"))
        #expect(absent.context.found == "m.gguf")
    }

    @Test func aPartThatIsNotInIt() async throws {
        let members: [ArchiveFiles.Member] = [1, 3].map { ("m-0000\($0)-of-00003.gguf", Parts.shard($0, of: 3)) }
        #expect(try await refused("m-v1.0.0.zip", ArchiveFiles.zip(members)).code == .shardMissing)
    }
}
