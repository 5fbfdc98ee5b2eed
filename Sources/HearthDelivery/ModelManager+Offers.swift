import Foundation
import HearthBase

/// What a family is offered as on this device: the release it would get, or the one it has.
public struct FamilyOffer: Sendable, Hashable {
    public let release: Release
    /// What to pull to get exactly this release.
    public let reference: ModelReference
    /// Whether it takes the place of what is in use.
    public let isUpdate: Bool
    /// Why this device may not have it, `nil` if it may.
    public let objection: Ineligibility?
}

/// What the sources offer this device.
public struct FamilyOffers: Sendable {
    /// Each family once.
    public var offers: [FamilyOffer]
    /// Why what is in use stays, for those families that a source was asked about.
    public var stays: [Family: NoUpdate] = [:]
    /// Why one of the sources could not be asked, or which families several of them list.
    public var problem: (any Error)?
    /// The sources that did not answer, and whose last lists stand in for them.
    public var kept: [KeptList] = []
}

extension ModelManager {
    /// As ``availability(of:)``, for every family there is a model of.
    public func availabilities() async throws -> [Family: ModelAvailability] {
        let installed = try await installed()
        let bundled = Dictionary(
            await bundledReleases().map { ($0.identity.family, $0) }, uniquingKeysWith: { first, _ in first })
        var found: [Family: ModelAvailability] = [:]
        for family in Set(installed.map(\.identity.family)).union(bundled.keys) {
            let availability = ModelAvailability.deciding(
                bundled: bundled[family],
                active: installed.first { $0.identity.family == family && $0.isActive },
                pinned: try await store.state(of: family).pinned)
            if availability != .none { found[family] = availability }
        }
        return found
    }

    /// What the sources offer this device: of each family the one release that it would get, or has. What came with the app is
    /// no offer. A source that cannot be asked hides no other.
    ///
    /// An installed family is offered by the origin it came from alone. One that is not here and that several origins list is
    /// offered by none: the problem says so (`ambiguous-reference`), as a pull by that name would.
    /// - Throws: the first source's error if none can be asked; ``FileError``.
    public func offers(_ wish: ListingWish = .asPublished) async throws -> FamilyOffers {
        let local = try await availabilities()
        let inUse = local.compactMapValues(\.identity)
        var found = FamilyOffers(offers: [])
        let reports = origins.isEmpty ? [] : try await reports(wish).filter { $0.origin != nil }
        let installed = Dictionary(grouping: try await store.installed(), by: \.identity.family)
        for case .failure(let error) in reports.map(\.outcome) { found.problem = found.problem ?? error }
        found.kept = reports.compactMap { report in report.listing.flatMap { KeptList(report.source, $0.standing) } }
        if let problem = found.problem, !reports.contains(where: { $0.listing != nil }) { throw problem }
        for family in Self.families(of: reports, and: inUse.keys) {
            let source = ReleaseOrigin(of: installed[family] ?? [])
            guard source.hub == nil else { continue }
            switch source.answer(for: family, in: reports) {
            case .listing(.success(let listing)):
                let device = await device(for: listing.catalog)
                let (offer, stays) = try await offer(of: family, in: listing, to: device, inUse: inUse[family])
                if let offer { found.offers.append(offer) }
                found.stays[family] = stays
            case .stays(.severalOrigins(let names)) where inUse[family] == nil:
                found.problem = found.problem ?? Self.ambiguous(family, among: names, in: reports)
            case .stays(let reason): found.stays[family] = reason
            case .listing(.failure(let error)):
                found.stays[family] = .unreachable((error as? any HearthFailure)?.message ?? "\(error)")
            }
        }
        for (family, model) in local where !found.offers.contains(where: { $0.release.identity.family == family }) {
            try await addUpdate(of: family, model, wish, to: &found)
        }
        return found
    }

    /// The families that are listed, in the order in which they are, and then those that are here.
    private static func families(
        of reports: [SourceReport], and here: some Sequence<Family>
    ) -> [Family] {
        var seen: Set<Family> = []
        let listed = reports.flatMap { $0.listing?.catalog.families ?? [] }
        return (listed + here.sorted()).filter { seen.insert($0).inserted }
    }

    /// A hub lists nothing by itself: a repository is asked for a model that came from it.
    private func addUpdate(
        of family: Family, _ model: ModelAvailability, _ wish: ListingWish, to found: inout FamilyOffers
    ) async throws {
        guard case .downloaded(let release) = model, release.receipt.manifestEntry.hasPrefix("hf:") else { return }
        do {
            for finding in try await updates(of: family, wish) {
                guard case .newVersion(let release) = finding.reason, let resolved = finding.resolved else {
                    if case .noUpdate(let reason) = finding.reason { found.stays[family] = reason }
                    continue
                }
                found.stays[family] = nil
                let identity = release.identity
                let reference = ModelReference.family(family, version: identity.version, variant: identity.variant)
                found.offers.append(
                    FamilyOffer(
                        release: release, reference: resolved.reference ?? reference, isUpdate: true, objection: nil))
            }
        } catch let error as CancellationError {
            throw error
        } catch {
            found.problem = found.problem ?? error
        }
    }

    private func offer(
        of family: Family, in listing: CatalogListing, to device: DeviceProfile, inUse: ReleaseIdentity?
    ) async throws -> (FamilyOffer?, stays: NoUpdate?) {
        var question = UpdateQuestion(family: family, inUse: inUse, try await store.state(of: family))
        question.ignoresMemory = ignoresMemory
        func offer(_ release: Release, isUpdate: Bool, _ objection: Ineligibility? = nil) -> FamilyOffer {
            let identity = release.identity
            return FamilyOffer(
                release: release,
                reference: .manifest(
                    listing.location, family: family, version: identity.version, variant: identity.variant),
                isUpdate: isUpdate, objection: objection)
        }
        if let inUse {
            switch try question.advice(from: listing.catalog, for: device, at: time.now) {
            case .take(let choice): return (offer(choice.release, isUpdate: true), nil)
            case .stay(let reason):
                // Another variant of what is in use is no news.
                let same = listing.catalog.releases.first { $0.identity == inUse }
                return (same.map { offer($0, isUpdate: false) }, reason)
            }
        }
        let choice = try Resolution(
            catalog: listing.catalog, device: device, heldBack: question.heldBack,
            heldBackContents: question.heldBackContents, ignoresMemory: ignoresMemory
        ).choose(family: family)
        return (offer(choice.release, isUpdate: false, choice.objection), nil)
    }
}
