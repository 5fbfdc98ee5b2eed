import HearthBase

/// A file system that hands every call on to another unless it says otherwise.
public protocol ForwardingFileSystem: FileSystem {
    var base: any FileSystem { get }
}

extension ForwardingFileSystem {
    public func open(_ path: Path, _ mode: OpenMode, permissions: UInt32) throws -> OpenFile {
        try base.open(path, mode, permissions: permissions)
    }
    public func read(_ file: OpenFile, into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws -> Int {
        try base.read(file, into: buffer, at: offset)
    }
    public func write(_ file: OpenFile, _ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws {
        try base.write(file, bytes, at: offset)
    }
    public func allocate(_ file: OpenFile, size: UInt64) throws { try base.allocate(file, size: size) }
    public func truncate(_ file: OpenFile, to size: UInt64) throws { try base.truncate(file, to: size) }
    public func synchronize(_ file: OpenFile) throws { try base.synchronize(file) }
    public func dataRanges(of file: OpenFile) throws -> [Range<UInt64>] { try base.dataRanges(of: file) }
    public func synchronizeFolder(_ path: Path) throws { try base.synchronizeFolder(path) }
    public func status(of file: OpenFile) throws -> FileStatus { try base.status(of: file) }
    public func status(at path: Path, followLinks: Bool) throws -> FileStatus? {
        try base.status(at: path, followLinks: followLinks)
    }
    public func rename(_ source: Path, to target: Path) throws { try base.rename(source, to: target) }
    public func removeFile(_ path: Path) throws { try base.removeFile(path) }
    public func removeFolder(_ path: Path) throws { try base.removeFolder(path) }
    public func makeFolder(_ path: Path, permissions: UInt32) throws {
        try base.makeFolder(path, permissions: permissions)
    }
    public func makeLink(at path: Path, to target: String) throws { try base.makeLink(at: path, to: target) }
    public func makeHardLink(at path: Path, to target: Path) throws { try base.makeHardLink(at: path, to: target) }
    public func readLink(_ path: Path) throws -> String { try base.readLink(path) }
    public func contents(of folder: Path) throws -> [String] { try base.contents(of: folder) }
    public func freeSpace(at path: Path) throws -> UInt64 { try base.freeSpace(at: path) }
}
