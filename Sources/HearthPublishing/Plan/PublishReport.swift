import Foundation
import HearthBase
import HearthCatalog

/// The result of a request.
public struct PublishReport: Sendable, Hashable {
    /// The result for a release.
    package enum Outcome: String, Sendable, Hashable, Codable {
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
        package let outcome: Outcome
        /// Whether the version is the current one, which devices take unless they ask for another.
        public let isCurrent: Bool

        /// Whether the origin did not have the same bytes already.
        public var isNew: Bool { outcome != .unchanged }
        /// The path of the weights, or of their archive, in the origin.
        public var path: Path { files[0].path }
        /// The digest of that file.
        public var digest: SHA256Digest { files[0].digest }
        /// The bytes a device fetches.
        public var size: UInt64 { files.map(\.size).reduce(0, +) }
    }

    public let items: [Item]
    /// The origin's `models.json`; of a bucket, as `remote:bucket/models.json`.
    public let manifest: Path
    /// The manifest's serial number after the request.
    public let serial: UInt64
    /// Whether the manifest was written, or would be without a dry run.
    public let changesManifest: Bool
    /// The uploads, made or planned.
    package let plan: PublishPlan
}
