import Foundation

extension SHA256Digest {
    /// The digest of several files together, in any order: of their names, lengths and digests.
    ///
    /// Hashes a sorted list with the line `<digest> <length> <path>` for each file. A `RelativePath` holds no line feed, so no two
    /// lists read alike.
    package init(listing files: [(path: RelativePath, size: UInt64, digest: SHA256Digest)]) {
        let lines = files.map { "\($0.digest.hex) \($0.size) \($0.path)\n" }
        self.init(hashing: Data(lines.sorted().joined().utf8))
    }
}
