import Foundation

extension SHA256Digest {
    /// Computes one digest of several files, in any order: of their names, lengths and digests.
    ///
    /// Hashes a sorted list with the line `<digest> <length> <path>` for each file. A `RelativePath` contains no line
    /// feed, so two different lists never have the same text.
    package init(listing files: [(path: RelativePath, size: UInt64, digest: SHA256Digest)]) {
        let lines = files.map { "\($0.digest.hex) \($0.size) \($0.path)\n" }
        self.init(hashing: Data(lines.sorted().joined().utf8))
    }
}
