import Hearth
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthHTTP
import HearthPublishing
import HearthStore

extension CommandContext {
    /// The models of this home, with the configuration and environment of this command.
    /// - Parameter ignoresMemory: whether this command accepts models that need more memory than the device has; the
    ///   settings may allow that for all commands.
    func hearth(ignoresMemory: Bool = false) async throws -> Hearth {
        var configuration = try await configuration
        if ignoresMemory { configuration.ignoresMemory = true }
        return try await hearth(configuration)
    }

    /// The same with a changed configuration.
    func hearth(_ configuration: Configuration) async throws -> Hearth {
        var surroundings = Surroundings()
        surroundings.environment = environment
        surroundings.http = DefaultHTTPClient(version: HearthCommand.version)
        surroundings.time = time
        surroundings.deviceMemory = await blocking { [usableMemory] in usableMemory() }
        surroundings.bandwidth = bandwidth
        surroundings.engines = engines
        surroundings.asksForRoots = true
        surroundings.tellMemory = { [console] in console.say($0) }
        surroundings.network = network
        surroundings.clouds = clouds
        return try Hearth(home: home, configuration: configuration, surroundings)
    }

    /// The manager of this home's models, after the recovery of what ended processes left.
    func manager(ignoresMemory: Bool = false) async throws -> ModelManager {
        try await recovered(hearth(ignoresMemory: ignoresMemory))
    }

    /// The manager of the models, after the recovery of what ended processes left.
    func recovered(_ hearth: Hearth) async throws -> ModelManager {
        let manager = hearth.manager
        do {
            for rollback in try await manager.recover() {
                let successor = rollback.to?.identity.description ?? "the model bundled with the app"
                console.complain("\(rollback.from) was replaced by \(successor): \(rollback.reason).")
            }
        } catch let error as any HearthFailure {
            // If the home is in use or read-only, recovery waits for the next start.
            Log.write(.info, "nothing was recovered: \(error)")
        }
        return manager
    }
}

extension CommandContext {
    /// Tells a person that an origin's signatures end soon.
    func warn(_ expiring: ExpiringSignatures?) {
        if let expiring { console.say(expiring.sentence) }
    }

    /// The artifact that a conversation opens instead of a release's weights; `nil` if the settings ignore memory.
    func artifact(of release: InstalledRelease, in store: ModelStore) async throws -> Artifact? {
        // If the latest artifact was refused, older ones are not opened either.
        guard try await !configuration.ignoresMemory, try await store.refusedArtifact(of: release) == nil else {
            return nil
        }
        return try await store.artifact(of: release)
    }

    /// The refused artifact of a release, with the reason.
    func refusedArtifact(of release: InstalledRelease, in store: ModelStore) async throws -> RefusedArtifact? {
        try await configuration.ignoresMemory ? nil : store.refusedArtifact(of: release)
    }
}

extension RefusedArtifact {
    /// The kind of artifact and the reason for its refusal.
    var text: String { "\(summary); \(reason)" }
}

extension ValueKind where Value == ReleaseChoice {
    /// The name of installed releases.
    static var installedName: Self { named("a model's name") }
    /// The releases that an edit of a catalog is about.
    static var publishedReleases: Self { named("a release, as family@version or family@version:variant") }

    private static func named(_ expectation: String) -> Self {
        ValueKind(expectation, completion: .installed) { word in
            switch try ModelReference(word: word) {
            case .family(let family, let version, let variant):
                return ReleaseChoice(family: family, version: version, variant: variant)
            // A repository of the Hub that was pulled by its own name. A part of it is named as `list` shows it.
            case .hub(let repository) where repository.revision == nil && repository.file == nil:
                return repository.family.map { ReleaseChoice(family: $0, version: nil, variant: nil) }
            case .registry(let repository):
                return repository.family.map { ReleaseChoice(family: $0, version: nil, variant: nil) }
            case .hub, .file, .manifest: return nil
            }
        }
    }
}

extension ValueKind where Value == ModelReference {
    /// A reference to a model, installed or not.
    static var modelReference: Self { ValueKind("a model", completion: .models) { try ModelReference(word: $0) } }
}

extension ValueKind where Value == Family {
    /// The family of installed releases.
    static var installedFamily: Self { ValueKind("a model's name", completion: .installed) { Family($0) } }
}

extension ModelReference {
    /// Parses a word of the command line.
    /// - Throws: `CatalogError`, as wrong usage.
    init(word: String) throws {
        do {
            try self.init(parsing: word)
        } catch let error as CatalogError {
            throw CatalogError(
                error.code, error.message, context: error.context, disposition: .usage, underlying: error.underlying)
        }
    }
}

extension Ineligibility {
    /// The reason as the end of a sentence, with formatted sizes.
    var sentenceEnd: String {
        if case .notEnoughMemory(let needed) = self {
            return "needs \(ByteCount(needed)) of memory, more than this device has"
        }
        return reason
    }
}

extension Flag {
    /// An option of `pull`, `update` and `list`.
    static let refresh = Flag("refresh", "Ask the origins again, even if their last answer is still fresh.")

    /// An option of `pull`, `use` and `chat`.
    static let ignoreMemory = Flag(
        "ignore-memory", "Accept a model that needs more memory than this device has.")
}

extension Freshness {
    /// The freshness of the list as a word for programs.
    var code: String {
        switch self {
        case .fetched: "fetched"
        case .revalidated: "revalidated"
        case .fresh: "fresh"
        case .cached: "cached"
        case .bundled: "bundled"
        }
    }
}
