import Foundation
import HearthBase
import HearthCatalog
import HearthStore

/// Models of the Hub: repositories that a person names, short names of the catalog, and searches.
extension ModelManager {
    /// Judges the models of the catalog for this device, and recommends one. The Hub is not asked.
    /// - Throws: `CancellationError`.
    package func suggestions(
        _ policy: CachePolicy = .asPublished
    ) async throws -> (models: [SuggestedModel], problem: (any Error)?) {
        guard let listed = try await sources.hubModels(policy) else { return ([], nil) }
        let bandwidth = await blocking { [device] in device.bandwidth() }
        let models = SuggestedModel.list(listed.models, memory: deviceMemory, bandwidth: bandwidth)
        return (models, listed.problem)
    }

    /// Searches the Hub for models in GGUF files.
    /// - Throws: `CatalogError`; `HTTPError`; `CancellationError`.
    package func search(_ words: String) async throws -> HubSearchResult {
        try await sources.search(words, rule: QuantizationRule(memory: deviceMemory))
    }

    /// Finds the installed release of a repository: under its own family, or under a short name of the catalog.
    /// - Returns: the active one; `nil` if there is none, or none of the named quantization or file.
    package func installed(_ reference: HubReference) async throws -> InstalledRelease? {
        let releases = try await installed().filter { release in
            guard case .hub(let source)? = ReleaseOrigin(release.receipt).repository else { return false }
            return source.path.lowercased() == reference.path.lowercased()
                && (reference.revision == nil || reference.revision == source.revision)
        }
        let fitting = releases.filter { release in
            if let wanted = reference.quantization { return release.quantization == wanted }
            if let name = reference.fileName { return release.receipt.files.first?.name.string == name }
            return reference.patterns.isEmpty
                || release.receipt.files.contains { file in
                    reference.patterns.contains { $0.matches(file.name.string) }
                }
        }
        return fitting.first(where: \.isActive) ?? fitting.last
    }

    /// Resolves a repository that a person names: that counts as naming the version.
    func resolve(_ reference: HubReference, _ options: PullOptions) async throws -> Offer {
        let listing = try await sources.source(.hub(reference)).listing(.now)
        let rule = QuantizationRule(memory: device.memory)
        return try Resolver(
            catalog: listing.catalog, device: device.profile(forNamed: listing.catalog),
            ignoresMemory: device.ignoresMemory || options.ignoreMemory, quantizations: rule
        ).offer(of: try listing.catalog.onlyFamily(url: listing.location))
            .from(listing).named(true).of(reference)
    }

    /// Resolves a short name of the catalog; `nil` if it lists no such model, or the catalog is off.
    func resolve(
        short family: Family, version: ReleaseVersion?, variant: Variant?, _ options: PullOptions
    ) async throws -> Offer? {
        let models = try await sources.hubModels(options.refresh ? .now : .asPublished)?.models ?? []
        guard let model = models.first(where: { $0.family == family }) else { return nil }
        let listing = try await sources.source(.hub(model.repository)).listing(.now)
        let bandwidth = await blocking { [device] in device.bandwidth() }
        let rule = QuantizationRule(memory: device.memory, bandwidth: bandwidth, activeShare: model.activeShare)
        let state = try await store.state(of: family)
        var offer = try Resolver(
            catalog: listing.catalog, device: device.profile(forNamed: listing.catalog),
            heldBack: options.retryHeldBack ? [] : state.heldBackVersions,
            ignoresMemory: device.ignoresMemory || options.ignoreMemory, quantizations: rule
        ).offer(of: family, version: version, variant: variant).from(listing).of(model.repository)
        offer.retryHeldBack = offer.isNamed || options.retryHeldBack
        offer.release.describe(as: model)
        return offer
    }

    /// Throws that neither origins nor the catalog list a family, with similar names of both.
    func refuseUnknown(_ family: Family, beside error: any Error) async throws -> Never {
        guard let models = try await sources.hubModels()?.models else { throw error }
        var known = Catalog(releases: [])
        if !sources.origins.isEmpty || !sources.bundled.isEmpty {
            known.releases = try await sources.reports(.asPublished).compactMap(\.listing).flatMap(\.catalog.releases)
        }
        let near = NearNames.of(
            Set(known.families + models.map(\.family)).sorted(), to: family.name
        ) { $0.name }
        throw CatalogError(
            .unknownFamily, "there is no model named \(family.name.quoted)",
            context: ErrorContext(
                model: family.name, field: "hub", expected: near.map(\.name).joined(separator: ", "),
                found: family.name,
                remedy: near.isEmpty
                    ? "Search the Hub for it."
                    : "Did you mean \(near.map(\.name).joined(separator: " or "))? Otherwise search the Hub."))
    }
}

extension Offer {
    /// The offer of a repository. Commits have no order.
    fileprivate func of(_ reference: HubReference) -> Self {
        var offer = self
        offer.isOrdered = false
        offer.reference = .hub(reference)
        if let wanted = reference.quantization, let own = release.quantization, own != wanted,
            own.name != "UD-" + wanted.name
        {
            offer.reason = .nearest(to: wanted)
        }
        return offer
    }
}

extension Release {
    /// Adds what the catalog says about the model.
    mutating func describe(as model: HubModel) {
        name = model.name
        summary = model.summary
        license = license ?? model.license
    }
}

extension InstalledRelease {
    /// The quantization of the weights by the name of their file.
    fileprivate var quantization: QuantizationLabel? {
        receipt.files.lazy.compactMap { QuantizationLabel(file: $0.name) }.first
    }
}
