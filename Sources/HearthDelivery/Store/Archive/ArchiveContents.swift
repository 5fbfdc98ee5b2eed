import HearthBase

/// What an archive holds, read as a device would read it and held to the same rules: for those who publish one.
public struct ArchiveContents: Sendable, Hashable {
    /// One file inside.
    public struct File: Sendable, Hashable {
        /// Its path in the archive.
        public let path: RelativePath
        /// The length in bytes, unpacked.
        public let size: UInt64
        public let digest: SHA256Digest
        /// The first bytes, at most four.
        public let magic: [UInt8]
    }

    /// In the archive's order; folders are not listed.
    public let files: [File]

    /// The bytes of all files.
    public var totalSize: UInt64 { files.map(\.size).saturatedSum }

    /// Reads an archive from front to back, and writes nothing. Blocks.
    /// - Parameters:
    ///   - archive: a file; it may unpack to at most 50 times its length and 16 MiB.
    ///   - format: what it is.
    ///   - isCancelled: asked between blocks.
    /// - Throws: ``ArchiveError`` for what a device would refuse, with the same code; `FileError`; `CancellationError`.
    public init(
        _ archive: Path, format: ArchiveFormat, fileSystem: any FileSystem = LocalFileSystem(),
        isCancelled: @escaping () -> Bool = { false }
    ) throws {
        let size = try fileSystem.status(of: try fileSystem.open(archive, .read)).size
        let reader = ArchiveReader(
            label: archive.lastComponent, format: format, limits: ArchiveLimits(packedSize: size, storage: nil),
            fileSystem: fileSystem, flag: StopFlag())
        var files: [File] = []
        try reader.read(archive) { entry, contents in
            var hasher = SHA256Hasher()
            var magic: [UInt8] = []
            try contents { block in
                if isCancelled() { throw CancellationError() }
                if magic.count < 4 { magic += block.prefix(4 - magic.count) }
                hasher.update(block)
            }
            files.append(File(path: entry.path, size: entry.size, digest: hasher.finalize(), magic: magic))
        }
        self.files = files
    }
}
