import Foundation
import Hearth
import HearthInference

/// An engine of the app's own: it gives its answers in turn, and then the last one again.
actor PretendedEngine: InferenceEngine {
    private var answers: [[GenerationEvent]]
    /// The conversations that were asked.
    private(set) var asked: [[ChatMessage]] = []
    nonisolated let modelInformation = ModelInformation(description: "pretended", contextLength: 8192)
    nonisolated let capabilities: EngineCapabilities = [.thinking, .vision]

    init(_ answers: [GenerationEvent]...) { self.answers = answers }

    func generate(
        _ messages: [ChatMessage], options: GenerationOptions, onEvent: @escaping @Sendable (GenerationEvent) -> Void
    ) async throws -> GenerationSummary {
        asked.append(messages)
        let answer = answers.count > 1 ? answers.removeFirst() : answers.first ?? []
        for event in answer {
            try Task.checkCancellation()
            onEvent(event)
        }
        return GenerationSummary(
            reason: .endOfGeneration,
            usage: TokenUsage(promptTokens: 1, cachedTokens: 0, generatedTokens: answer.count),
            timings: GenerationTimings(firstTokenSeconds: 0, prefillTokensPerSecond: 0, decodeTokensPerSecond: 0))
    }
}

/// An app with an origin, which is a folder on this machine.
final class Stage: Sendable {
    let folder: URL
    let hearth: Hearth

    /// - Parameter models: the models of the origin, as `models.json` describes them; `CONTENT` of each is its weights.
    init(_ models: [PublishedModel], engine: PretendedEngine = PretendedEngine([.text("yes")])) throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "seeds-\(UUID().uuidString)")
        let origin = folder.appending(path: "origin")
        try FileManager.default.createDirectory(at: origin, withIntermediateDirectories: true)
        for model in models {
            try Data(model.content.utf8).write(to: origin.appending(path: model.fileName))
        }
        let manifest = origin.appending(path: "models.json")
        try Data(PublishedModel.manifest(models).utf8).write(to: manifest)
        var engines = EngineRegistry()
        for format in [ModelFormat.gguf, .mlx] { engines.register(format) { _ in engine } }
        hearth = try Hearth(
            origins: [Origin("main", manifest)], home: folder.appending(path: "home"), engines: engines)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// Writes a file into the folder of the stage.
    func write(_ name: String, _ text: String) throws -> URL {
        let url = folder.appending(path: name)
        try FileManager.default.createDirectory(
            at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: url)
        return url
    }

    /// A model of the origin, by the name of its family.
    @MainActor func model(_ family: String) async throws -> ModelInfo {
        await hearth.library.refresh()
        guard let row = hearth.library.rows.first(where: { $0.id.name == family }) else {
            throw ModelDownloadError.modelNotFound(family)
        }
        return row.model
    }
}

/// A model in `models.json`.
struct PublishedModel {
    var family: String
    var version = "1.0.0"
    var content: String
    var role = "text"
    /// Another digest than that of the content.
    var sha256: String?

    var fileName: String { "\(family)-v\(version).gguf" }

    static func manifest(_ models: [PublishedModel]) -> String {
        let entries = models.map { model in
            """
            {"id": "\(model.family)-v\(model.version)", "family": "\(model.family)", "version": "\(model.version)",
             "filename": "\(model.fileName)", "sizeBytes": \(model.content.utf8.count), "role": "\(model.role)",
             "sha256": "\(model.sha256 ?? "\(SHA256Digest(hashing: Data(model.content.utf8)))")",
             "minAppVersion": "1.0.0", "downloadUrl": "\(model.fileName)"}
            """
        }
        return #"{"schemaVersion": 1, "models": [\#(entries.joined(separator: ",\n"))], "currentVersion": "1.0.0"}"#
    }
}
