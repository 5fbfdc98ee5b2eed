import Foundation
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthStore

/// A release in listings: installed, damaged or offered. Absent values are `null`.
package struct ReleaseRow: Codable, Sendable, Hashable {
    package enum Presence: String, Codable, Sendable, CaseIterable { case installed, damaged, available }

    /// What the catalog says about a model of the Hub.
    package struct CatalogFacts: Codable, Sendable, Hashable {
        package let repository: String
        package let name: String
        package let parameters: UInt64
        package let kind: HubModel.Kind
        /// How well the model calls tools, as its maker says.
        package let tools: HubModel.Tools
        package let license: String
        package let summary: String
        package let fits: Bool
        package let recommended: Bool
        /// The tokens of an answer in a second, about.
        @OrNull package private(set) var tokensPerSecond: Double?

        init(_ suggested: SuggestedModel) {
            let model = suggested.model
            (repository, name, parameters) = (model.repository.path, model.name, model.parameters)
            (kind, tools, license, summary) = (model.kind, model.tools, model.license, model.summary)
            (fits, recommended) = (suggested.fits, suggested.isRecommended)
            _tokensPerSecond = OrNull(wrappedValue: suggested.tokensPerSecond.map { ($0 * 10).rounded() / 10 })
        }

        /// The state of a model that is not on the device.
        fileprivate var stateText: String {
            guard fits else { return "needs more memory" }
            let speed = tokensPerSecond.map { ", about \(Int($0.rounded())) tokens/s" } ?? ""
            return (recommended ? "recommended" : "fits") + speed
        }
    }

    package let family: String
    /// Of a model of the catalog that is not on the device `newest`, as its repository is not asked.
    package let version: String
    @OrNull package var variant: String?
    /// `gguf`, `mlx`, `safetensors`, `onnx` or `coreml`; `nil` for a damaged release whose receipt cannot be read.
    @OrNull package var format: String?
    package let state: Presence
    package let active: Bool
    package let verified: Bool
    @OrNull package var path: String?
    package let sizeBytes: UInt64
    /// The code why this device may not have an offered release; absent where none is offered.
    package private(set) var reason: OrNull<String>?
    /// The facts of the catalog; absent for other models.
    package private(set) var catalog: CatalogFacts?
    /// The reason in a few words, to display.
    private var reasonText: String?
    /// Records to display: pinned, on probation, held back.
    package var records: [String] = []

    private enum CodingKeys: CodingKey {
        case family, version, variant, format, state, active, verified, path, sizeBytes, reason, catalog
    }

    /// The state to display.
    package var stateText: String {
        if state == .available, let reasonText { return reasonText }
        var words = [active ? "active" : state.rawValue]
        if active && state == .damaged { words.append("damaged") }
        if !verified && state != .damaged { words.append("unverified") }
        return (words + records).joined(separator: ", ")
    }

    package init(_ release: InstalledRelease, _ state: ReleaseState? = nil) {
        self.init(
            release.identity, release.receipt.format, state: .installed, active: release.isActive,
            verified: release.receipt.isVerified,
            path: release.folder, sizeBytes: release.receipt.totalSize)
        records = state?.records(of: release.identity) ?? []
    }

    package init(_ release: DamagedRelease) {
        self.init(
            release.identity, release.receipt?.format, state: .damaged, active: release.isActive, verified: false,
            path: release.folder, sizeBytes: release.receipt?.totalSize ?? 0)
    }

    /// An offered release that is not on this device.
    package init(offered release: Release) {
        self.init(
            release.identity, release.format, state: .available, active: false,
            verified: release.files.allSatisfy(\.isVerifiable), path: nil, sizeBytes: release.totalSize)
    }

    /// An offered release; `installed` is the same release on this device.
    package init(_ offer: Offer, installed: InstalledRelease?) {
        self.init(
            offer.release.identity, offer.release.format, state: installed == nil ? .available : .installed,
            active: installed?.isActive ?? false,
            verified: installed?.receipt.isVerified ?? offer.release.files.allSatisfy(\.isVerifiable),
            path: installed?.folder, sizeBytes: offer.release.totalSize)
        reason = OrNull(wrappedValue: offer.objection?.code)
        reasonText = offer.objection?.shortText
    }

    /// A model of the catalog; `installed` is a release of it on this device.
    package init(_ suggested: SuggestedModel, installed: InstalledRelease?) {
        if let installed {
            self.init(installed)
        } else {
            self.init(
                suggested.model.family, version: "newest", suggested.quantization.variant, .gguf, state: .available,
                active: false, verified: true, path: nil, sizeBytes: suggested.size)
            reasonText = CatalogFacts(suggested).stateText
        }
        reason = OrNull(wrappedValue: suggested.fits ? nil : "not-enough-memory")
        catalog = CatalogFacts(suggested)
    }

    private init(
        _ identity: ReleaseIdentity, _ format: ModelFormat?, state: Presence, active: Bool, verified: Bool, path: Path?,
        sizeBytes: UInt64
    ) {
        self.init(
            identity.family, version: identity.versionName, identity.variant, format, state: state, active: active,
            verified: verified, path: path, sizeBytes: sizeBytes)
    }

    private init(
        _ family: Family, version: String, _ variant: Variant?, _ format: ModelFormat?, state: Presence, active: Bool,
        verified: Bool, path: Path?, sizeBytes: UInt64
    ) {
        self.family = family.name
        self.version = version
        _variant = OrNull(wrappedValue: variant?.name)
        _format = OrNull(wrappedValue: format?.rawValue)
        self.state = state
        self.active = active
        self.verified = verified
        _path = OrNull(wrappedValue: path?.string)
        self.sizeBytes = sizeBytes
    }
}

extension ReleaseState {
    /// Records of a release besides its being active, in one or two words each.
    fileprivate func records(of release: ReleaseIdentity) -> [String] {
        var words: [String] = []
        if pinned == release { words.append("pinned") }
        if probation?.release == release { words.append("on probation") }
        if previous == release { words.append("previous") }
        if isHeldBack(release) { words.append("held back") }
        return words
    }
}
