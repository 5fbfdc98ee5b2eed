import Foundation
import HearthBase

/// The cache of the Hub's own client, as far as files are read from it: names only, nothing is opened or changed here.
///
/// ```
/// <cache>/models--org--repo/blobs/<SHA-256 or git's SHA-1>      the bytes
/// <cache>/models--org--repo/snapshots/<commit>/<path>           links to them, or copies where there are no links
/// ```
struct HubCache: Sendable {
    let folder: Path

    /// Where the bytes of a file may lie.
    func places(of file: HubFile, in reference: HubReference, at commit: String) -> [Path] {
        guard let repository = PathComponent("models--\(reference.organisation)--\(reference.repository)"),
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
