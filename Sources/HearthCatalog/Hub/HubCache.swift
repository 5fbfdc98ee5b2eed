import Foundation
import HearthBase

/// Finds files in the cache of the Hub's own client, without opening or changing them.
///
/// ```
/// <cache>/models--org--repo/blobs/<SHA-256 or git's SHA-1>      the bytes
/// <cache>/models--org--repo/snapshots/<commit>/<path>           links to them, or copies if links are not supported
/// ```
struct HubCache: Sendable {
    package let folder: Path

    /// The paths that may hold the bytes of a file.
    package func places(of file: HubFile, in reference: HubReference, at commit: String) -> [Path] {
        guard let repository = PathComponent("models--\(reference.organization)--\(reference.repository)"),
            let path = file.path, let commit = PathComponent(commit)
        else { return [] }
        let home = folder.appending(repository)
        let name =
            switch file.content {
            case .sha256(let digest): digest.hex
            case .gitBlob(let blob): blob.hex
            }
        let blob = PathComponent(name).map { home.appending("blobs").appending($0) }
        return [blob, home.appending("snapshots").appending(commit).appending(path)].compactMap(\.self)
    }
}
