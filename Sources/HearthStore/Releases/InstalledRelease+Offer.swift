import HearthBase
import HearthCatalog

extension InstalledRelease {
    /// Whether names, lengths and digests are those of an offered release. If the offer has no digest, equal versions
    /// count as equal bytes: publishers give other bytes another version.
    package func holds(_ release: Release) -> Bool {
        func isPromised(_ digest: SHA256Digest, _ size: UInt64, by file: RemoteFile) -> Bool {
            if let promised = file.digest { return digest == promised }
            return file.size.exact.map { size == $0 } ?? (size <= file.size.limit)
        }
        if release.archive != nil {
            guard let archive = receipt.archive, isPromised(archive.digest, archive.size, by: release.file) else {
                return false
            }
        }
        return release.files.dropFirst(release.archive == nil ? 0 : 1).allSatisfy { file in
            receipt.files.contains { $0.name == file.name && isPromised($0.digest, $0.size, by: file) }
        }
    }
}
