import Foundation
import HearthBase

extension HubFile {
    /// The paths in the cache of the Hub's own client that may hold the bytes. The cache is not opened or changed.
    ///
    /// ```
    /// <cache>/models--org--repo/blobs/<SHA-256 or git's SHA-1>      the bytes
    /// <cache>/models--org--repo/snapshots/<commit>/<path>           links to them, or copies without links
    /// ```
    func places(in cache: Path, of reference: HubReference, at commit: String) -> [Path] {
        guard let repository = PathComponent("models--\(reference.organization)--\(reference.repository)"),
            let path, let commit = PathComponent(commit)
        else { return [] }
        let home = cache.appending(repository)
        let name =
            switch content {
            case .sha256(let digest): digest.hex
            case .gitBlob(let blob): blob.hex
            }
        let blob = PathComponent(name).map { home.appending("blobs").appending($0) }
        return [blob, home.appending("snapshots").appending(commit).appending(path)].compactMap(\.self)
    }
}
