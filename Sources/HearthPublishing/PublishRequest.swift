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

    /// The model files, one release each.
    public var files: [Path]
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

    /// One file's release.
    public struct Item: Sendable, Hashable {
        public let source: Path
        public let identity: ReleaseIdentity
        /// Where the file lies in the origin.
        public let path: Path
        public let size: UInt64
        public let digest: SHA256Digest
        public let outcome: Outcome
        /// Whether devices take this version unless they ask for another.
        public let isCurrent: Bool
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
