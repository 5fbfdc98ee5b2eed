import Foundation
import HearthBase

/// Whom the updates of an installed family come from: whoever it came from itself.
///
/// A name alone says nothing: two publishers may each list a model of the same one, and who installed the one has not asked
/// for the other. So an origin is followed by its address, and another that lists the name is a reason to stay, not an update.
enum ReleaseOrigin: Sendable, Hashable {
    /// A hub's repository, at the revision it was asked for at.
    case hub(HubReference)
    /// A manifest: its address without query and credentials, and what tells it apart from others at that place.
    case manifest(URL, digest: SHA256Digest)
    /// Nobody: a file of the user's own, what came with the app, or a receipt that names no origin.
    case nobody

    /// What the configured origins say of a family.
    enum Answer: Sendable {
        /// This one speaks for it: what it lists, or why it is silent.
        case listing(Result<CatalogListing, any Error>)
        case stays(NoUpdate)
    }

    /// The origin of a family: that of its active release, else of the one installed last.
    /// - Parameter releases: the installed ones of that family.
    init(of releases: [InstalledRelease]) {
        let latest = releases.max { $0.receipt.installed < $1.receipt.installed }
        guard let receipt = (releases.first(where: \.isActive) ?? latest)?.receipt else {
            self = .nobody
            return
        }
        self.init(receipt)
    }

    /// The origin of an installed release.
    init(_ receipt: Receipt) {
        // A receipt whose entry is no reference came from elsewhere.
        if receipt.manifestEntry.hasPrefix("hf:"),
            case .hub(let reference)? = try? ModelReference(parsing: receipt.manifestEntry),
            reference.family == receipt.identity.family
        {
            self = .hub(reference)
        } else {
            self = receipt.origin.map { .manifest($0, digest: receipt.originDigest ?? $0.addressDigest) } ?? .nobody
        }
    }

    /// The repository, for a family that came from one.
    var hub: HubReference? { if case .hub(let reference) = self { reference } else { nil } }

    /// Who of the configured origins speaks for a family.
    /// - Parameter reports: what those origins said, each once.
    func answer(for family: Family, in reports: [SourceReport]) -> Answer {
        let offering = reports.filter { $0.listing?.catalog.families.contains(family) ?? false }
        let silence = reports.lazy.map(\.outcome).first { if case .failure = $0 { true } else { false } }
        switch self {
        case .hub: return .stays(.notOffered)
        case .manifest(let url, let digest):
            if let own = Self.own(url, digest, in: reports) {
                // Its silence is the answer, whatever others say.
                guard own.listing != nil else { return .listing(own.outcome) }
                if offering.contains(where: { $0.source == own.source }) { return .listing(own.outcome) }
                return .stays(offering.isEmpty ? .notOffered : Self.elsewhere(url, offering))
            }
            // A file of this machine that is no origin, such as one shipped with the app, publishes nothing.
            if !url.isFileURL, !offering.isEmpty { return .stays(Self.elsewhere(url, offering)) }
        case .nobody: break
        }
        if offering.count > 1 { return .stays(.severalOrigins(offering.map(\.source))) }
        // An origin that could not be asked may be the one that has it.
        return (offering.first?.outcome ?? silence).map { .listing($0) } ?? .stays(.notOffered)
    }

    /// The configured origin of an address, whatever secrets stand in either.
    private static func own(_ url: URL, _ digest: SHA256Digest, in reports: [SourceReport]) -> SourceReport? {
        let same = reports.first { $0.origin?.manifestURL.addressDigest == digest }
        if let same { return same }
        let alike = reports.filter { $0.origin?.manifestURL.withoutSecrets == url.withoutSecrets }
        return alike.count == 1 ? alike[0] : nil
    }

    private static func elsewhere(_ url: URL, _ offering: [SourceReport]) -> NoUpdate {
        .otherOrigin(cameFrom: url.shown, offeredBy: offering.map(\.source))
    }
}
