import Foundation
import Hearth
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthInference
import HearthStore
import HearthTransfer

/// The installed models of a home as the models of a server.
///
/// A client names a family, `family:variant` or `family@version:variant`. Paths and addresses name nothing here.
package final class HearthModels: ModelProvider {
    /// Choices of the server's owner.
    package struct Settings: Sendable {
        /// The model of requests that name none; `nil` for the only one.
        package var defaultModel: String?
        /// Whether the default model also answers requests for models that do not exist.
        package var answersAnyName = false
        /// How long an idle model stays in memory; `nil` until memory is short.
        package var keepAlive: Duration?

        package init() {}

        /// The settings of a home.
        package init(configuration: Configuration) {
            defaultModel = configuration.defaultModel
            keepAlive = configuration.server.keepAlive
            answersAnyName = configuration.server.answersAnyModel
        }
    }

    /// What the disk said, for requests that follow at once.
    private struct Known {
        var models: [ServedModel] = []
        var read: Stopwatch?
        /// Engines by the name of their model; each follows the activations of its family.
        var live: [String: LiveModel] = [:]
        /// The facts of weights that were read.
        var facts: [Path: ServedFacts] = [:]
    }

    /// The time after which the disk is asked again which models are installed.
    private static let listLifetime = Duration.seconds(1)

    private let hearth: Hearth
    private let chosen: Locked<Settings>
    private let warmth: ModelWarmth
    private let time: TimeSource
    private let known = Locked(Known())

    package init(_ hearth: Hearth, settings: Settings = Settings(), time: TimeSource = .system) {
        self.hearth = hearth
        chosen = Locked(settings)
        self.time = time
        warmth = ModelWarmth(time: time)
    }

    private var settings: Settings { chosen.withLock { $0 } }

    /// Uses other choices for later requests. Models stay in memory as long as they would have.
    package func use(_ settings: Settings) { chosen.withLock { $0 = settings } }

    // MARK: Names

    package func models() async throws -> [ServedModel] {
        let remembered = known.withLock { known in
            known.read.map { $0.elapsed < Self.listLifetime } ?? false ? known.models : nil
        }
        if let remembered { return remembered }
        let watch = time.stopwatch()
        var models: [ServedModel] = []
        for release in try await releases() { models.append(try await served(release)) }
        for preset in await blocking({ [home = hearth.home] in Preset.all(home) }) {
            // A preset answers while its model is installed, and takes no model's name.
            guard !models.contains(where: { $0.answers(to: preset.name) }),
                var model = models.first(where: { $0.preset == nil && $0.answers(to: preset.model) })
            else { continue }
            (model.name, model.aliases, model.preset) = (preset.name, [], preset)
            models.append(model)
        }
        known.withLock { ($0.models, $0.read) = (models, watch) }
        return models
    }

    /// Asks the disk at the next request.
    private func forget() { known.withLock { $0 = Known() } }

    /// An installed release with the facts of its file.
    private func served(_ release: InstalledRelease, name: String? = nil) async throws -> ServedModel {
        var model = Self.served(release, name: name)
        guard let weights = release.weights else { return model }
        if let facts = known.withLock({ $0.facts[weights] }) {
            model.facts = facts
            return model
        }
        // A file that cannot be read is still listed; its load reports why.
        let facts = try? await blocking { [hearth] in
            let header = try GGUFHeader(file: weights, extent: .tensors)
            let template = header.metadata["tokenizer.chat_template"]?.text ?? ""
            var facts = ServedFacts(header, template: template, hasProjector: release.projector != nil)
            // A model that does not fit is refused when it is loaded.
            let plan = try? MemoryPlanning.plan(
                file: weights, projector: release.projector,
                configuration: hearth.configuration.engine(of: release.identity.family))
            facts.contextLength = plan?.contextLength ?? facts.contextLength
            return facts
        }
        known.withLock { $0.facts[weights] = facts }
        model.facts = facts
        return model
    }

    /// The releases that answer with text: the live one of each family, or its only one.
    private func releases() async throws -> [InstalledRelease] {
        let all = try await hearth.manager.installed().filter(hearth.manager.canAnswer)
        let families = Dictionary(grouping: all) { $0.identity.family }
        return all.filter { release in
            release.isActive || families[release.identity.family]?.count == 1
        }
    }

    private static func served(_ release: InstalledRelease, name: String? = nil) -> ServedModel {
        let identity = release.identity
        let family = identity.family.name
        var model = ServedModel(name: name ?? family, created: release.receipt.installed)
        if let variant = identity.variant?.name {
            model.aliases = ["\(family):\(variant)", "\(family)@\(identity.version):\(variant)"]
            model.variant = variant
        }
        model.aliases.append("\(family)@\(identity.version)")
        model.size = release.receipt.totalSize
        model.digest = release.receipt.weights?.digest.hex ?? ""
        model.fileName = release.weights?.lastComponent ?? ""
        model.family = family
        model.format = release.receipt.format.rawValue
        return model
    }

    package func model(_ name: String?) async throws -> ServedModel {
        guard let name, !name.isEmpty else { return try await usual() }
        guard name.utf8.count <= 256 else { throw APIFailure.noModel(name) }
        let known = try await models()
        if let model = known.first(where: { $0.answers(to: name) }) { return model }
        // A release that is installed beside the live one of its family.
        if let release = try await release(name) {
            return try await served(release, name: name)
        }
        guard settings.answersAnyName else { throw APIFailure.noModel(name) }
        return try await usual()
    }

    /// The installed model of a name; the default model answers no other name.
    func installed(_ name: String) async throws -> ServedModel {
        if let model = try await models().first(where: { $0.answers(to: name) }) { return model }
        guard name.utf8.count <= 256, let release = try await release(name) else { throw APIFailure.noModel(name) }
        return Self.served(release, name: name)
    }

    /// The default model.
    private func usual() async throws -> ServedModel {
        let known = try await models()
        if let name = settings.defaultModel,
            let model = known.first(where: { $0.answers(to: name) })
        {
            return model
        }
        guard let only = known.first, known.count == 1 else {
            throw APIFailure(
                .modelMissing,
                known.isEmpty
                    ? "no model is installed"
                    : "the request names no model, and several are installed: "
                        + known.prefix(20).map(\.name).joined(separator: ", "), field: "model")
        }
        return only
    }

    /// An installed release by its exact name; `nil` for every other text.
    private func release(_ name: String) async throws -> InstalledRelease? {
        let plain = name.hasSuffix(":latest") ? String(name.dropLast(":latest".count)) : name
        // A text that is no reference names no model.
        guard let reference = try? ModelReference(parsing: plain),
            case .family(let family, let version, let variant) = reference
        else { return nil }
        do {
            return try await hearth.manager.installed(family, version: version, variant: variant)
        } catch let error as StoreError where error.code == .notInstalled {
            return nil
        } catch let error as DeliveryError where error.code == .ambiguous {
            throw APIFailure(.modelMissing, error.message, field: "model")
        }
    }

    // MARK: Engines

    package func engine(for model: ServedModel) async throws -> any InferenceEngine {
        try await live(model)
    }

    /// The model whose engine answers.
    private func base(_ model: ServedModel) async throws -> ServedModel {
        guard let preset = model.preset else { return model }
        return try await self.model(preset.model)
    }

    private func live(_ model: ServedModel) async throws -> LiveModel {
        let model = try await base(model)
        if let live = known.withLock({ $0.live[model.name] }) { return live }
        let live = try await found(model)
        known.withLock { $0.live[model.name] = live }
        return live
    }

    private func found(_ model: ServedModel) async throws -> LiveModel {
        // The bare family follows updates.
        if model.name == model.family, let family = Family(model.family) {
            return try await hearth.find(.family(family, version: nil, variant: nil), policy: .localOnly)
        }
        guard let release = try await release(model.name) else { throw APIFailure.noModel(model.name) }
        return hearth.model(of: release)
    }

    package func details(of model: ServedModel) async throws -> ModelDetails {
        let release = try await release(base(model).name)
        guard let file = release?.weights else { throw APIFailure.noModel(model.name) }
        return try await blocking {
            let header = try GGUFHeader(file: file, extent: .metadata)
            var details = ModelDetails()
            details.template = header.metadata["tokenizer.chat_template"]?.text ?? ""
            details.metadata = JSONMembers(header.metadata.compactMapValues(\.plain))
            return details
        }
    }

    package func loaded() async -> [LoadedModel] {
        do {
            var loaded: [LoadedModel] = []
            for model in try await models() where model.preset == nil {
                guard try await live(model).isLoaded else { continue }
                loaded.append(LoadedModel(model: model, bytes: model.size, expires: warmth.expiry(of: model.name)))
            }
            return loaded
        } catch {
            Log.write(.warning, "api", "the loaded models cannot be listed: \(error)")
            return []
        }
    }

    package func isAnswering(_ model: ServedModel) async -> Bool {
        do {
            return try await live(model).isInUse
        } catch {
            // A model that cannot be found answers nothing.
            return false
        }
    }

    package func used(_ model: ServedModel, keepAlive: Duration?) async {
        // A model that was removed meanwhile is not kept.
        guard let model = try? await base(model) else { return }
        let limit = keepAlive ?? settings.keepAlive
        warmth.used(model.name, keepAlive: limit) { [weak self] in
            await self?.unload(model)
        }
        guard limit != .zero else { return }
        // The route of a conversation must not unload what a client keeps.
        do { try await live(model).keep() } catch {}  // it was removed meanwhile
    }

    /// Keeps a model warm that a conversation of the page has used, at least as long as clients keep it.
    func usedByPage(_ family: String) async {
        // A model that was removed meanwhile needs no warmth.
        guard let model = try? await base(model(family)) else { return }
        warmth.used(model.name, keepAlive: settings.keepAlive, mayShorten: false) { [weak self] in
            await self?.unload(model)
        }
    }

    /// Loads a model that fits beside those in memory, and keeps it as long as an idle one stays.
    /// - Parameter name: `nil` for the default model.
    /// - Throws: `APIFailure`; errors of the load.
    func open(_ name: String?) async throws {
        guard settings.keepAlive != .zero else { return }
        let model = try await base(model(name))
        try await live(model).loadBesideOthers()
        await usedByPage(model.name)
    }

    package func unload(_ model: ServedModel) async {
        // A model that was removed meanwhile is unloaded already.
        guard let model = try? await base(model) else { return }
        warmth.forget(model.name)
        do {
            try await live(model).retire()
        } catch {
            Log.write(.info, "api", "\(model.name) cannot be unloaded: \(error)")
        }
    }

    // MARK: Delivery

    package func pull(_ name: String, progress: @escaping @Sendable (PullStep) -> Void) async throws {
        let plain = name.hasSuffix(":latest") ? String(name.dropLast(":latest".count)) : name
        // A text that is no reference names no model.
        guard plain.utf8.count <= 256, let reference = try? ModelReference(parsing: plain) else {
            throw APIFailure.noModel(name)
        }
        switch reference {
        case .family, .hub: break
        // A client names no paths and no addresses.
        case .file, .manifest, .registry: throw APIFailure.noModel(name)
        }
        defer { forget() }
        do {
            _ = try await hearth.manager.pull(reference) { step in
                progress(
                    PullStep(
                        status: "pulling \(plain)", digest: plain, completed: step.completedBytes,
                        total: step.totalBytes))
            }
        } catch let error as any HearthFailure {
            throw APIFailure(.notFound, error.errorDescription ?? error.message, code: error.codeText)
        }
    }

    package func delete(_ name: String) async throws {
        if let preset = try await models().first(where: { $0.answers(to: name) })?.preset {
            try await blocking { [home = hearth.home] in try preset.remove(home) }
            return forget()
        }
        guard let release = try await release(name) else { throw APIFailure.noModel(name) }
        let identity = release.identity
        defer { forget() }
        try await hearth.manager.remove(
            identity.family, version: identity.version, variant: identity.variant)
    }

    package func keep(_ preset: Preset) async throws {
        let models = try await models()
        if let taken = models.first(where: { $0.answers(to: preset.name) }), taken.preset == nil {
            throw APIFailure(.conflict, "a model has the name `\(preset.name)`", field: "model")
        }
        var preset = preset
        let source = try await model(preset.model)
        // A preset of a preset has the other one's model, and what it does not set itself.
        if let other = source.preset { preset = try preset.over(other) }
        try await blocking { [home = hearth.home, preset] in try preset.save(home) }
        forget()
    }
}

extension GGUFValue {
    /// The value as JSON; `nil` for lists and long texts.
    fileprivate var plain: JSONValue? {
        switch self {
        case .bool(let flag): .boolean(flag)
        case .string(let text): .string(text)
        case .float32(let number): number.isFinite ? .number("\(number)") : nil
        case .float64(let number): number.isFinite ? .number("\(number)") : nil
        case .array, .longString: nil
        default: integer.map { .integer($0) }
        }
    }
}
