/// The library that reads archives.
package enum ArchiveLibrary: Sendable, Hashable, CaseIterable {
    #if canImport(CArchive)
    /// libarchive: zip, tar, tar.gz and tar.zst.
    case libarchive
    #endif
    /// This package's own readers over zlib: zip, tar and tar.gz.
    case zlib

    /// libarchive where the system has it.
    package static var standard: Self {
        #if canImport(CArchive)
        .libarchive
        #else
        .zlib
        #endif
    }
}
