import Foundation
import Hearth
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthInference
import HearthStore

/// The name and files of the model in a conversation.
struct ChatModel: Sendable {
    let name: String
    let weights: Path
    /// The projector for pictures; `nil` for a model that reads text only.
    var projector: Path?
    /// The folder of installed models, `nil` for a user's file.
    let store: Path?
    /// The installed release and its manager, `nil` for a user's file.
    var installed: (release: InstalledRelease, manager: ModelManager)?
    /// Prevents other processes from removing the model during the conversation; `nil` for a user's file.
    let lease: ReleaseLease?

    /// Finds the model of a reference; by default, the only installed one that answers.
    /// - Throws: ``CommandError`` with `no-model` or `several-models`; `StoreError`, `DeliveryError`.
    static func find(_ reference: ModelReference?, ignoresMemory: Bool, context: CommandContext) async throws
        -> ChatModel
    {
        switch reference {
        case .file(let path): return ChatModel(name: path.lastComponent, weights: path, store: nil, lease: nil)
        case .family(let family, let version, let variant):
            let manager = try await context.manager(ignoresMemory: ignoresMemory)
            let release = try await manager.installed(family, version: version, variant: variant)
            return try await ChatModel(release, in: manager)
        case .manifest, .hub:
            throw CommandError(
                .noModel, "chat runs installed models and .gguf files",
                context: ErrorContext(remedy: "Bring the model with 'hearth pull' first, then name its family."))
        case nil: return try await theOnlyOne(try await context.manager(ignoresMemory: ignoresMemory))
        }
    }

    /// Whether an error means that a model is not on this device.
    static func isNotHere(_ error: any Error) -> Bool {
        switch error {
        case let error as CommandError: error.code == .noModel
        case let error as StoreError: error.code == .notInstalled
        default: false
        }
    }

    /// The active release of the only family. Among several families, models for embeddings don't count.
    private static func theOnlyOne(_ manager: ModelManager) async throws -> ChatModel {
        var families = Set(try await manager.installed().map(\.identity.family)).sorted()
        if families.count > 1 {
            var answering: [Family] = []
            for family in families {
                // Keep unreadable models: they are reported by name later.
                let weights = try? await manager.installed(family).weights
                if await weights?.isOfEncoderOnly() != true { answering.append(family) }
            }
            if !answering.isEmpty { families = answering }
        }
        guard let family = families.first else {
            throw CommandError(
                .noModel, "no model is installed",
                context: ErrorContext(
                    remedy: "Bring one with 'hearth pull REF', or give the path of a .gguf file."))
        }
        guard families.count == 1 else {
            throw CommandError(
                .severalModels, "several models are installed: \(families.map(\.name).joined(separator: ", "))",
                context: ErrorContext(
                    remedy: "Name one, or choose it for good with 'hearth config set defaultModel \(family)'."))
        }
        return try await ChatModel(manager.installed(family), in: manager)
    }

    /// The model of an installed release, kept on this device by its lease.
    /// - Throws: ``CommandError`` with `no-model` for a release without weights; `StoreError`.
    init(_ release: InstalledRelease, in manager: ModelManager) async throws {
        guard release.weights != nil else {
            throw CommandError(
                .noModel, "\(release.identity) has no weights to run",
                context: ErrorContext(model: release.identity.description))
        }
        let lease = try await manager.store.lease(release.identity)
        // Use the artifact if the release needs one.
        let weights = try await manager.weightsToOpen(of: release, under: lease)
        self.init(name: release.identity.description, weights: weights, store: manager.store.layout.home, lease: lease)
        projector = release.projector
        installed = (release, manager)
    }

    private init(name: String, weights: Path, store: Path?, lease: ReleaseLease?) {
        self.name = name
        self.weights = weights
        self.store = store
        self.lease = lease
    }
}

extension Path {
    /// Whether the file is a model for embeddings only. For an unreadable file, the load reports the error.
    func isOfEncoderOnly() async -> Bool {
        (try? await blocking { try GGUFHeader(file: self, extent: .metadata).isEncoderOnly }) ?? false
    }
}

/// A model with its loaded engine.
struct OpenedModel: Sendable {
    let model: ChatModel
    let engine: any InferenceEngine
}
