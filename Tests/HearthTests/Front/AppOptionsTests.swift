import Foundation
import Hearth
import HearthBase
import HearthTestSupport
import Testing

/// What an app says of itself when it makes its one object.
@Suite(.timeLimit(.minutes(5))) struct AppOptionsTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func publish(_ version: String, in place: String, minimum: String = "0.0.0", hasDigest: Bool = true) throws
    {
        let weights = Data("toy \(version)".utf8)
        let digest = hasDigest ? #""sha256": "\#(SHA256Digest(hashing: weights))","# : ""
        try folder.write("\(place)/toy-v\(version).gguf", weights)
        try folder.write(
            "\(place)/models.json",
            Data(
                #"""
                {"schemaVersion": 1, "models": [{"id": "toy", "family": "toy", "version": "\#(version)",
                  "filename": "toy-v\#(version).gguf", "sizeBytes": \#(weights.count), \#(digest)
                  "minAppVersion": "\#(minimum)", "downloadUrl": "toy-v\#(version).gguf"}]}
                """#.utf8))
    }

    /// Each engine answers with the version in its file.
    private func hearth(
        _ origins: [Origin], appVersion: SemanticVersion? = nil, bundled: [BundledSource] = []
    ) throws -> Hearth {
        var engines = EngineRegistry()
        engines.register(.gguf) { request in
            let text = try String(contentsOf: request.files.weights.url, encoding: .utf8)
            return ScriptedEngine(Array(repeating: [.text(text), .finish(.endOfGeneration)], count: 10))
        }
        return try Hearth(
            origins: origins, home: folder.path("home").url, appVersion: appVersion, bundled: bundled, engines: engines)
    }

    private var origin: Origin { Origin("main", folder.path("origin/models.json").url) }

    @Test func aModelThatCameWithTheAppAnswersUntilADownloadIsNewer() async throws {
        try publish("1.0.0", in: "app")
        try publish("2.0.0", in: "origin")
        let hearth = try hearth([origin], bundled: [BundledSource(folder: folder.path("app").url)])
        let bundled = try await hearth.model("toy", policy: .localOnly)
        #expect(try await LanguageModelSession(model: bundled).respond(to: "?").content == "toy 1.0.0")
        #expect(try await hearth.manager.installed().isEmpty)
        let newest = try await hearth.model("toy", policy: .latest)
        #expect(try await LanguageModelSession(model: newest).respond(to: "?").content == "toy 2.0.0")
        await hearth.close()
    }

    @Test(arguments: [("0.9.0", "app-too-old"), ("1.2.0", nil), (nil, nil)] as [(String?, String?)])
    func aModelForALaterAppIsRefused(appVersion: String?, code: String?) async throws {
        try publish("1.0.0", in: "origin", minimum: "1.2.0")
        let hearth = try hearth([origin], appVersion: appVersion.flatMap { SemanticVersion($0) })
        var found: String?
        do {
            _ = try await hearth.model("toy")
        } catch let error as any HearthFailure {
            found = error.codeText
        }
        #expect(found == code)
        #expect(try await hearth.manager.installed().isEmpty == (code != nil))
        await hearth.close()
    }

    @Test @MainActor func aModelWithoutADigestNeedsTheLeaveOfTheApp() async throws {
        try publish("1.0.0", in: "origin", hasDigest: false)
        let hearth = try hearth([origin])
        let library = hearth.library
        await library.refresh()
        let toy = try #require(library.rows.first?.id)
        try library.download(toy)
        await until { if case .failed = library.row(of: toy)?.state { true } else { false } }
        guard case .failed(let failure) = library.row(of: toy)?.state else { return }
        #expect(failure.code == "digest-missing")
        library.allowsUnverified = true
        try library.download(toy)
        await until { library.row(of: toy)?.state == .downloaded }
        #expect(library.row(of: toy)?.badges.contains(.unverified) == true)
        await hearth.close()
    }
}
