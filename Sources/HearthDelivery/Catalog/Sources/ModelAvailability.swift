import HearthBase

/// Whether there is a model to be used, and where it comes from.
///
/// An app works without one: what needs a model is off until there is one.
public enum ModelAvailability: Sendable, Hashable {
    /// Neither with the app nor downloaded.
    case none
    /// The one that came with the app.
    case bundled(BundledRelease)
    /// The active downloaded one.
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

    /// Decides between what came with the app and what was downloaded since. Pure.
    ///
    /// What came with the app is first, unless the downloaded release is active and newer, or pinned by the user. Versions that
    /// cannot be compared count as newer than the app's: whoever published them did so for apps that are out already.
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

/// A release that lies in a folder shipped with the app, used from where it lies.
public struct BundledRelease: Sendable, Hashable {
    /// One of its files, and where it is.
    public struct File: Sendable, Hashable {
        public let name: RelativePath
        public let role: FileRole
        public let path: Path
        /// The length in bytes.
        public let size: UInt64
        /// What its bytes have to hash to, `nil` where the app's own manifest does not say.
        public let digest: SHA256Digest?
    }

    public let release: Release
    public let files: [File]

    public var identity: ReleaseIdentity { release.identity }

    /// The file an engine opens.
    public var weights: Path? { files.first { $0.role == .weights }?.path }

    /// The vision projector, if the release has one.
    public var projector: Path? { files.first { $0.role == .projector }?.path }
}
