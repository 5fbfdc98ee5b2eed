import HearthBase

extension ChunkIndex {
    /// The index and the digest of a file, read once. Blocks for about a second per GiB.
    /// - Throws: `FileError`, or ``DigestError`` with `index-invalid` for a file of more than ``maximumCount`` chunks.
    package static func make(
        ofFile path: Path, on fileSystem: any FileSystem, length: UInt32 = fixedLength
    ) throws -> (index: ChunkIndex, digest: SHA256Digest) {
        var builder = ChunkIndexBuilder(length: length)
        try FilePump(fileSystem: fileSystem).read(try fileSystem.open(path, .read)) { piece, _ in builder.update(piece)
        }
        return try builder.finalize()
    }
}
