import Foundation
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthPublishing
import HearthStore
import HearthTestSupport
import HearthTransfer
import Testing

@Suite struct PublishRefusalTests {
    @Test(arguments: [
        // file name, family, version, variant
        ("lupus-diary-v1.0.0-q4_k_m.gguf", "lupus-diary@1.0.0:q4_k_m"),
        ("Lupus Diary-v1.0.0-Q4_K_M.gguf", "lupus-diary@1.0.0:q4_k_m"),
        ("m-v2.0.0-rc.1-q4.gguf", "m@2.0.0-rc.1:q4"), ("m-v1.0.0.gguf", "m@1.0.0"),
    ])
    func theFileNameTellsTheRelease(_ name: String, _ identity: String) async throws {
        let origin = try TestOrigin()
        let report = try await origin.publish(origin.source(name))
        #expect(report.items.map(\.identity.description) == [identity])
    }

    @Test(arguments: [
        ("SmolLM2-135M-Instruct.Q4_1.gguf", "smollm2-135m-instruct@3.0.0:q4_1"),
        ("Qwen2.5-0.5B-Instruct-IQ2_XXS.gguf", "qwen2.5-0.5b-instruct@3.0.0:iq2_xxs"),
        ("model-f16.gguf", "model@3.0.0:f16"), ("model-quick.gguf", "model-quick@3.0.0"), ("qwen2.gguf", "qwen2@3.0.0"),
    ])
    func withAVersionGivenHubNamesWillDo(_ name: String, _ identity: String) async throws {
        let origin = try TestOrigin()
        let report = try await origin.publish(origin.source(name)) { $0.version = SemanticVersion(3, 0, 0) }
        #expect(report.items.map(\.identity.description) == [identity])
    }

    @Test func whatIsGivenWins() async throws {
        let origin = try TestOrigin()
        let report = try await origin.publish(origin.source("m-v1.0.0-q4.gguf")) {
            $0.family = Family("other")
            $0.version = SemanticVersion(7, 0, 0, prerelease: ["beta"])
            $0.variant = Variant("f32")
        }
        #expect(report.items.map(\.identity.description) == ["other@7.0.0-beta:f32"])
        #expect(try origin.names() == ["other-v7.0.0-beta-f32.gguf", "other-v7.0.0-beta-f32.index"])
    }

    @Test func theHeaderTellsAQuantizationTheNameDoesNot() async throws {
        let origin = try TestOrigin()
        let data = ModelFiles.gguf(numbers: [("general.file_type", 15)])
        let report = try await origin.publish(origin.folder.write("m-v1.0.0.gguf", data))
        #expect(report.items.map(\.identity.description) == ["m@1.0.0:q4_k_m"])
    }

    private func refusal(
        _ origin: TestOrigin, _ path: Path, change: (inout PublishRequest) -> Void = { _ in }
    ) async throws -> PublishingError {
        let error = try await #require(throws: PublishingError.self) { try await origin.publish(path, change: change) }
        #expect(error.context.remedy != nil || error.code == .versionNeeded)
        #expect(try LocalFileSystem().status(at: origin.path) == nil)
        return error
    }

    @Test func saysWhatIsMissing() async throws {
        let origin = try TestOrigin()
        let noVersion = try await refusal(origin, origin.source("model.gguf"))
        #expect(noVersion.code == .versionNeeded && noVersion.context.field == "version")
        let noName = try await refusal(origin, origin.source("___-v1.0.0-q4.gguf"))
        #expect(noName.code == .nameNeeded && noName.context.field == "family")
        let build = try await refusal(origin, origin.source("m.gguf")) {
            $0.version = SemanticVersion(1, 0, 0, build: ["5"])
        }
        #expect(build.code == .versionNeeded)
        let long = try await refusal(origin, origin.source("m.gguf")) {
            $0.version = SemanticVersion(1, 0, 0, prerelease: [String(repeating: "x", count: 80)])
        }
        #expect(long.code == .versionNeeded)
    }

    @Test func refusesWhatIsNoModel() async throws {
        let origin = try TestOrigin()
        let folder = origin.folder
        func problem(_ path: Path) async throws -> String {
            let error = try await refusal(origin, path)
            #expect(error.code == .notPublishable)
            return error.message
        }
        #expect(try await problem(folder.path("none-v1.0.0-q4.gguf")).contains("no such file"))
        #expect(try await problem(folder.write("m-v1.0.0-q4.gguf", Data())).contains("empty"))
        #expect(try await problem(folder.write("a-v1.0.0-q4.gguf", Data("<html>".utf8))).contains("a web page"))
        let pointer = Data("version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n".utf8)
        #expect(try await problem(folder.write("p-v1.0.0-q4.gguf", pointer)).contains("Git LFS"))
        #expect(try await problem(folder.write("z-v1.0.0-q4.gguf", Data([0x1F, 0x8B, 8, 0]))).contains("gzip"))
        #expect(try await problem(folder.write("b-v1.0.0-q4.gguf", Data("GG".utf8))).contains("not a GGUF"))
        #expect(
            try await problem(folder.write("c-v1.0.0-q4.gguf", Data("GGUF\u{3}".utf8))).contains("header is broken"))
        #expect(try await problem(folder.write("d-v1.0.0-q4.onnx", ModelFiles.gguf())).contains("holds GGUF"))
        #expect(try await problem(folder.write("e-v1.0.0-q4.txt", Data("x".utf8))).contains("what kind of model"))
        let part = ModelFiles.gguf(numbers: [("split.count", 3), ("split.no", 1)])
        #expect(try await problem(folder.write("f-v1.0.0-q4.gguf", part)).contains("part 2 of 3"))
        try LocalFileSystem().makeFolders(folder.path("g-v1.0.0-q4.gguf"))
        #expect(try await problem(folder.path("g-v1.0.0-q4.gguf")).contains("a folder"))
        try folder.write("real.gguf", ModelFiles.gguf())
        try LocalFileSystem().makeLink(at: folder.path("h-v1.0.0-q4.gguf"), to: "real.gguf")
        #expect(try await problem(folder.path("h-v1.0.0-q4.gguf")).contains("symbolic link to real.gguf"))
    }

    @Test func twoFilesMayNotBecomeOneRelease() async throws {
        let origin = try TestOrigin()
        let one = try origin.source("m-v1.0.0-q4.gguf")
        let other = try origin.source("M-v1.0.0-Q4.gguf", [2])
        let error = try await #require(throws: PublishingError.self) { try await origin.publish(one, other) }
        #expect(error.code == .releaseTwice)
    }

    @Test func oneBadFileHoldsBackTheOthers() async throws {
        let origin = try TestOrigin()
        try await origin.publish(origin.source("m-v1.0.0-q4.gguf"))
        let before = try origin.text()
        let good = try origin.source("n-v1.0.0-q4.gguf")
        let clash = try origin.source("m-v1.0.0-q4.gguf", [9])
        await #expect(throws: PublishingError.self) { try await origin.publish(good, clash) }
        #expect(try origin.text() == before)
    }

    @Test(arguments: [
        #"{"version": "1.0.0", "url": "m.gguf", "size_mb": 1}"#, #"{"schemaVersion": 2, "models": []}"#,
        #"{"models": [{"id": "x"}]}"#, "not json", "",
    ])
    func leavesAManifestItCannotAddToAlone(_ text: String) async throws {
        let origin = try TestOrigin()
        try origin.folder.write("origin/models.json", Data(text.utf8))
        let source = try origin.source("m-v1.0.0-q4.gguf")
        let error = try await #require(throws: (any Error).self) { try await origin.publish(source) }
        #expect(error is any HearthFailure)
        #expect(try origin.text() == Data(text.utf8))
    }

    @Test func aHeaderCannotSmuggleControlCharactersIntoTheManifest() async throws {
        let origin = try TestOrigin()
        let data = ModelFiles.gguf(
            texts: [
                ("general.architecture", "llama"), ("general.name", "evil\u{1b}[2J"), ("general.license", "a\u{202e}b"),
            ], numbers: [("llama.context_length", 0), ("split.no", .max)])
        try await origin.publish(origin.folder.write("m-v1.0.0-q4.gguf", data))
        let release = try #require(try origin.catalog().releases.first)
        #expect(release.name == nil)
        #expect(release.license == nil)
        #expect(release.contextLength == nil)
    }

    @Test func whatThePublisherSaysMustBeReadable() async throws {
        let origin = try TestOrigin()
        let source = try origin.source("m-v1.0.0-q4.gguf")
        let error = try await #require(throws: CatalogError.self) {
            try await origin.publish(source) { $0.name = "two\nlines" }
        }
        #expect(error.context.field == "models[0].name")
        #expect(try LocalFileSystem().status(at: origin.manifest) == nil)
    }
}
