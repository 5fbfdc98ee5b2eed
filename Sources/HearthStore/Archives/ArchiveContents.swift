import HearthBase
import HearthCatalog

/// Contents of an archive, read by the rules of a device, for publishers.
package struct ArchiveContents: Sendable, Hashable {
    /// A file in the archive.
    package struct Entry: Sendable, Hashable {
        /// Its path in the archive.
        package let path: RelativePath
        /// The length in bytes, unpacked.
        package let size: UInt64
        package let digest: SHA256Digest
        /// The first bytes, at most four.
        package let magic: [UInt8]
    }

    /// In the archive's order; folders are not listed.
    package let files: [Entry]

    /// The bytes of all files.
    package var totalSize: UInt64 { files.map(\.size).saturatedSum }

    /// Reads an archive from front to back, and writes nothing. Blocks.
    /// - Parameters:
    ///   - archive: a file; it may unpack to at most 50 times its length and 16 MiB.
    ///   - format: the archive's format.
    ///   - library: the library that reads it.
    ///   - isCancelled: called between blocks.
    /// - Throws: ``StoreError`` with the code with which a device would refuse it; `FileError`; `CancellationError`.
    package init(
        _ archive: Path, format: ArchiveFormat, library: ArchiveLibrary = .standard,
        fileSystem: any FileSystem = LocalFileSystem(),
        isCancelled: @escaping () -> Bool = { false }
    ) throws {
        let size = try fileSystem.status(of: try fileSystem.open(archive, .read)).size
        let reader = ArchiveReader(
            label: archive.lastComponent, format: format, limits: ArchiveLimits(packedSize: size, storage: nil),
            fileSystem: fileSystem, flag: StopFlag(), library: library)
        var files: [Entry] = []
        try reader.read(archive) { entry, contents in
            var hasher = SHA256Hasher()
            var magic: [UInt8] = []
            try contents { block in
                if isCancelled() { throw CancellationError() }
                if magic.count < 4 { magic += block.prefix(4 - magic.count) }
                hasher.update(block)
            }
            files.append(Entry(path: entry.path, size: entry.size, digest: hasher.finalize(), magic: magic))
        }
        self.files = files
    }
}
