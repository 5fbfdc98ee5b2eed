import HearthBase
import HearthCatalog
import HearthDelivery
import HearthStore
import HearthTransfer

extension LibraryRow {
    /// The row of a model of the catalog that is not on this device. Its sizes are estimates.
    package init(_ suggested: SuggestedModel) {
        let info = ModelInfo(suggested)
        self.init(info)
        let objection = suggested.fits ? nil : Ineligibility.notEnoughMemory(needed: info.requiredMemory)
        take(.offered(OfferedModel(info, objection: objection)))
        isRecommended = suggested.isRecommended
    }

    /// The row of a model that is known by its unfinished transfer alone; `nil` for a transfer without a release.
    package init?(_ transfer: TransferSummary) {
        guard let identity = transfer.release, let reference = transfer.plan?.purpose?.reference else { return nil }
        self.init(
            ModelInfo(
                identity: identity, size: transfer.totalBytes ?? 0, requiredMemory: 0, reference: reference))
    }
}

extension ModelManager {
    /// The model of the catalog with a short name, and the release of it that this device gets. Asks the Hub.
    /// - Parameter variant: the variant of an unfinished download, which goes on; `nil` for the one that suits the device.
    /// - Throws: `CatalogError`, `HTTPError`, ``DeliveryError``; the objection if this device may not have the model.
    package func offer(short family: Family, variant: Variant?) async throws -> ModelInfo {
        let reference = ModelReference.family(family, version: nil, variant: variant)
        let offer = try await resolve(reference)
        if let objection = offer.objection { throw objection.failure }
        // The variant that was chosen now is the one that is fetched.
        return ModelInfo(
            offer.release, reference: .family(family, version: nil, variant: offer.release.identity.variant))
    }
}

extension ReleaseRow {
    /// The models of the catalog, as listings show them.
    /// - Parameters:
    ///   - listed: the families that an origin lists, which come from there.
    ///   - installed: the releases on this device.
    package static func catalog(
        _ suggested: [SuggestedModel], besides listed: Set<Family> = [], installed: [InstalledRelease]
    ) -> [ReleaseRow] {
        let here = Dictionary(
            installed.map { ($0.identity.family, $0) }, uniquingKeysWith: { $0.isActive ? $0 : $1 })
        return suggested.filter { !listed.contains($0.model.family) }
            .map { ReleaseRow($0, installed: here[$0.model.family]) }
    }

    /// Whether each word is part of the row's names.
    package func matches(_ words: [String]) -> Bool {
        let text = [family, catalog?.name, catalog?.repository, catalog?.summary, catalog?.kind.rawValue]
            .compactMap(\.self).joined(separator: " ").lowercased()
        return words.allSatisfy { text.contains($0.lowercased()) }
    }
}
