import Foundation
import HearthBase

/// The changes that a publication makes to an origin, in order. A value: `--dry-run` prints it, a ``PublishTarget``
/// carries it out.
///
/// Devices read the origin at any moment. So each file is in its place before anything names it, and the file that
/// makes all of it visible is the last: the catalog, and for signed origins the timestamp.
package struct PublishPlan: Sendable, Hashable {
    /// The uploads, in the order in which they are made.
    package private(set) var steps: [PublishStep] = []

    package init() {}

    /// Adds a step behind those of its kind.
    package mutating func add(_ step: PublishStep) {
        let place = steps.lastIndex { $0.kind <= step.kind }.map { $0 + 1 } ?? 0
        if !steps.contains(where: { $0.place == step.place }) { steps.insert(step, at: place) }
    }

    /// The bytes to upload.
    package var size: UInt64 { steps.map(\.size).saturatedSum }
}

/// One upload.
package struct PublishStep: Sendable, Hashable {
    /// What is uploaded; the order of the cases is that of the uploads.
    package enum Kind: Int, Sendable, Hashable, Comparable {
        /// Weights, archives, companions and lists of classes.
        case file
        case index
        /// The copy of the catalog under its digest, `targets/<sha256>.models.json`. Signed clients read it; pruning
        /// reads it to learn what recent catalogs name.
        case copy
        case catalog
        /// The catalog of one model, for apps that read that dialect.
        case singleCatalog
        /// Signed metadata, except the timestamp.
        case metadata
        case timestamp

        package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
    }

    /// The bytes.
    package enum Content: Sendable, Hashable {
        /// A file, and the date of its last change when it was read.
        case file(Path, modified: Date)
        case data(Data)
    }

    /// What must hold at the place, so that two publishers do not overwrite each other's catalogs.
    package enum Condition: Sendable, Hashable {
        case none
        /// The place is empty.
        case absent
        /// The object has this entity tag.
        case unchanged(String)
    }

    package let kind: Kind
    /// The place below the origin's address.
    package let place: RelativePath
    package let content: Content
    package let size: UInt64
    package let digest: SHA256Digest
    /// Whether the bytes at the place never change, so that caches may keep them.
    package let isImmutable: Bool
    package var condition = Condition.none

    /// Uploads a file whose size and digest are known.
    package init(
        _ kind: Kind, _ place: RelativePath, file: Path, modified: Date, size: UInt64, digest: SHA256Digest
    ) {
        self.kind = kind
        self.place = place
        content = .file(file, modified: modified)
        self.size = size
        self.digest = digest
        isImmutable = true
    }

    /// Uploads bytes in memory.
    package init(_ kind: Kind, _ place: RelativePath, data: Data, isImmutable: Bool, condition: Condition = .none) {
        self.kind = kind
        self.place = place
        content = .data(data)
        size = UInt64(data.count)
        digest = SHA256Digest(hashing: data)
        self.isImmutable = isImmutable
        self.condition = condition
    }

    /// The header that tells caches how long they may keep the bytes.
    package var cacheControl: String { isImmutable ? OriginHeaders.immutable : OriginHeaders.changing }

    /// The media type.
    package var contentType: String { OriginHeaders.contentType(of: place.last.name) }
}
