import Foundation
import HearthBase

/// Where everything lies on the device.
///
/// ```
/// <home>/
///   layout                                   the layout's version, a number and a line feed
///   lock                                     held only for commit steps (milliseconds)
///   config.json
///   models/<family>/<version>[~<variant>]/   one installed release: its files and receipt.json
///   models/<family>/active                   symbolic link to a release folder, replaced by atomic rename
///   models/<family>/state.json               active, previous, pinned, probation; written atomically
///   models/<family>/.<release>.tmp-<mark>/   a release being put together (beside it, `….lock` while somebody does)
///   models/<family>/.~old.tmp-<mark>/        a release that another is taking the place of
///   models/<family>/.~removed.tmp-<mark>/    a release on its way out
///   prepared/<family>/<release>/             what an engine made from it; can be made again
///   marks/<family>/<release>/<token>         who is in the middle of what with a release
///   transfers/<key>/                         files on their way in
///   catalogs/<key>/                          the last good copy of an origin's manifest
///   device-id                                what rollouts take their share of; random, 0600
///   leases/<family>/<release>/<token>        a process that reads a release; see ``ReleaseLeases``
/// ```
/// Names that hold `Path.temporaryMark` never count as releases; the next start clears them up.
public struct HomeLayout: Sendable, Hashable {
    /// The layout this version of the library reads and writes.
    public static let version = 1

    /// The folder that holds everything.
    public let home: Path

    /// The layout below `home`.
    public init(home: Path) { self.home = home }

    /// The file that carries the layout's version.
    public var versionFile: Path { home.appending("layout") }
    /// The file whose lock is held for commit steps.
    public var lock: Path { home.appending("lock") }
    /// The folder of the last good copies of origins' manifests; see ``KeptCatalogs``.
    public var catalogs: Path { home.appending("catalogs") }
    /// The anonymous name of this device, of which rollouts take their share.
    public var deviceIdentifier: Path { home.appending("device-id") }
    /// The folder of all installed families.
    public var models: Path { home.appending("models") }
    /// The folder of what engines made from releases.
    public var prepared: Path { home.appending("prepared") }
    /// The folder of what processes are in the middle of.
    public var marks: Path { home.appending("marks") }
    /// The folder of files on their way in.
    public var transfers: Path { home.appending("transfers") }

    /// The folder of who reads which release.
    public var leases: Path { home.appending("leases") }

    /// The folder of a family's releases.
    public func folder(of family: Family) -> Path { Self.join(models, family.name) }

    /// The folder of a release.
    public func folder(of identity: ReleaseIdentity) -> Path {
        Self.join(folder(of: identity.family), identity.folderName)
    }

    /// The link that says which release of a family is live.
    public func activeLink(of family: Family) -> Path { folder(of: family).appending("active") }

    /// What is recorded about a family's releases.
    public func stateFile(of family: Family) -> Path { folder(of: family).appending("state.json") }

    /// The folder of what engines made from a family's releases.
    public func preparedFolder(of family: Family) -> Path { Self.join(prepared, family.name) }

    /// The folder of what engines made from a release.
    public func preparedFolder(of identity: ReleaseIdentity) -> Path {
        Self.join(preparedFolder(of: identity.family), identity.folderName)
    }

    /// The folder of those who read a release.
    func leaseFolder(of identity: ReleaseIdentity) -> Path {
        Self.join(Self.join(leases, identity.family.name), identity.folderName)
    }

    /// The folder of what processes are in the middle of with a family's releases.
    public func marksFolder(of family: Family) -> Path { Self.join(marks, family.name) }

    /// The folder of what processes are in the middle of with a release.
    public func marksFolder(of identity: ReleaseIdentity) -> Path {
        Self.join(marksFolder(of: identity.family), identity.folderName)
    }

    /// The receipt inside a release folder.
    static func receipt(in folder: Path) -> Path { folder.appending("receipt.json") }

    /// Whether a release of that name would stand in the way of the family's own files, on any file system.
    static func isReserved(_ identity: ReleaseIdentity) -> Bool {
        ["active", "state.json"].contains(identity.folderName.lowercased())
    }

    /// Whether a name is one of something unfinished.
    static func isTemporary(_ name: String) -> Bool { name.hasPrefix(".") && name.contains(Path.temporaryMark) }

    /// The beginning of the name of a release that another takes the place of.
    static let replacedName = "~old"
    /// The beginning of the name of a release on its way out.
    static let removedName = "~removed"

    /// Joins a name that its type, or the listing of a folder, has shown to be one.
    static func join(_ folder: Path, _ name: String) -> Path { Path(folder.string + "/" + name) }
}
