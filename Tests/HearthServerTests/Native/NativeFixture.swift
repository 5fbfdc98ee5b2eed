import Foundation
import Hearth
import HearthAssistant
import HearthBase
import HearthCatalog
import HearthHTTP
import HearthInference
import HearthRouting
import HearthTestSupport
import Testing

@testable import HearthServer

/// An engine that gives its texts in order, the last one again and again. A text with `…` waits there until ``goOn()``.
actor TalkingEngine: InferenceEngine, TokenReader {
    nonisolated let capabilities: EngineCapabilities = []
    nonisolated let modelInformation = ModelInformation(description: "talker", contextLength: 4096)
    private var texts: [String]
    private var isHeld = true
    private var held: [CheckedContinuation<Void, Never>] = []
    private var waiting: [CheckedContinuation<Void, Never>] = []
    private(set) var stalls = 0
    /// The options of the answers so far, without those of probes.
    private(set) var options: [GenerationOptions] = []
    /// The beginnings of prompts that it was to read early.
    private(set) var preparations: [[ChatMessage]] = []
    private(set) var forgettings = 0

    func prepare(_ messages: [ChatMessage], options: GenerationOptions) { preparations.append(messages) }

    func forget() { forgettings += 1 }

    init(_ texts: [String] = ["Hello there."]) { self.texts = texts }

    func generate(
        _ messages: [ChatMessage], options: GenerationOptions,
        onEvent: @escaping @Sendable (GenerationEvent) -> Void
    ) async throws -> GenerationSummary {
        // The probe of a new release asks without a system prompt.
        let isProbe = messages.first?.role != .system
        if !isProbe { self.options.append(options) }
        let text = isProbe ? "Fine" : texts.count > 1 ? texts.removeFirst() : texts.first ?? ""
        var count = 0
        for piece in text.split(separator: "…", omittingEmptySubsequences: false).enumerated() {
            if piece.offset > 0 { try await stall() }
            for word in piece.element.split(separator: " ", omittingEmptySubsequences: false) {
                try Task.checkCancellation()
                onEvent(.text((count > 0 ? " " : "") + word))
                count += 1
            }
        }
        return GenerationSummary(
            reason: .endOfGeneration,
            usage: TokenUsage(promptTokens: 7, cachedTokens: 2, generatedTokens: count),
            timings: GenerationTimings(firstTokenSeconds: 0.1, prefillTokensPerSecond: 5, decodeTokensPerSecond: 9))
    }

    private func stall() async throws {
        stalls += 1
        for waiter in waiting { waiter.resume() }
        waiting = []
        if isHeld {
            await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    if Task.isCancelled { continuation.resume() } else { held.append(continuation) }
                }
            } onCancel: {
                Task { await self.goOn() }
            }
        }
        try Task.checkCancellation()
    }

    /// Returns when an answer waits.
    func stalled() async { if stalls == 0 { await withCheckedContinuation { waiting.append($0) } } }

    func goOn() {
        isHeld = false
        for continuation in held { continuation.resume() }
        held = []
    }
}

/// Whether the models of settings are still used.
final class WatchedModels: @unchecked Sendable {
    private weak var models: OpenedModels?

    init(_ models: OpenedModels) { self.models = models }

    var isThere: Bool { models != nil }

    /// Waits until they have no user; `false` if that takes very long.
    func left() async -> Bool {
        for _ in 0..<1_000_000 where isThere { await Task.yield() }
        return !isThere
    }
}

/// The native API over a home in a temporary folder, an origin in a folder, and an engine that talks.
final class NativeFixture: Sendable {
    let folder: TemporaryFolder
    let hearth: Hearth
    let home: ServedHome
    let service: NativeService
    let engine: TalkingEngine
    /// The models at the start, which only the service keeps.
    let models: WatchedModels
    /// The engine of models that are opened from now on.
    private let present: Locked<TalkingEngine>

    /// One model of the origin.
    struct Offer: Sendable {
        var family = "talker"
        var version = "1.0.0"
        var memory = 1_000_000
        var padding = 3
        var hasDigest = true
        var role = "text"

        var filename: String { "\(family)-v\(version)-q4_1.gguf" }
        var bytes: Data {
            ModelFiles.gguf(
                texts: [("general.name", "\(family) \(version)")], payload: [UInt8](repeating: 3, count: padding))
        }

        var json: String {
            let bytes = bytes
            let digest = hasDigest ? "\"sha256\": \"\(SHA256Digest(hashing: Array(bytes)).hex)\"," : ""
            return #"""
                {"id": "\#(filename)", "version": "\#(version)", "filename": "\#(filename)", \#(digest)
                 "sizeBytes": \#(bytes.count), "role": "\#(role)", "name": "The \#(family)", "summary": "Talks a lot.",
                 "requirements": {"memoryBytes": \#(memory)}, "downloadUrl": "\#(filename)"}
                """#
        }
    }

    static func publish(_ offers: [Offer], in folder: TemporaryFolder) throws {
        for offer in offers { try folder.write("origin/\(offer.filename)", offer.bytes) }
        let entries = offers.map(\.json).joined(separator: ",\n")
        try folder.write(
            "origin/models.json", Data(#"{"schemaVersion": 1, "models": [\#(entries)]}"#.utf8))
    }

    init(
        _ texts: [String] = ["Hello there."], offers: [Offer] = [Offer()], folder: TemporaryFolder? = nil,
        time: TimeSource = .system
    ) async throws {
        let folder = try folder ?? TemporaryFolder()
        try Self.publish(offers, in: folder)
        let engine = TalkingEngine(texts)
        let present = Locked(engine)
        self.present = present
        var engines = EngineRegistry()
        engines.register(.gguf) { _ in present.withLock { $0 } }
        var configuration = Configuration(origins: ["test": folder.path("origin/models.json").url])
        configuration.meteredUse = .allow
        // The models of the origin are all that there are.
        configuration.catalog.isShipped = false
        try folder.write("home/config.json", configuration.json())
        hearth = try Hearth(
            home: folder.path("home"), configuration: configuration, environment: ["HEARTH_NETWORK": "unmetered"],
            time: time, engines: engines)
        home = try ServedHome(hearth, version: "1.2.3")
        home.setAddress("http://127.0.0.1:1")
        models = WatchedModels(try home.present)
        service = try await NativeService(home)
        self.folder = folder
        self.engine = engine
    }

    /// Changes a setting that shapes engines: the models are opened anew, with an engine of their own.
    func reopen(_ texts: [String]) async throws -> TalkingEngine {
        let engine = TalkingEngine(texts)
        present.withLock { $0 = engine }
        try await SettingsFile(home: hearth.home).change { try $0.set("threads", to: "1") }
        await home.reload()
        return engine
    }

    /// Runs a test's body, and ends everything whatever happens.
    static func with(
        _ texts: [String] = ["Hello there."], offers: [Offer] = [Offer()],
        _ body: (NativeFixture) async throws -> Void
    ) async throws {
        let fixture = try await NativeFixture(texts, offers: offers)
        do {
            try await body(fixture)
        } catch {
            await fixture.close()
            throw error
        }
        await fixture.close()
    }

    func close() async {
        await engine.goOn()
        await service.close()
        await home.close()
        await hearth.close()
    }

    // MARK: Calls

    /// The reply to a call as a document.
    @discardableResult
    func call(
        _ method: String, _ path: String, _ body: String? = nil, headers: HTTPHeaders = [:]
    ) async throws -> (status: Int, body: JSONValue) {
        let reply = try #require(await reply(method, path, body, headers: headers))
        let bytes = try await reply.collectedBody()
        return (reply.status, bytes.isEmpty ? .null : try JSONValue(parsing: Data(bytes)))
    }

    func reply(
        _ method: String, _ path: String, _ body: String? = nil, headers: HTTPHeaders = [:]
    ) async -> ServerReply? {
        var headers = headers
        if body != nil, headers["Content-Type"] == nil { headers["Content-Type"] = "application/json" }
        let request = ServerRequest(
            method: method, target: "/hearth/v1" + path, headers: headers, caller: .owner,
            body: RequestBody(Array((body ?? "").utf8)))
        return await service.reply(to: request)
    }

    /// All events so far.
    var events: [(name: String, data: JSONValue)] {
        get throws {
            var found: [(String, JSONValue)] = []
            var last = 0
            while case .events(let events) = service.log.events(after: last), let end = events.last {
                for event in events { found.append((event.name, try JSONValue(parsing: Data(event.data)))) }
                last = end.number
            }
            return found
        }
    }

    /// Returns the first event that passes a test, also one that comes later.
    @discardableResult
    func event(
        _ name: String, where isWanted: @Sendable (JSONValue) -> Bool = { _ in true }
    ) async throws -> JSONValue {
        let signals = service.log.signals()
        if let found = try events.first(where: { $0.name == name && isWanted($0.data) }) { return found.data }
        for await _ in signals {
            if let found = try events.first(where: { $0.name == name && isWanted($0.data) }) { return found.data }
        }
        throw CancellationError()
    }

    /// Brings the model to the device.
    func download(_ id: String = "talker") async throws {
        await service.library.library.refresh()
        let began = try await call("POST", "/models/\(id)/download", "{}")
        #expect(began.status == 202)
        try await event("row") { $0["row"]?["id"] == .string(id) && $0["row"]?["state"] == .string("downloaded") }
    }
}

extension JSONValue {
    subscript(_ name: String) -> JSONValue? { members?[name] }

    subscript(_ index: Int) -> JSONValue? {
        guard case .array(let items) = self, items.indices.contains(index) else { return nil }
        return items[index]
    }

    var text: String? { if case .string(let text) = self { text } else { nil } }

    var items: [JSONValue] { if case .array(let items) = self { items } else { [] } }

    var int: Int? { if case .number(let digits) = self { Int(digits) } else { nil } }
}
