import Foundation
import HearthBase
import HearthHTTP

/// Verifies an origin's signed metadata as a device that trusts its first root does, and keeps nothing.
///
/// Devices follow the roots from theirs to the newest one. So each device that trusts a root of the origin accepts what a
/// device with the first root accepts, unless it has seen later metadata.
package struct TrustInspection: Sendable {
    private let metadata: URL
    private let files: SignedFiles

    /// - Parameter metadata: the address of the folder of the metadata.
    package init(metadata: URL, http: any HTTPClient) {
        self.metadata = metadata
        files = SignedFiles(http: http)
    }

    /// The signed list of files.
    package struct Signed: Sendable {
        package let targets: TargetsMetadata
        fileprivate let isConsistent: Bool
    }

    /// Follows the roots, and verifies timestamp, snapshot and targets.
    /// - Throws: as ``TrustSession/refresh()``.
    package func run(now: Date) async throws -> Signed {
        let first = MetadataRole.root.addressName(version: 1)
        guard let root = try await files.bytes(first, below: metadata, limit: MetadataRole.root.sizeLimit) else {
            throw TrustError.missing(first)
        }
        var update = try TrustUpdate(root: root, now: now)
        var event: TrustUpdate.Event? = .start
        while let next = event {
            try Task.checkCancellation()
            event = nil
            for effect in try update.next(next) {
                switch effect {
                case .load: event = .stored(nil)
                case .fetch(_, let name, let limit):
                    event = try await files.bytes(name, below: metadata, limit: limit).map { .received($0) } ?? .absent
                case .keep, .forget, .refreshed, .found: break
                }
            }
        }
        guard let targets = update.targets else { throw TrustError.missing("\(MetadataRole.targets)") }
        return Signed(targets: targets, isConsistent: update.root.isConsistent)
    }

    /// Downloads and checks a file of the list, of at most `limit` bytes.
    /// - Throws: as ``TrustSession/download(_:below:limit:)``.
    package func download(_ file: TargetFile, of signed: Signed, below targets: URL, limit: Int) async throws -> Data {
        try await files.target(file, below: targets, limit: limit, isConsistent: signed.isConsistent)
    }
}
