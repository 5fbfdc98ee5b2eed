import Foundation
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthHTTP
import HearthStore
import HearthTestSupport
import HearthTransfer

/// What the crash tests let a process do with releases, with an engine that is played.
struct ActivationModes {
    let manager: ModelManager

    init(home: Path, bundled: Path?, disk: any FileSystem) {
        manager = ModelManager(
            home: home, origins: [], fileSystem: disk, network: UnmonitoredNetwork(), deviceMemory: 1 << 40,
            bundled: bundled.map { [BundledSource(folder: $0)] } ?? [], preparer: PlayedPreparer(), probe: PlayedProbe()
        )
    }

    /// `activate RELEASE`, `answer RELEASE`, `repair RELEASE` (as `FAMILY@VERSION`), `pull REFERENCE`, `rollback FAMILY`, `prune` or
    /// `recover`.
    func run(_ words: [String]) async throws -> Bool {
        switch words.first {
        case "recover": try await manager.recover()
        case "rollback":
            guard words.count == 2, let family = Family(words[1]) else { return false }
            try await manager.rollback(family)
        case "pull":
            guard words.count == 2 else { return false }
            _ = try await manager.pull(ModelReference(parsing: words[1]))
        case "prune": _ = try await manager.collect(manager.collectionPlan(budget: nil))
        case "activate", "answer", "repair":
            guard words.count == 2,
                case .family(let family, let version?, let variant) = try ModelReference(parsing: words[1])
            else { return false }
            let identity = ReleaseIdentity(family: family, version: version, variant: variant)
            switch words[0] {
            case "activate": try await manager.activate(identity)
            case "repair": _ = try await manager.repair(identity)
            default:
                try await manager.store.guarding(identity, .load) { print("loading") }
                try await manager.store.guarding(identity, .generate) { print("answering") }
                try await manager.recordAnswer(identity, seconds: 1)
            }
        default: return false
        }
        return true
    }
}

/// Copies the weights.
private struct PlayedPreparer: ReleasePreparer {
    func recipe(for release: InstalledRelease) async throws -> Recipe? {
        Recipe(
            engine: "played", engineVersion: "1", settings: "copy", fileName: "copy.bin", expectedSize: 1,
            summary: "a copy")
    }

    func build(
        _ recipe: Recipe, of release: InstalledRelease, at target: Path, progress: @escaping @Sendable (Double) -> Void
    ) async throws {
        guard let weights = release.weights else { return }
        try await blocking { try FileManager.default.copyItem(at: weights.url, to: target.url) }
    }
}

/// Answers everything.
private struct PlayedProbe: ReleaseProbe {
    func probe(_ candidate: ProbeCandidate) async throws -> ProbeReport? {
        ProbeReport(
            text: "fine", generatedTokens: 2, loadSeconds: 0, answerSeconds: 0, tokensPerSecond: 1,
            peakMemoryBytes: nil)
    }
}
