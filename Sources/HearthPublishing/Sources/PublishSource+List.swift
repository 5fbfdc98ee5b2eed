import HearthBase
import HearthCatalog

extension PublishSource {
    /// The releases of a request, with their companions. Blocks.
    /// - Throws: as ``init(_:companions:request:fileSystem:flag:)``; ``PublishingError`` with `release-twice`.
    static func list(
        _ request: PublishRequest, fileSystem: any FileSystem, flag: StopFlag
    ) throws -> [PublishSource] {
        let sorting = try PublishSorting(request, fileSystem: fileSystem)
        let companions = try sorting.companions.map {
            try PublishSource.companion($0.path, role: $0.role, fileSystem: fileSystem)
        }
        let sources = try sorting.models.map { model in
            try PublishSource(model, companions: companions, request: request, fileSystem: fileSystem, flag: flag)
        }
        try refuseTheSameReleaseTwice(sources)
        try refuseCompanionsOfSeveral(sources, companions)
        return sources
    }

    /// Refuses companions if the models are of several families.
    private static func refuseCompanionsOfSeveral(_ sources: [PublishSource], _ companions: [PublishPart]) throws {
        let families = Set(sources.map(\.identity.family)).sorted()
        guard families.count > 1, let companion = companions.first else { return }
        throw PublishingError.refused(
            companion.path, "it does not say which of \(families.map(\.name).joined(separator: ", ")) it belongs to",
            "Publish the models one by one.")
    }

    private static func refuseTheSameReleaseTwice(_ sources: [PublishSource]) throws {
        var paths: [ReleaseIdentity: Path] = [:]
        for source in sources {
            guard let other = paths.updateValue(source.path, forKey: source.identity) else { continue }
            throw PublishingError(
                .releaseTwice, "\(other) and \(source.path) would both be \(source.identity)",
                context: ErrorContext(
                    model: source.identity.description, file: source.path.string,
                    remedy: "Publish them one by one, each with its own name, version or variant."))
        }
    }
}
