import Foundation
import HearthBase
import HearthCatalog

/// The files to publish, and the publisher's values for them.
public struct PublishRequest: Sendable, Hashable {
    /// The models, one release each: single files, one part of a model in several files, or archives. Projectors,
    /// labels and tokenizers among them are recognised by name and are ``companions`` too.
    public var files: [Path]
    /// Further files that belong to every model, such as a projector; the models must then be of one family.
    public var companions: [Path] = []
    /// The roles of companions whose names do not tell it; others with an unknown name get the role `other`.
    package var roles: [Path: FileRole] = [:]
    /// The only file that devices unpack from an archive, `nil` for all.
    public var member: RelativePath?
    /// `nil` takes it from the files' names.
    public var family: Family?
    /// `nil` takes it from the files' names.
    public var version: SemanticVersion?
    /// `nil` takes it from the files' names.
    public var variant: Variant?
    /// Whether a published release may get other bytes.
    public var replaces = false
    /// Whether the release becomes the current one, which devices take unless they ask for another. `nil`: if it is
    /// newer than the current one; a pre-release becomes current only after a pre-release.
    public var isCurrent: Bool?
    /// Whether to report the changes without making them.
    public var isDryRun = false

    // Values for each release; `nil` keeps those of the published entry, or of the file.
    public var name: String?
    public var summary: String?
    public var notes: String?
    public var license: String?
    public var role: ModelRole?
    public var contextLength: Int?
    public var minimumAppVersion: SemanticVersion?
    /// The memory that a device needs, in bytes.
    public var memoryBytes: UInt64?
    /// The share of devices that the release is offered to.
    public var rollout: Rollout?
    /// The question that devices ask a release before they use it; `nil` keeps that of the published entry.
    public var canary: Canary?

    /// Creates a request for files; all other values are taken from them.
    public init(files: [Path]) { self.files = files }
}

/// The result of a request.
public struct PublishReport: Sendable, Hashable {
    /// The result for a release.
    public enum Outcome: String, Sendable, Hashable, Codable {
        case published, replaced
        /// The origin had the same bytes already.
        case unchanged
    }

    /// A file of a release in the origin.
    package struct File: Sendable, Hashable {
        /// The name on devices; of an archive, the name in the manifest.
        package let name: String
        package let role: FileRole
        package let path: Path
        package let size: UInt64
        package let digest: SHA256Digest
    }

    /// A published release.
    public struct Item: Sendable, Hashable {
        public let source: Path
        public let identity: ReleaseIdentity
        /// The weights or their archive first, then further parts and companions.
        package let files: [File]
        /// The number of files in an archive, `nil` for a release without one.
        public let packedFiles: Int?
        public let outcome: Outcome
        /// Whether the version is the current one, which devices take unless they ask for another.
        public let isCurrent: Bool

        /// The path of the weights, or of their archive, in the origin.
        public var path: Path { files[0].path }
        /// The digest of that file.
        public var digest: SHA256Digest { files[0].digest }
        /// The bytes a device fetches.
        public var size: UInt64 { files.map(\.size).reduce(0, +) }
    }

    public let items: [Item]
    /// The origin's `models.json`.
    public let manifest: Path
    /// The manifest's serial number after the request.
    public let serial: UInt64
    /// Whether the manifest was written, or would be without a dry run.
    public let changesManifest: Bool
}
