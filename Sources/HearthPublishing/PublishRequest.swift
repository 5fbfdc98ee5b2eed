import Foundation
import HearthBase
import HearthCatalog

/// The files to publish, and the publisher's values for them.
public struct PublishRequest: Sendable, Hashable {
    /// Whether a release becomes the current one, which devices take unless they ask for another.
    public enum CurrentPolicy: Sendable, Hashable {
        /// If it is newer than the current one. A pre-release becomes current only after a pre-release.
        case ifNewer
        case always
        case never
    }

    /// A file that belongs to a model, such as a projector.
    public struct Companion: Sendable, Hashable {
        public var path: Path
        /// `nil` takes it from the file's name; an unknown name gives `other`.
        public var role: FileRole?

        /// Creates a companion with a role.
        public init(_ path: Path, role: FileRole? = nil) {
            self.path = path
            self.role = role
        }
    }

    /// The models, one release each: single files, one part of a model in several files, or archives. Projectors,
    /// labels and tokenizers among them are recognised by name and count as ``companions``.
    public var files: [Path]
    /// The companions of every model, besides those in ``files``; the models must then be of one family.
    public var companions: [Companion] = []
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
    public var current = CurrentPolicy.ifNewer
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
    public var requirements = Requirements()
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
    public struct File: Sendable, Hashable {
        public let source: Path
        /// The name on devices; of an archive, the name in the manifest.
        public let name: String
        public let role: FileRole
        public let path: Path
        public let size: UInt64
        public let digest: SHA256Digest
    }

    /// A published release.
    public struct Item: Sendable, Hashable {
        public let source: Path
        public let identity: ReleaseIdentity
        /// The weights or their archive first, then further parts and companions.
        public let files: [File]
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

/// The progress of publishing.
public struct PublishProgress: Sendable, Hashable {
    public let file: Path
    public let completedBytes: UInt64
    public let totalBytes: UInt64
}
