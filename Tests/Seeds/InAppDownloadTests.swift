import Foundation
import Hearth
import HearthBase
import HearthDelivery
import HearthInference
import HearthTransfer
import Observation
import Testing

/// "In-App Model Download", call by call.
///
/// Not on Linux: URLSession, SwiftUI (`DownloadProgressView`, `ContentView`) and `UIApplicationDelegateAdaptor`.
/// `LlamaContext` is `LlamaActor`, which takes the path of a file; `upload-model --model PATH --version V` is
/// `hearth publish PATH --version V`.
///
/// Lines that differ:
/// - `ModelStorage` and `ModelManifest.fetch` take the app's `Hearth`, which knows the folder and the origin.
/// - `ModelManifest.currentVersion` is `nil` for a manifest of several families.
/// - the cases of `ModelSource` hold the release.
@Suite(.timeLimit(.minutes(5))) struct InAppDownloadTests {
    /// The view of the plan: scoring is off without a model, and "Download Model" shows.
    @MainActor private final class ContentView {
        let hearth: Hearth
        var modelSource = ModelSource.none
        var showsDownloadButton: Bool { modelSource == .none }
        var canScore: Bool { !showsDownloadButton }

        init(_ hearth: Hearth) { self.hearth = hearth }

        /// Tries the bundled model first, then the downloaded one.
        func loadModel(_ family: Family) async throws {
            modelSource = try await hearth.manager.availability(of: family)
        }
    }

    @MainActor @Test func theManifestTheStorageAndTheSource() async throws {
        let stage = try Stage([PublishedModel(family: "lupus-diary", content: "weights")])
        let hearth = stage.hearth
        let manifest = try await ModelManifest.fetch(
            Origin("main", stage.folder.appending(path: "origin/models.json")), for: hearth)
        #expect(manifest.schemaVersion == 1 && manifest.currentVersion?.name == "1.0.0")
        let model = try #require(manifest.models.first)
        #expect(model.size == 7 && model.sha256 == SHA256Digest(hashing: Data("weights".utf8)))

        let view = ContentView(hearth)
        try await view.loadModel(model.id)
        #expect(view.showsDownloadButton && !view.canScore)

        let downloader = ModelDownloader(hearth.library)
        try downloader.download(model: model)
        for await isOver in Observations({ !downloader.state.isActive }) where isOver { break }
        try await view.loadModel(model.id)
        guard case .downloaded(let release) = view.modelSource else {
            Issue.record("the model is not on this device: \(downloader.state)")
            return
        }
        #expect(view.canScore && release.identity.family == model.id)

        let storage = ModelStorage(hearth)
        let url = try #require(try await storage.url(for: model))
        #expect(url.path.hasPrefix(storage.directory.path))
        #expect(try await storage.validate(model))
        try Data("changed".utf8).write(to: url)
        #expect(try await !storage.validate(model))
        try await storage.delete(model)
        #expect(try await storage.url(for: model) == nil)
        await hearth.close()
    }

    @Test func aBundledModelGoesFirst() async throws {
        let stage = try Stage([PublishedModel(family: "lupus-diary", content: "weights")])
        let bundle = try stage.write("bundle/lupus-diary-v1.0.0.gguf", "weights").deletingLastPathComponent()
        _ = try stage.write(
            "bundle/models.json", PublishedModel.manifest([PublishedModel(family: "lupus-diary", content: "weights")]))
        let manager = ModelManager(
            home: stage.folder.appending(path: "other"), origins: [], deviceMemory: 8 << 30,
            bundled: [BundledSource(folder: bundle)])
        let family = try #require(Family("lupus-diary"))
        guard case .bundled = try await manager.availability(of: family) as ModelSource else {
            Issue.record("the bundled model is not used")
            return
        }
    }

    @Test func theWorkersKeyNeverReachesTheBucket() throws {
        let worker = try #require(URL(string: "https://worker.example"))
        let file = try #require(URL(string: "https://bucket.example/models/lupus-diary-v1.0.0-q4_k_m.gguf"))
        let downloader = try AuthenticatedDownloader(gateway: worker, key: "secret", files: [file])
        #expect(downloader.provides(for: file))
        let other = try #require(URL(string: "https://elsewhere.example/model.gguf"))
        #expect(!downloader.provides(for: other))
    }
}
