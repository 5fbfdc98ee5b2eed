import Foundation
import HearthBase
import HearthCatalog

/// Places of files and folders in the home folder.
///
/// ```
/// <home>/
///   layout                                   the layout's version, a number and a line feed
///   lock                                     held only for commit steps (milliseconds)
///   config.json
///   models/<family>/<release>/               one installed release: its files and receipt.json; `<release>` is
///                                            `<version>[~<variant>][+<content tag>]`
///   models/<family>/active                   symbolic link to a release folder, replaced by atomic rename
///   models/<family>/state.json               active, previous, pinned, probation; written atomically
///   models/<family>/.<release>.tmp-<mark>/   a release being installed; beside it `….lock`
///   models/<family>/.~removed.tmp-<mark>/    a release being removed
///   prepared/<family>/<release>/             its artifacts; can be built again
///   marks/<family>/<release>/<token>         the stage a process has reached with a release
///   transfers/<key>/                         an unfinished transfer
///   catalogs/<key>/                          the last good copy of an origin's manifest
///   trust/<key>/                             the trusted metadata of a signed origin; never removed
///   instruction-states/<hash>/               computed states of the assistant's instructions, of one file of weights;
///                                            can be computed again
///   device-id                                identifies the device for rollouts; random, 0600
///   leases/<family>/<release>/<token>        a process that reads a release; see ``ReleaseLeases``
/// ```
/// Names that contain `Path.temporaryMark` never count as releases; the next start removes them.
package struct HomeLayout: Sendable, Hashable {
    /// The layout this version of the library reads and writes.
    package static let version = 2

    /// The home folder.
    package let home: Path

    /// The layout below `home`.
    package init(home: Path) { self.home = home }

    /// The file that holds the layout's version.
    package var versionFile: Path { home.appending("layout") }
    /// The file whose lock is held for commit steps.
    package var lock: Path { home.appending("lock") }
    /// The folder of the cached manifests of origins; see `CatalogCache`.
    package var catalogs: Path { home.appending("catalogs") }
    /// The folder of the trusted metadata of signed origins.
    package var trust: Path { home.appending("trust") }
    /// The anonymous identifier of this device, from which rollouts compute its share.
    package var deviceIdentifier: Path { home.appending("device-id") }
    /// The folder of all installed families.
    package var models: Path { home.appending("models") }
    /// The folder of the artifacts of all releases.
    package var prepared: Path { home.appending("prepared") }
    /// The folder of marks: the stages that processes have reached with releases.
    package var marks: Path { home.appending("marks") }
    /// The folder of the computed states of instructions, with a folder for each file of weights.
    package var instructionStates: Path { home.appending("instruction-states") }
    /// The name of the folder of a file's states.
    package static func stateFolderName(of weights: Path) -> String {
        String(SHA256Digest(hashing: Array(weights.string.utf8)).description.prefix(16))
    }

    /// The folder of unfinished transfers.
    package var transfers: Path { home.appending("transfers") }

    /// The folder of leases: the processes that read each release.
    package var leases: Path { home.appending("leases") }

    /// The folder of a family's releases.
    package func folder(of family: Family) -> Path { models.joined(family.name) }

    /// The folder of a release.
    package func folder(of identity: ReleaseIdentity) -> Path {
        folder(of: identity.family).joined(identity.folderName)
    }

    /// The link to the live release of a family.
    package func activeLink(of family: Family) -> Path { folder(of: family).appending("active") }

    /// The record of a family's releases.
    package func stateFile(of family: Family) -> Path { folder(of: family).appending("state.json") }

    /// The folder of the artifacts of a family's releases.
    package func preparedFolder(of family: Family) -> Path { prepared.joined(family.name) }

    /// The folder of a release's artifacts.
    package func preparedFolder(of identity: ReleaseIdentity) -> Path {
        preparedFolder(of: identity.family).joined(identity.folderName)
    }

    /// The folder of a release's leases.
    func leaseFolder(of identity: ReleaseIdentity) -> Path {
        leases.joined(identity.family.name).joined(identity.folderName)
    }

    /// The folder of the marks of a family's releases.
    package func marksFolder(of family: Family) -> Path { marks.joined(family.name) }

    /// The folder of a release's marks.
    package func marksFolder(of identity: ReleaseIdentity) -> Path {
        marksFolder(of: identity.family).joined(identity.folderName)
    }

    /// The receipt inside a release folder.
    package static func receipt(in folder: Path) -> Path { folder.appending("receipt.json") }

    /// Whether a release's folder name collides with the family's own files, on any file system.
    static func isReserved(_ identity: ReleaseIdentity) -> Bool {
        ["active", "state.json"].contains(identity.folderName.lowercased())
    }

    /// Whether a name belongs to an unfinished file or folder.
    static func isTemporary(_ name: String) -> Bool { name.hasPrefix(".") && name.contains(Path.temporaryMark) }

    /// The beginning of the name of a release's folder while it is removed.
    static let removedName = "~removed"
    /// The beginning of the name of a transfer's folder while it is removed; also in `TransferFolder` of
    /// HearthTransfer.
    static let removedTransferName = "removed"
}
