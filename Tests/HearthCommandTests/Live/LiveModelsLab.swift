import Foundation
import Hearth
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthHTTP
import HearthInference
import HearthStore
import HearthTestSupport
import HearthTransfer
import Testing

/// An engine that answers with the text of its model and reports when it is unloaded.
struct NamedEngine: ForwardingEngine {
    let engine: ScriptedEngine
    private let onUnload: @Sendable () -> Void

    init(_ name: String, onUnload: @escaping @Sendable () -> Void) {
        engine = ScriptedEngine(
            Array(repeating: [.text(name), .finish(.endOfGeneration)], count: 100),
            capabilities: name == "two" ? .vision : [])
        self.onUnload = onUnload
    }

    func unload() async { onUnload() }
}

/// A home with releases of one family, and the engines opened from them.
struct LiveModelsLab {
    let folder: TemporaryFolder
    let family: Family
    let log = Locked<[String]>([])

    init() throws {
        folder = try TemporaryFolder()
        family = try #require(Family("named"))
    }

    func manager(bundled: [BundledSource] = []) -> ModelManager {
        ModelManager(
            home: folder.path("home"), origins: [], network: UnmonitoredNetwork(),
            deviceMemory: 8 << 30, bundled: bundled)
    }

    func models(_ manager: ModelManager) -> LiveModels {
        let log = log
        return LiveModels(manager: manager) { files in
            let text = try String(contentsOf: files.weights.url, encoding: .utf8)
            if text == "broken" { throw LLMError(.cannotLoad, "no engine takes it") }
            log.withLock { $0.append("load \(text)") }
            return NamedEngine(text) { log.withLock { $0.append("unload \(text)") } }
        }
    }

    @discardableResult
    func install(_ version: String, _ text: String, with manager: ModelManager) async throws -> InstalledRelease {
        try await manager.pull(.file(try folder.write("named-v\(version)-q4_1.gguf", Data(text.utf8)))).release
    }

    func answer(_ chat: LanguageModelSession) async throws -> String {
        var text = ""
        for try await event in chat.streamResponse(to: "Who are you?").events {
            if case .text(let piece) = event { text += piece }
        }
        return text
    }

    func bundle(_ version: String, _ text: String) throws -> BundledSource {
        let name = "named-v\(version)-q4_1.gguf"
        let weights = Data(text.utf8)
        try folder.write("app/\(name)", weights)
        try folder.write(
            "app/models.json",
            Data(
                #"""
                {"schemaVersion": 1, "models": [{"id": "n", "filename": "\#(name)", "sizeBytes": \#(weights.count),
                  "sha256": "\#(SHA256Digest(hashing: weights))", "downloadUrl": "\#(name)"}]}
                """#.utf8))
        return BundledSource(folder: folder.path("app"))
    }
}
