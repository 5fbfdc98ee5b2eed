import Foundation
import Hearth
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthInference
import HearthStore

/// The model of a conversation, by name.
struct ChatModel: Sendable {
    let name: String
    let engine: LiveModel

    /// What a command wants of a model.
    enum Purpose: Sendable, Hashable { case answers, vectors }

    /// Finds the model of a reference; by default, the only installed one that answers, or for vectors the only one that
    /// is made for them.
    /// - Parameter projector: the file with which a model file reads pictures.
    /// - Throws: ``CommandError`` with `no-model` or `several-models`; `StoreError`, `DeliveryError`; `LLMError` for a
    ///   model that embeds only.
    static func find(
        _ reference: ModelReference?, projector: Path? = nil, for purpose: Purpose = .answers, in hearth: Hearth,
        context: CommandContext
    ) async throws -> ChatModel {
        switch reference {
        case .file(let path) where try await blocking({ try LocalFileSystem().status(at: path)?.kind == .folder }):
            // No engine opens a folder: it is imported, and stays installed.
            var options = PullOptions()
            options.retryHeldBack = true
            let offer = try await hearth.manager.resolve(.file(path), options: options)
            let outcome = try await context.pull(offer, with: hearth.manager, options: options, format: .text)
            return try await ChatModel(outcome.release, for: purpose, in: hearth)
        case .file(let path):
            if purpose == .answers, await path.isOfEncoderOnly() { throw LLMError.encoderOnly }
            let files = ReleaseFiles(weights: path, projector: projector)
            return ChatModel(name: path.lastComponent, engine: hearth.unloaded(files))
        case .family(let family, let version, let variant):
            let manager = try await context.recovered(hearth)
            let release = try await manager.installed(family, version: version, variant: variant)
            return try await ChatModel(release, for: purpose, in: hearth)
        case .hub(let repository):
            let manager = try await context.recovered(hearth)
            guard let release = try await manager.installed(repository) else { throw notInstalled("\(repository)") }
            return try await ChatModel(release, for: purpose, in: hearth)
        case .registry(let model):
            let manager = try await context.recovered(hearth)
            guard let release = try await manager.installed(model) else { throw notInstalled("\(model)") }
            return try await ChatModel(release, for: purpose, in: hearth)
        case .manifest:
            throw CommandError(
                .noModel, "this command runs installed models and .gguf files",
                context: ErrorContext(remedy: "Bring the model with 'hearth pull' first, then name its family."))
        case nil: return try await theOnlyOne(try await context.recovered(hearth), for: purpose, in: hearth)
        }
    }

    private static func notInstalled(_ name: String) -> StoreError {
        StoreError(
            .notInstalled, "\(name) is not installed", context: ErrorContext(model: name, remedy: "Pull it first."))
    }

    /// Whether an error means that a model is not on this device.
    static func isNotHere(_ error: any Error) -> Bool {
        switch error {
        case let error as CommandError: error.code == .noModel
        case let error as StoreError: error.code == .notInstalled
        default: false
        }
    }

    /// The active release of the only family. Among several families, only those made for the purpose count.
    private static func theOnlyOne(
        _ manager: ModelManager, for purpose: Purpose, in hearth: Hearth
    ) async throws -> ChatModel {
        let installed = try await manager.installed()
        var families = Set(installed.map(\.identity.family)).sorted()
        if families.count > 1 {
            // Classifiers, and models without an engine here, answer nothing.
            let able = Set(installed.filter(manager.canAnswer).map(\.identity.family)).sorted()
            if !able.isEmpty { families = able }
        }
        if families.count > 1 {
            let encoders = try await encoders(among: families, manager)
            let fitting = families.filter { encoders.contains($0) == (purpose == .vectors) }
            if !fitting.isEmpty { families = fitting }
        }
        guard let family = families.first else {
            let models = try await manager.suggestions().models
            let recommended = SuggestedModel.recommended(in: models).map {
                "Bring the one that suits this device with 'hearth pull \($0.model.family)' (about \(ByteCount($0.size)))"
            }
            throw CommandError(
                .noModel, "no model is installed",
                context: ErrorContext(
                    remedy: "\(recommended ?? "Bring one with 'hearth pull REF'"), or give the path of a .gguf file."))
        }
        guard families.count == 1 else {
            throw CommandError(
                .severalModels, "several models are installed: \(families.map(\.name).joined(separator: ", "))",
                context: ErrorContext(
                    remedy: purpose == .vectors
                        ? "Name one with --model."
                        : "Name one, or choose it for good with 'hearth config set defaultModel \(family)'."))
        }
        return try await ChatModel(manager.installed(family), for: purpose, in: hearth)
    }

    /// The families whose live model is made for embeddings.
    private static func encoders(among families: [Family], _ manager: ModelManager) async throws -> Set<Family> {
        var encoders: Set<Family> = []
        for family in families {
            // Unreadable models are reported by name later.
            let weights = try? await manager.installed(family).weights
            if await weights?.isOfEncoderOnly() == true { encoders.insert(family) }
        }
        return encoders
    }

    /// Finds the model for embeddings: the only installed one that is made for them, else the configured one.
    static func embedder(_ configuration: Configuration, in hearth: Hearth, _ context: CommandContext) async throws
        -> ChatModel
    {
        let manager = try await context.recovered(hearth)
        let families = Set(try await manager.installed().map(\.identity.family)).sorted()
        let reference: ModelReference?
        if try await encoders(among: families, manager).isEmpty {
            reference = try configuration.defaultModel.map { try ModelReference(parsing: $0) }
        } else {
            reference = nil
        }
        return try await find(reference, for: .vectors, in: hearth, context: context)
    }

    /// The model of an installed release.
    /// - Throws: ``CommandError`` with `no-model` for a release without weights; `LLMError` for one that embeds only.
    init(_ release: InstalledRelease, for purpose: Purpose = .answers, in hearth: Hearth) async throws {
        guard let weights = release.weights else {
            throw CommandError(
                .noModel, "\(release.identity) has no weights to run",
                context: ErrorContext(model: release.identity.description))
        }
        if purpose == .answers, await weights.isOfEncoderOnly() { throw LLMError.encoderOnly }
        self.init(name: release.identity.description, engine: hearth.model(of: release))
    }

    private init(name: String, engine: LiveModel) {
        self.name = name
        self.engine = engine
    }
}

extension Path {
    /// Whether the file is a model for embeddings only. For an unreadable file, the load reports the error.
    func isOfEncoderOnly() async -> Bool {
        (try? await blocking { try GGUFHeader(file: self, extent: .metadata).isEncoderOnly }) ?? false
    }
}
