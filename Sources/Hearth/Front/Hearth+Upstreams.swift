import HearthBase
import HearthInference
import HearthRouting

extension Hearth {
    /// The names of the models of other servers and of the aliases, for lists of a conversation's models.
    package func otherModels(_ settings: Configuration) async -> [String] {
        guard !settings.upstreams.isEmpty || !settings.aliases.isEmpty else { return [] }
        let remote = await upstreams.models().map { "\($0.server.name)/\($0.model.id)" }
        return settings.aliases.keys.sorted() + remote
    }

    /// The engine of a conversation that names a model of another server, or an alias; `nil` for other names. A model of this
    /// device comes before an alias with its name. Only the parts of a conversation that the settings share are sent.
    package func namedEngine(
        _ name: String, _ settings: Configuration, local: any LocalEngines
    ) async -> (any InferenceEngine)? {
        if let engine = await upstreams.engine(name) { return engine.sharing(settings.cloud.shares) }
        guard let targets = settings.aliases[name], await !isInstalled(name) else { return nil }
        let members = targets.map { [upstreams] target in
            upstreams.owns(target)
                ? AliasEngine.Member(target, isRemote: true) {
                    try await upstreams.required(target).sharing(settings.cloud.shares)
                } : AliasEngine.Member(target, isRemote: false) { try await local.engine(for: target) { _ in } }
        }
        return AliasEngine(name, members, time: surroundings.time)
    }

    private func isInstalled(_ name: String) async -> Bool {
        // A home that cannot be read has no models.
        (try? await manager.installed().contains { $0.identity.family.name == name }) ?? false
    }
}
