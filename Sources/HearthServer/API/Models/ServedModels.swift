import Foundation
import Hearth
import HearthBase
import HearthInference
import HearthRouting

/// The models of this device, those of other servers as `NAME/MODEL`, and the aliases for them.
package struct ServedModels: ModelProvider {
    private let local: HearthModels
    private let upstreams: Upstreams
    /// The models of each alias, in the order in which they are tried.
    private let aliases: [String: [String]]
    private let settings: APISettings
    private let time: TimeSource

    package init(
        _ local: HearthModels, _ upstreams: Upstreams, aliases: [String: [String]], settings: APISettings,
        time: TimeSource = .system
    ) {
        (self.local, self.upstreams, self.aliases, self.settings) = (local, upstreams, aliases, settings)
        self.time = time
    }

    // MARK: Names

    package func models() async throws -> [ServedModel] {
        // Another Hearth that asks gets the models of this device alone, so that lists do not grow in a circle.
        guard UpstreamHops.count == 0 else { return try await local.models() }
        async let remote = upstreams.models()
        let own = try await local.models().filter { aliases[$0.name] == nil }
        let others = await remote.map { Self.served($0.server, $0.model) }
        var windows: [String: Int] = [:]
        for model in own + others { windows[model.name] = model.facts?.contextLength }
        let named = aliases.sorted { $0.key < $1.key }.map { name, targets in
            Self.alias(name, contextLength: targets.compactMap { windows[$0] }.min())
        }
        return own + named + others
    }

    private static func served(_ server: UpstreamServer, _ model: UpstreamModel) -> ServedModel {
        var served = ServedModel(name: "\(server.name)/\(model.id)")
        if let created = model.created { served.created = created }
        (served.family, served.format, served.upstream) = (model.id, "", server.name)
        served.facts = facts(server.contextLength(of: model))
        return served
    }

    /// - Parameter contextLength: the smallest window of its models that is known.
    private static func alias(_ name: String, contextLength: Int? = nil) -> ServedModel {
        var served = ServedModel(name: name)
        (served.family, served.format, served.upstream) = (name, "", "alias")
        served.facts = facts(contextLength)
        return served
    }

    package func model(_ name: String?) async throws -> ServedModel {
        guard let name, !name.isEmpty else { return try await usual() }
        guard name.utf8.count <= 512 else { throw APIFailure.noModel(name) }
        let plain = Self.plain(name)
        for candidate in [name, plain] where aliases[candidate] != nil { return Self.alias(candidate) }
        guard upstreams.owns(name) else { return try await local.model(name) }
        guard UpstreamHops.count < UpstreamHops.maximum else {
            throw APIFailure(
                .invalid, "the request has passed \(UpstreamHops.maximum) servers, which serve each other's models",
                field: "model")
        }
        for candidate in [name, plain] {
            guard let engine = await upstreams.engine(candidate) else { continue }
            return Self.served(engine)
        }
        throw APIFailure.noModel(name)
    }

    private static func served(_ engine: UpstreamEngine) -> ServedModel {
        var served = ServedModel(name: engine.name)
        (served.family, served.format, served.upstream) = (engine.name, "", engine.upstream)
        served.facts = facts(engine.contextLength)
        return served
    }

    /// What models of servers can, as far as anything but a question tells it.
    private static func facts(_ contextLength: Int?) -> ServedFacts {
        var facts = ServedFacts()
        facts.abilities = [.completion, .tools, .thinking, .vision]
        facts.contextLength = contextLength
        return facts
    }

    /// A name without the tag that Ollama's clients add.
    private static func plain(_ name: String) -> String {
        name.hasSuffix(":latest") ? String(name.dropLast(":latest".count)) : name
    }

    /// The default model; without a model of this device, the only one of all upstreams.
    private func usual() async throws -> ServedModel {
        do {
            return try await local.model(nil)
        } catch let failure as APIFailure where failure.reason == .modelMissing {
            guard try await local.models().isEmpty else { throw failure }
            let others = await upstreams.models()
            guard let only = others.first, others.count == 1 else { throw failure }
            return Self.served(only.server, only.model)
        }
    }

    // MARK: Engines

    package func engine(for model: ServedModel) async throws -> any InferenceEngine {
        guard model.upstream != nil else { return try await local.engine(for: model) }
        if let targets = aliases[model.name] {
            return AliasEngine(model.name, targets.map(member), time: time)
        }
        guard let engine = await upstreams.engine(model.name) else { throw APIFailure.noModel(model.name) }
        return engine
    }

    private func member(_ target: String) -> AliasEngine.Member {
        if upstreams.owns(target) {
            return AliasEngine.Member(target, isRemote: true) { try await upstreams.required(target) }
        }
        return AliasEngine.Member(target, isRemote: false, limit: { settings.limit(window: $0) }) {
            do {
                return try await local.engine(for: try await local.installed(target))
            } catch let failure as APIFailure {
                throw LLMError(.modelNotLoaded, failure.message, context: ErrorContext(model: target))
            }
        } answered: {
            // A model that was removed meanwhile needs no warmth.
            if let model = try? await local.installed(target) { await local.used(model, keepAlive: nil) }
        }
    }

    package func details(of model: ServedModel) async throws -> ModelDetails {
        guard model.upstream != nil else { return try await local.details(of: model) }
        var details = ModelDetails()
        let engine = try await engine(for: model)
        details.metadata = ["general.architecture": "remote"]
        details.metadata["remote.context_length"] = .integer(try await engine.modelInformation.contextLength)
        return details
    }

    package func loaded() async -> [LoadedModel] { await local.loaded() }

    package func isAnswering(_ model: ServedModel) async -> Bool { await local.isAnswering(model) }

    package func used(_ model: ServedModel, keepAlive: Duration?) async {
        if model.upstream == nil { await local.used(model, keepAlive: keepAlive) }
    }

    package func unload(_ model: ServedModel) async { if model.upstream == nil { await local.unload(model) } }

    // MARK: Delivery

    package func pull(_ name: String, progress: @escaping @Sendable (PullStep) -> Void) async throws {
        // Programs of Ollama pull a model before they use it.
        if let model = try? await model(name), model.upstream != nil { return }
        try await local.pull(name, progress: progress)
    }

    package func keep(_ preset: Preset) async throws {
        guard aliases[preset.name] == nil else {
            throw APIFailure(.conflict, "an alias has the name `\(preset.name)`", field: "model")
        }
        try await local.keep(preset)
    }

    package func delete(_ name: String) async throws {
        guard aliases[name] == nil, !upstreams.owns(name) else {
            throw APIFailure(.forbidden, "\(name.prefix(200)) is not on this device", field: "model")
        }
        try await local.delete(name)
    }
}
