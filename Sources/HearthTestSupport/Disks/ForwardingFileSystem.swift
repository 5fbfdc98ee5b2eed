import HearthBase

/// A file system that forwards every call to another one, unless it implements the call itself.
package protocol ForwardingFileSystem: FileSystem {
    var base: any FileSystem { get }
}

extension ForwardingFileSystem {
    package func open(_ path: Path, _ mode: OpenMode, permissions: UInt32) throws -> OpenFile {
        try base.open(path, mode, permissions: permissions)
    }
    package func read(_ file: OpenFile, into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws -> Int {
        try base.read(file, into: buffer, at: offset)
    }
    package func write(_ file: OpenFile, _ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws {
        try base.write(file, bytes, at: offset)
    }
    package func allocate(_ file: OpenFile, size: UInt64) throws { try base.allocate(file, size: size) }
    package func truncate(_ file: OpenFile, to size: UInt64) throws { try base.truncate(file, to: size) }
    package func synchronize(_ file: OpenFile) throws { try base.synchronize(file) }
    package func dataRanges(of file: OpenFile) throws -> [Range<UInt64>] { try base.dataRanges(of: file) }
    package func synchronizeFolder(_ path: Path) throws { try base.synchronizeFolder(path) }
    package func status(of file: OpenFile) throws -> FileStatus { try base.status(of: file) }
    package func status(at path: Path, followLinks: Bool) throws -> FileStatus? {
        try base.status(at: path, followLinks: followLinks)
    }
    package func rename(_ source: Path, to target: Path) throws { try base.rename(source, to: target) }
    package func removeFile(_ path: Path) throws { try base.removeFile(path) }
    package func removeFolder(_ path: Path) throws { try base.removeFolder(path) }
    package func makeFolder(_ path: Path, permissions: UInt32) throws {
        try base.makeFolder(path, permissions: permissions)
    }
    package func markFetchable(_ folder: Path) throws { try base.markFetchable(folder) }
    package func makeLink(at path: Path, to target: String) throws { try base.makeLink(at: path, to: target) }
    package func makeHardLink(at path: Path, to target: Path) throws { try base.makeHardLink(at: path, to: target) }
    package func readLink(_ path: Path) throws -> String { try base.readLink(path) }
    package func contents(of folder: Path) throws -> [String] { try base.contents(of: folder) }
    package func freeSpace(at path: Path) throws -> UInt64 { try base.freeSpace(at: path) }
}
