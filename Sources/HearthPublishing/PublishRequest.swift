import Foundation
import HearthBase
import HearthDelivery

/// What is to be published, and what the publisher says about it.
public struct PublishRequest: Sendable, Hashable {
    /// Whether a release becomes the one devices take unless they ask for another.
    public enum CurrentPolicy: Sendable, Hashable {
        /// When it is newer than the present one; a pre-release only where the present one is a pre-release too.
        case ifNewer
        case always
        case never
    }

    /// A file that belongs to a model.
    public struct Companion: Sendable, Hashable {
        public var path: Path
        /// `nil` takes it from the file's name; a name that does not tell is `other`.
        public var role: FileRole?

        /// A file for that purpose.
        public init(_ path: Path, role: FileRole? = nil) {
            self.path = path
            self.role = role
        }
    }

    /// The models, one release each: files, one part of those in several files, archives. Projectors, labels and tokenizers
    /// among them, by their names, count as ``companions``.
    public var files: [Path]
    /// What belongs to each of the models, beside what ``files`` tells; the models have to be of one family then.
    public var companions: [Companion] = []
    /// The one file that devices unpack of an archive, `nil` for everything in it.
    public var member: RelativePath?
    /// `nil` takes it from the files' names.
    public var family: Family?
    /// `nil` takes it from the files' names.
    public var version: SemanticVersion?
    /// `nil` takes it from the files' names.
    public var variant: Variant?
    /// Whether a published release may be given other bytes.
    public var replaces = false
    public var current = CurrentPolicy.ifNewer
    /// Whether only to report what would be done.
    public var isDryRun = false

    // What is said of each release; `nil` leaves what a published entry says already, or what the file says.
    public var name: String?
    public var summary: String?
    public var notes: String?
    public var license: String?
    public var role: ModelRole?
    public var contextLength: Int?
    public var minimumAppVersion: SemanticVersion?
    public var requirements = Requirements()
    /// The share of devices it is offered to.
    public var rollout: Rollout?
    /// What devices ask a release before they use it; `nil` leaves what a published entry says.
    public var canary: Canary?

    /// A request for the given files; everything else is taken from them.
    public init(files: [Path]) { self.files = files }
}

/// What became of a request.
public struct PublishReport: Sendable, Hashable {
    /// What became of one file.
    public enum Outcome: String, Sendable, Hashable, Codable {
        case published, replaced
        /// The same bytes were there already.
        case unchanged
    }

    /// A file of a release in the origin.
    public struct File: Sendable, Hashable {
        public let source: Path
        /// The name devices give it; of an archive, what the manifest calls it.
        public let name: String
        public let role: FileRole
        public let path: Path
        public let size: UInt64
        public let digest: SHA256Digest
    }

    /// One release.
    public struct Item: Sendable, Hashable {
        public let source: Path
        public let identity: ReleaseIdentity
        /// The weights or their archive first, then further parts and what belongs to them.
        public let files: [File]
        /// The files that come out of an archive, `nil` for a release without one.
        public let packedFiles: Int?
        public let outcome: Outcome
        /// Whether devices take this version unless they ask for another.
        public let isCurrent: Bool

        /// Where the weights, or their archive, lie in the origin.
        public var path: Path { files[0].path }
        /// The digest of these.
        public var digest: SHA256Digest { files[0].digest }
        /// The bytes a device fetches.
        public var size: UInt64 { files.map(\.size).reduce(0, +) }
    }

    public let items: [Item]
    /// The origin's `models.json`.
    public let manifest: Path
    /// The manifest's serial number, after this.
    public let serial: UInt64
    /// Whether anything was, or in a dry run would be, written.
    public let changesManifest: Bool
}

/// How far publishing is.
public struct PublishProgress: Sendable, Hashable {
    public let file: Path
    public let completedBytes: UInt64
    public let totalBytes: UInt64
}
