import Foundation
import HearthBase
import HearthCatalog
import HearthHTTP
import HearthStore

/// The options of a pull.
public struct PullOptions: Sendable, Hashable {
    /// Make the release the active one of its family. Default `true`.
    public var activate = true
    /// Probe the release before it becomes the active one. Default `true`.
    public var probes = true
    /// Accept a remote file without a digest in the catalog.
    public var allowUnverified = false
    /// Accept a version older than the active one, even if the user did not name it.
    public var allowDowngrade = false
    /// Install from an expired catalog.
    public var allowStale = false
    /// Install and probe a model that needs more memory than the device has. Its artifact for this device is still made
    /// and opened; `Configuration.ignoresMemory` turns that off.
    public var ignoreMemory = false
    /// Try a held-back release again, because a person asked for the model. A version that is named is always tried
    /// again.
    public var retryHeldBack = false
    /// The family of a local file; `nil` makes it of the file's name. Other references name their family.
    public var family: Family?
    /// The use of metered networks. `MeteredUse.ask` refuses here as `MeteredUse.deny` does, so that the caller can
    /// ask.
    public var metered = MeteredUse.deny
    /// Ask the sources again, even if their cached answers are fresh.
    public var refresh = false
    /// The rate limit in bytes a second, `nil` for none.
    public var bytesPerSecond: UInt64?
    /// Set where no person asked for the pull: files whose last attempt brought wrong bytes are not fetched again.
    package var isUnattended = false

    /// Creates the default options.
    public init() {}
}

/// The result of a pull.
public enum PullOutcome: Sendable, Hashable {
    /// The release was installed, with so many bytes from the network.
    case installed(InstalledRelease, fetchedBytes: UInt64)
    /// The release was installed before, undamaged; nothing was fetched.
    case alreadyInstalled(InstalledRelease)

    /// The installed release.
    public var release: InstalledRelease {
        switch self {
        case .installed(let release, _), .alreadyInstalled(let release): release
        }
    }
}
