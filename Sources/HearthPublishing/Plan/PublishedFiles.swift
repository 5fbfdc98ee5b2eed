import Foundation
import HearthBase
import HearthCatalog

extension Release {
    /// The published file with this name and digest.
    func published(_ name: PathComponent, _ digest: SHA256Digest) -> RemoteFile? {
        files.first { $0.name == RelativePath(name) && $0.digest == digest }
    }
}

extension PublishSource {
    /// Whether a published release has the same files.
    /// - Parameter digests: the digests of ``parts``.
    func isContent(of release: Release, digests: [SHA256Digest]) -> Bool {
        guard release.file.digest == digests[0], release.archive == packed?.archive else { return false }
        let published =
            release.archive == nil ? release.companions : release.companions.filter { !$0.locations.isEmpty }
        guard published.count == others.count else { return false }
        return zip(others, digests.dropFirst()).allSatisfy { part, digest in
            published.contains {
                $0.name == RelativePath(part.name) && $0.digest == digest && $0.role == part.role
            }
        }
    }
}
