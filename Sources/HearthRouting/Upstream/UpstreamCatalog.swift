import Foundation
import HearthBase
import HearthHTTP
import HearthInference

/// A model of an upstream.
package struct UpstreamModel: Sendable, Hashable {
    /// The server's name.
    package let id: String
    /// The context window in tokens; `nil` if the server does not tell it.
    package var contextLength: Int?
    /// The time of its creation, if the server tells it.
    package var created: Date?
}

/// The models that an upstream serves, as its settings name them or as it lists them.
///
/// The list is asked for when it is needed, and kept for a time: a server that does not answer delays no request for longer than
/// ``longestWait``, and its last list stays.
final class UpstreamCatalog: Sendable {
    private struct State {
        var models: [UpstreamModel] = []
        /// Whether the server has ever listed its models.
        var isKnown = false
        /// Why the last question had no answer.
        var problem: LLMError?
        var age: Stopwatch?
        var asking: Task<Void, Never>?
    }

    /// The most models of a server.
    static let maximumModels = 1000
    /// How long a list is not asked for again…
    static let lifetime = Duration.seconds(30)
    /// …and a question without an answer is not repeated.
    static let failureLifetime = Duration.seconds(5)
    /// The longest wait for a list.
    static let longestWait = Duration.seconds(2)

    private let settings: UpstreamSettings
    private let time: TimeSource
    private let state = Locked(State())

    init(_ settings: UpstreamSettings, time: TimeSource) {
        self.settings = settings
        self.time = time
    }

    /// Why the list could not be read; `nil` if it could, or was never asked for.
    var problem: LLMError? { state.withLock { $0.problem } }

    /// The models that are served, in the server's order.
    /// - Parameters:
    ///   - isNew: whether a list of an earlier question is too old.
    ///   - ask: asks the server for its list.
    func models(
        isNew: Bool = false, _ ask: @escaping @Sendable () async throws -> [UpstreamModel]
    ) async -> (models: [UpstreamModel], isKnown: Bool) {
        let asking = state.withLock { state -> Task<Void, Never>? in
            if let asking = state.asking { return asking }
            let lifetime = state.problem == nil && !isNew ? Self.lifetime : Self.failureLifetime
            if let age = state.age, age.elapsed < lifetime { return nil }
            let asking = Task { await self.refresh(ask) }
            state.asking = asking
            return asking
        }
        if let asking, settings.plainNames == nil, isNew || !state.withLock({ $0.isKnown }) {
            // A list that is not here in time is not waited for.
            _ = try? await within(Self.longestWait, of: time) { try await abandonable { await asking.value } }
        }
        let (listed, isKnown) = state.withLock { ($0.models, $0.isKnown) }
        guard let names = settings.plainNames else { return (listed.filter { settings.serves($0.id) }, isKnown) }
        // Names of the settings are served whether the server lists them or not.
        return (names.map { name in listed.first { $0.id == name } ?? UpstreamModel(id: name) }, true)
    }

    private func refresh(_ ask: @Sendable () async throws -> [UpstreamModel]) async {
        let result: Result<[UpstreamModel], any Error>
        do { result = .success(try await ask()) } catch { result = .failure(error) }
        let age = time.stopwatch()
        state.withLock { state in
            (state.asking, state.age) = (nil, age)
            switch result {
            case .success(let models): (state.models, state.isKnown, state.problem) = (models, true, nil)
            case .failure(let error):
                state.problem =
                    error as? LLMError
                    ?? LLMError(.unusableAnswer, "\(settings.name) lists no models", underlying: error)
            }
        }
        if case .failure(let error) = result {
            Log.write(.info, "upstream", "\(settings.name) does not list its models: \(error)")
        }
    }

    /// The models of a list in the form of the server's kind.
    /// - Throws: ``LLMError`` with `unusable-answer` for another form.
    static func read(_ document: JSONValue, _ kind: UpstreamKind, _ failure: CloudFailure) throws -> [UpstreamModel] {
        let items = kind == .gemini ? document["models"]?.items : document["data"]?.items
        guard let items else { throw failure.unusable("something that is not a list of models") }
        var seen: Set<String> = []
        var models: [UpstreamModel] = []
        for item in items where models.count < maximumModels {
            guard let model = model(item, kind), seen.insert(model.id).inserted else { continue }
            models.append(model)
        }
        return models
    }

    private static func model(_ item: JSONValue, _ kind: UpstreamKind) -> UpstreamModel? {
        var name = item["id"]?.string ?? item["name"]?.string ?? ""
        if kind == .gemini {
            let methods = item["supportedGenerationMethods"]?.items
            guard methods?.contains("generateContent") ?? true else { return nil }
            if name.hasPrefix("models/") { name.removeFirst("models/".count) }
        }
        guard (1...256).contains(name.utf8.count), name.isPlain(), !name.contains(" ") else { return nil }
        var model = UpstreamModel(id: name)
        let lengths = [
            item["max_model_len"], item["context_length"], item["inputTokenLimit"], item["meta"]?["n_ctx"],
            item["meta"]?["n_ctx_train"],
        ]
        model.contextLength = lengths.lazy.compactMap { $0?.count }.first { (1...100_000_000).contains($0) }
        model.created = item["created"]?.count.map { Date(timeIntervalSince1970: Double(min($0, 253_402_300_799))) }
        return model
    }
}

extension CloudEngine {
    /// Asks the server which models it has.
    /// - Throws: ``LLMError``.
    func listedModels(_ kind: UpstreamKind, limit: Duration) async throws -> [UpstreamModel] {
        let path =
            switch kind {
            case .openai: settings.dialect.healthPath
            case .anthropic: "/v1/models?limit=1000"
            case .gemini: "/v1beta/models?pageSize=1000"
            }
        return try UpstreamCatalog.read(
            try await document(path, limit: limit), kind, CloudFailure(settings: settings))
    }
}
