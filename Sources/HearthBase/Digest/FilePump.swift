/// Reads files in pieces of 1 MiB, for a digest, a copy or both. Blocks.
package struct FilePump: Sendable {
    package let fileSystem: any FileSystem
    /// Stops the reading before the next piece.
    package let flag: StopFlag?

    /// Makes a pump that stops when the flag is set.
    package init(fileSystem: any FileSystem, flag: StopFlag? = nil) {
        self.fileSystem = fileSystem
        self.flag = flag
    }

    /// Reads a range of a file, at most to the end of the file.
    /// - Parameter each: receives every piece and its place in the file.
    /// - Returns: the number of bytes read.
    @discardableResult
    package func read(
        _ file: OpenFile, _ range: Range<UInt64> = 0..<UInt64.max,
        each: (UnsafeRawBufferPointer, UInt64) throws -> Void
    ) throws -> UInt64 {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 4096)
        defer { buffer.deallocate() }
        var offset = range.lowerBound
        while offset < range.upperBound {
            try flag?.check()
            let left = Int(clamping: range.upperBound - offset)
            let room = UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(left))
            let count = try fileSystem.read(file, into: room, at: offset)
            if count == 0 { break }
            try each(UnsafeRawBufferPointer(rebasing: buffer[..<count]), offset)
            offset += UInt64(count)
        }
        return offset - range.lowerBound
    }

    /// The digest of a file's bytes; `onPiece` receives the number of bytes read each time.
    package func digest(of path: Path, onPiece: (UInt64) -> Void = { _ in }) throws -> SHA256Digest {
        var hasher = SHA256Hasher()
        try read(try fileSystem.open(path, .read)) { piece, _ in
            hasher.update(piece)
            onPiece(UInt64(piece.count))
        }
        return hasher.finalize()
    }

    /// Git's name and the digest of a file's bytes, from one reading.
    /// - Throws: `FileError`; ``DigestError`` with `digest-unavailable`.
    package func gitBlob(of path: Path) throws -> (blob: GitBlobID, digest: SHA256Digest) {
        let file = try fileSystem.open(path, .read)
        var blob = try GitBlobHasher(size: try fileSystem.status(of: file).size)
        var digest = SHA256Hasher()
        try read(file) { piece, _ in
            try blob.update(piece)
            digest.update(piece)
        }
        return (try blob.finalize(), digest.finalize())
    }

    /// Copies a file to a new one, synchronises it and returns the digest of the bytes.
    package func copy(_ source: OpenFile, to target: Path) throws -> SHA256Digest {
        let copy = try fileSystem.open(target, .createNew)
        var hasher = SHA256Hasher()
        try read(source) { piece, offset in
            hasher.update(piece)
            try fileSystem.write(copy, piece, at: offset)
        }
        try fileSystem.synchronize(copy)
        return hasher.finalize()
    }
}

extension FileSystem {
    /// The SHA-256 of a file, read in pieces of 1 MiB. Blocks for about half a second per GiB.
    package func digest(ofFile path: Path) throws -> SHA256Digest {
        try FilePump(fileSystem: self).digest(of: path)
    }
}
