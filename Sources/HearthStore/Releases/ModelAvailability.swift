import HearthBase
import HearthCatalog

/// The usable model of a family, and where it comes from.
///
/// An app works without a model: features that need one are off until there is one.
public enum ModelAvailability: Sendable, Hashable {
    /// Neither a bundled nor a downloaded release.
    case none
    /// The bundled release.
    case bundled(BundledRelease)
    /// The active downloaded release.
    case downloaded(InstalledRelease)

    /// The release, if there is one.
    public var identity: ReleaseIdentity? {
        switch self {
        case .none: nil
        case .bundled(let release): release.identity
        case .downloaded(let release): release.identity
        }
    }

    /// The file an engine opens.
    public var weights: Path? {
        switch self {
        case .none: nil
        case .bundled(let release): release.weights
        case .downloaded(let release): release.weights
        }
    }

    /// Decides between the bundled and the downloaded release. Pure.
    ///
    /// The bundled release is chosen, unless the downloaded one is active and newer, or pinned. Versions that cannot be
    /// compared count as newer than the bundled one, because a publisher releases them for apps that are out already.
    public static func deciding(
        bundled: BundledRelease?, active: InstalledRelease?, pinned: ReleaseIdentity?
    ) -> Self {
        guard let bundled else { return active.map { .downloaded($0) } ?? .none }
        guard let active else { return .bundled(bundled) }
        if active.identity == pinned { return .downloaded(active) }
        let versions = (active.identity.version, bundled.identity.version)
        if versions.0 == versions.1 { return .bundled(bundled) }
        return versions.0.isNewer(than: versions.1) ?? true ? .downloaded(active) : .bundled(bundled)
    }
}

extension StoreHome {
    /// Finds the usable model of each family, and the problems of unusable live releases.
    func usable(
        beside bundled: [Family: BundledRelease]
    ) throws -> (models: [Family: ModelAvailability], problems: [Family: any Error]) {
        var models = bundled.mapValues { ModelAvailability.bundled($0) }
        var problems: [Family: any Error] = [:]
        for family in try directory.families() {
            do {
                let state = try activation.state(of: family)
                guard let active = try state.active.flatMap({ try find($0) }) else { continue }
                models[family] = .deciding(bundled: bundled[family], active: active, pinned: state.pinned)
            } catch {
                problems[family] = error
            }
        }
        return (models, problems)
    }
}
