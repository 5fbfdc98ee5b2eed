import Foundation
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthPublishing
import HearthStore
import HearthTestSupport
import HearthTransfer
import Testing

/// Files that belong to one another.
enum Parts {
    static func shard(_ number: Int, of count: Int, _ payload: [UInt8] = [1]) -> Data {
        ModelFiles.gguf(
            numbers: [("split.no", UInt32(number - 1)), ("split.count", UInt32(count))],
            payload: payload + [UInt8(number)])
    }

    static func projector(_ payload: [UInt8] = [9, 9]) -> Data {
        ModelFiles.gguf(texts: [("general.architecture", "clip")], payload: payload)
    }
}

extension TestOrigin {
    /// Publishes with nothing said but the files.
    func release(_ files: Path..., change: (inout PublishRequest) -> Void = { _ in }) async throws -> Release {
        var request = PublishRequest(files: files)
        change(&request)
        _ = try await Publisher(folder: path, fileSystem: fileSystem, time: clock.time).publish(request)
        return try #require(try catalog().releases.last)
    }

    /// The bytes behind a file's first address.
    func bytes(_ file: RemoteFile) throws -> Data {
        try LocalFileSystem().contents(ofFile: Path(try #require(file.locations.first).path), limit: 1 << 30)
    }

    func write(_ name: String, _ data: Data) throws -> Path { try folder.write("sources/" + name, data) }
}

@Suite(.timeLimit(.minutes(5))) struct MultipleFileTests {
    @Test func aModelAndWhatBelongsToItAreOneRelease() async throws {
        let origin = try TestOrigin()
        let release = try await origin.release(
            origin.source("see-v1.0.0-q4.gguf"), origin.write("mmproj-F16.gguf", Parts.projector()),
            origin.write("labels.txt", Data("cat\ndog\n".utf8)), origin.write("tokenizer.json", Data("{}".utf8)),
            origin.write("config.json", Data("{ }".utf8)))
        #expect(release.file.name.string == "see-v1.0.0-q4.gguf")
        #expect(release.role == .vision)
        #expect(
            release.companions.map { "\($0.role) \($0.name)" } == [
                "projector mmproj-F16.gguf", "labels labels.txt", "tokenizer tokenizer.json", "other config.json",
            ])
        for file in release.files {
            let bytes = try origin.bytes(file)
            #expect(file.digest == SHA256Digest(hashing: bytes))
            #expect(file.size == .exact(UInt64(bytes.count)))
        }
        // The name in the origin changes with the bytes.
        let short = SHA256Digest(hashing: Parts.projector()).short
        #expect(release.companions[0].locations.first?.lastPathComponent == "\(short)-mmproj-F16.gguf")
        #expect(release.requirements.storageBytes == release.totalSize + release.totalSize / 5)
    }

    @Test func purposesCanBeSaid() async throws {
        let origin = try TestOrigin()
        let (eye, labels, notes) = (
            try origin.write("eye.gguf", Parts.projector()), try origin.write("tokenizer.txt", Data("x".utf8)),
            try origin.write("notes.pdf", Data("x".utf8))
        )
        let release = try await origin.release(origin.source("m-v1.0.0-q4.gguf")) {
            $0.companions = [eye, labels, notes]
            $0.roles = [eye: .projector, labels: .labels]
        }
        #expect(release.companions.map(\.role) == [.projector, .labels, .other])
    }

    @Test func aProjectorIsKnownByItsHeader() async throws {
        let origin = try TestOrigin()
        let release = try await origin.release(
            origin.write("eye.gguf", Parts.projector()), origin.source("m-v1.0.0-q4.gguf"))
        #expect(release.identity.description == "m@1.0.0:q4")
        #expect(release.companions.map(\.role) == [.projector])
    }

    @Test func oneOfItsPartsStandsForAModelInSeveral() async throws {
        let origin = try TestOrigin()
        for number in 1...3 {
            try origin.folder.write("sources/Big-Q8_0-0000\(number)-of-00003.gguf", Parts.shard(number, of: 3))
        }
        let release = try await origin.release(origin.folder.path("sources/Big-Q8_0-00002-of-00003.gguf")) {
            $0.version = SemanticVersion(2, 0, 0)
        }
        #expect(release.identity.description == "big@2.0.0:q8_0")
        #expect(release.id == "big-v2.0.0-q8_0")
        // Engines find the parts by each other's names.
        #expect(
            release.files.map { "\($0.role) \($0.name)" } == [
                "weights big-v2.0.0-q8_0-00001-of-00003.gguf", "shard big-v2.0.0-q8_0-00002-of-00003.gguf",
                "shard big-v2.0.0-q8_0-00003-of-00003.gguf",
            ])
        for (number, file) in zip(1..., release.files) { #expect(try origin.bytes(file) == Parts.shard(number, of: 3)) }
        #expect(release.requiredMemory == release.totalSize + release.totalSize / 5 + 256 << 20)

        // All of them mean the same, and change nothing.
        let again = try await origin.publish(
            origin.folder.path("sources/Big-Q8_0-00003-of-00003.gguf"),
            origin.folder.path("sources/Big-Q8_0-00001-of-00003.gguf")
        ) { $0.version = SemanticVersion(2, 0, 0) }
        #expect(again.items.map(\.outcome) == [.unchanged])
        #expect(again.items.first?.files.count == 3)
    }

    @Test func aPartWithoutVariantIsNotOneItself() async throws {
        let origin = try TestOrigin()
        for number in 1...2 {
            try origin.folder.write("sources/m-v1.0.0-0000\(number)-of-00002.gguf", Parts.shard(number, of: 2))
        }
        let release = try await origin.release(origin.folder.path("sources/m-v1.0.0-00001-of-00002.gguf"))
        #expect(release.identity.description == "m@1.0.0")
    }

    @Test func everyLargeFileHasItsChunkIndex() async throws {
        let origin = try TestOrigin()
        let large = Parts.projector(Array(repeating: 5, count: 9 << 20))
        for number in 1...2 {
            try origin.folder.write(
                "sources/m-v1.0.0-0000\(number)-of-00002.gguf",
                Parts.shard(number, of: 2, Array(repeating: 3, count: number == 1 ? 3 : 9 << 20)))
        }
        let release = try await origin.release(
            origin.folder.path("sources/m-v1.0.0-00001-of-00002.gguf"), origin.write("mmproj.gguf", large),
            origin.write("labels.txt", Data("a".utf8)))
        #expect(release.files.map { release.index(of: $0) != nil } == [true, true, true, false])
        for file in release.files.prefix(3) {
            let index = try #require(release.index(of: file))
            let encoded = try origin.bytes(index)
            #expect(index.digest == SHA256Digest(hashing: encoded))
            let chunks = try ChunkIndex(encoded: encoded, expectedFileSize: file.size.estimate)
            #expect(chunks.chunks.count == Int((file.size.estimate + (8 << 20) - 1) / (8 << 20)))
        }
    }

    @Test func releasesShareAFileInTheOrigin() async throws {
        let origin = try TestOrigin()
        let projector = try origin.write("mmproj-f16.gguf", Parts.projector())
        try await origin.publish(origin.source("m-v1.0.0-q4.gguf"), origin.source("m-v1.0.0-q8.gguf", [8]), projector)
        try await origin.publish(origin.source("m-v2.0.0-q4.gguf", [2]), projector)
        #expect(try origin.names().filter { $0.contains("mmproj") }.count == 1)
        let catalog = try origin.catalog()
        #expect(catalog.releases.map(\.companions.count) == [1, 1, 1])

        // Replacing one of them takes nothing away from the others.
        try await origin.publish(
            origin.source("m-v2.0.0-q4.gguf", [3]), origin.write("other/mmproj-f16.gguf", Parts.projector([1]))
        ) { $0.replaces = true }
        #expect(try origin.names().filter { $0.contains("mmproj") }.count == 2)
        for release in try origin.catalog().releases {
            for file in release.files { #expect(try SHA256Digest(hashing: origin.bytes(file)) == file.digest) }
        }
        // And what nobody names any more goes.
        try await origin.publish(origin.source("m-v2.0.0-q4.gguf", [3]), projector) { $0.replaces = true }
        #expect(try origin.names().filter { $0.contains("mmproj") }.count == 1)
    }

    @Test func anotherCompanionIsAnotherRelease() async throws {
        let origin = try TestOrigin()
        let model = try origin.source("m-v1.0.0-q4.gguf")
        try await origin.publish(model, origin.write("mmproj.gguf", Parts.projector()))
        let before = try origin.text()
        let other = try origin.write("other/mmproj.gguf", Parts.projector([1]))
        for files in [[model], [model, other]] {
            let error = try await #require(throws: PublishingError.self) {
                try await Publisher(folder: origin.path).publish(PublishRequest(files: files))
            }
            #expect(error.code == .releaseExists)
        }
        #expect(try origin.text() == before)
        let report = try await origin.publish(model, other) { $0.replaces = true }
        #expect(report.items.map(\.outcome) == [.replaced])
        // The weights are the same bytes: they keep their name, and caches what they have.
        #expect(report.items[0].path.lastComponent == "m-v1.0.0-q4.gguf")
        #expect(
            try origin.catalog().releases[0].companions.map(\.digest) == [SHA256Digest(hashing: Parts.projector([1]))])
    }

    @Test func aMissingCompanionIsPutBack() async throws {
        let origin = try TestOrigin()
        let files = [try origin.source("m-v1.0.0-q4.gguf"), try origin.write("mmproj.gguf", Parts.projector())]
        let publisher = Publisher(folder: origin.path, time: origin.clock.time)
        let report = try await publisher.publish(PublishRequest(files: files))
        let lost = try #require(report.items.first?.files.last?.path)
        try LocalFileSystem().removeFile(lost)
        #expect(try await publisher.publish(PublishRequest(files: files)).items.map(\.outcome) == [.published])
        #expect(try LocalFileSystem().contents(ofFile: lost, limit: 1 << 20) == Parts.projector())
    }

    @Test func aDryRunOfSeveralFilesWritesNothingAndSaysTheSame() async throws {
        let origin = try TestOrigin()
        let files = [try origin.source("m-v1.0.0-q4.gguf"), try origin.write("mmproj.gguf", Parts.projector())]
        var request = PublishRequest(files: files)
        request.isDryRun = true
        let publisher = Publisher(folder: origin.path, time: origin.clock.time)
        let planned = try await publisher.publish(request)
        #expect(try LocalFileSystem().status(at: origin.path) == nil)
        request.isDryRun = false
        #expect(try await publisher.publish(request) == planned)
    }
}

@Suite(.timeLimit(.minutes(5))) struct MultipleFileRefusalTests {
    private func refused(
        _ files: [Path], in origin: TestOrigin, change: (inout PublishRequest) -> Void = { _ in }
    ) async throws -> PublishingError {
        var request = PublishRequest(files: files)
        change(&request)
        let error = try await #require(throws: PublishingError.self) {
            try await Publisher(folder: origin.path).publish(request)
        }
        #expect(try LocalFileSystem().status(at: origin.manifest) == nil)
        return error
    }

    @Test func aPartThatIsNotThere() async throws {
        let origin = try TestOrigin()
        let one = try origin.write("m-v1.0.0-00001-of-00003.gguf", Parts.shard(1, of: 3))
        let three = try origin.write("m-v1.0.0-00003-of-00003.gguf", Parts.shard(3, of: 3))
        let error = try await refused([one, three], in: origin)
        #expect(error.code == .shardMissing)
        #expect(error.context.file?.hasSuffix("m-v1.0.0-00002-of-00003.gguf") == true)
    }

    @Test func aPartThatIsNotTheOneItsNameSays() async throws {
        let origin = try TestOrigin()
        let one = try origin.write("m-v1.0.0-00001-of-00002.gguf", Parts.shard(1, of: 2))
        for wrong in [Parts.shard(1, of: 2), Parts.shard(2, of: 3), ModelFiles.gguf(), Data("GGUF".utf8), Data()] {
            try origin.folder.write("sources/m-v1.0.0-00002-of-00002.gguf", wrong)
            #expect(try await refused([one], in: origin).code == .notPublishable)
        }
    }

    @Test func aProjectorThatIsNone() async throws {
        let origin = try TestOrigin()
        let model = try origin.source("m-v1.0.0-q4.gguf")
        for wrong in [ModelFiles.gguf(texts: [("general.architecture", "llama")]), Data("<html>".utf8), Data()] {
            let projector = try origin.write("mmproj.gguf", wrong)
            #expect(try await refused([model, projector], in: origin).code == .notPublishable)
        }
    }

    @Test func whatBelongsToNothing() async throws {
        let origin = try TestOrigin()
        let projector = try origin.write("mmproj.gguf", Parts.projector())
        #expect(try await refused([projector], in: origin).message.contains("belongs to a model"))
        let one = try origin.source("m-v1.0.0-q4.gguf")
        let other = try origin.source("n-v1.0.0-q4.gguf")
        #expect(try await refused([one, other, projector], in: origin).message.contains("which of m, n"))
    }

    @Test func twoFilesOfOneName() async throws {
        let origin = try TestOrigin()
        let model = try origin.source("m-v1.0.0-q4.gguf")
        let labels = [
            try origin.write("labels.txt", Data("a".utf8)), try origin.write("b/Labels.TXT", Data("b".utf8)),
        ]
        #expect(try await refused([model] + labels, in: origin).code == .fileTwice)
        #expect(try await refused([model, labels[0], labels[0]], in: origin).code == .fileTwice)
        let projectors = [
            try origin.write("mmproj-a.gguf", Parts.projector()), try origin.write("mmproj-b.gguf", Parts.projector()),
        ]
        #expect(try await refused([model] + projectors, in: origin).code == .fileTwice)
        let same = try origin.write("c/m-v1.0.0-q4.gguf", Data("x".utf8))
        #expect(try await refused([model], in: origin) { $0.companions = [same] }.code == .fileTwice)
    }

    @Test func whatNoDeviceInstalls() async throws {
        let origin = try TestOrigin()
        let model = try origin.source("m-v1.0.0-q4.gguf")
        let hidden = try origin.write(".labels.txt", Data("a".utf8))
        #expect(try await refused([model], in: origin) { $0.companions = [hidden] }.code == .notPublishable)
        let missing = origin.folder.path("sources/labels.txt")
        #expect(try await refused([model, missing], in: origin).code == .notPublishable)
    }
}
