import Foundation

/// What a path leads to.
public struct FileStatus: Sendable, Hashable {
    /// The kinds this package tells apart.
    public enum Kind: Sendable, Hashable { case file, folder, symbolicLink, other }

    public let kind: Kind
    /// The length in bytes.
    public let size: UInt64
    /// The bytes really allocated on the disk.
    public let allocatedSize: UInt64
    public let modified: Date
    /// The device and inode: equal for two names of one file.
    public let identity: FileIdentity

    /// A status of the given facts.
    public init(kind: Kind, size: UInt64, allocatedSize: UInt64, modified: Date, identity: FileIdentity) {
        self.kind = kind
        self.size = size
        self.allocatedSize = allocatedSize
        self.modified = modified
        self.identity = identity
    }
}

/// The device and inode of a file.
public struct FileIdentity: Sendable, Hashable {
    public let device: UInt64
    public let inode: UInt64

    /// An identity of the given numbers.
    public init(device: UInt64, inode: UInt64) {
        self.device = device
        self.inode = inode
    }
}

/// How a file is opened.
public enum OpenMode: Sendable, Hashable {
    case read
    /// Read and write; created empty if missing.
    case readWrite
    /// Write; created, and an error if something is there already.
    case createNew
    /// Read and write past the page cache (`O_DIRECT`), which spares the processor a copy of every byte; it has to be there.
    /// Places, counts and addresses in memory have to be multiples of ``OpenFile/uncachedAlignment``; only at the end of the
    /// file fewer bytes are read. Fails with `EINVAL` or `EOPNOTSUPP` where that is not to be had.
    case uncached
}

/// An open file. Positional reads and writes may come from several threads; it is closed with its last reference.
public final class OpenFile: Sendable {
    /// What reads and writes past the page cache are multiples of, in bytes: no less than what disks and file systems ask for.
    public static let uncachedAlignment = 4096

    public let descriptor: Int32
    public let path: Path

    /// Takes ownership of an open descriptor.
    public init(descriptor: Int32, path: Path) {
        self.descriptor = descriptor
        self.path = path
    }

    deinit { close(descriptor) }
}

/// The seam between this package and the disk: every call that reads or changes it, one method a system call.
///
/// All of them block: call them on a thread of your own or through ``blocking(_:)``. Tests put a file system here that
/// fails the Nth call or records what a power cut would leave.
/// - Throws: ``FileError`` throughout.
public protocol FileSystem: Sendable {
    func open(_ path: Path, _ mode: OpenMode, permissions: UInt32) throws -> OpenFile
    /// Reads up to the buffer's size at an offset (`pread`); fewer bytes only at the end of the file.
    func read(_ file: OpenFile, into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws -> Int
    /// Writes all bytes at an offset (`pwrite`).
    func write(_ file: OpenFile, _ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws
    /// Reserves space, so that a full disk shows before the bytes arrive (`posix_fallocate`). Grows the file to `size`.
    func allocate(_ file: OpenFile, size: UInt64) throws
    func truncate(_ file: OpenFile, to size: UInt64) throws
    /// Lets an empty file share the bytes of another on the disk until either is written to (`FICLONE`); `false` where the
    /// file system cannot do that, and then nothing has changed.
    func clone(_ source: OpenFile, to target: OpenFile) throws -> Bool
    /// Brings a file's bytes and what is needed to read them to the disk (`fdatasync`).
    func synchronize(_ file: OpenFile) throws
    /// Lets the system forget its copy in memory of bytes that are on the disk; a hint, and never an error.
    func releaseCache(_ file: OpenFile, _ range: Range<UInt64>)
    /// The parts of a file that were ever written, as far as the system knows (`SEEK_DATA`); else the whole of it.
    func dataRanges(of file: OpenFile) throws -> [Range<UInt64>]
    /// Brings a folder's entries to the disk (`fsync` on the folder).
    func synchronizeFolder(_ path: Path) throws
    func status(of file: OpenFile) throws -> FileStatus
    /// What is at `path`, `nil` if nothing; a final symbolic link is followed or not.
    func status(at path: Path, followLinks: Bool) throws -> FileStatus?
    func rename(_ source: Path, to target: Path) throws
    /// Removes a file or symbolic link; it is no error if it is gone already.
    func removeFile(_ path: Path) throws
    /// Removes an empty folder.
    func removeFolder(_ path: Path) throws
    func makeFolder(_ path: Path, permissions: UInt32) throws
    func makeLink(at path: Path, to target: String) throws
    func makeHardLink(at path: Path, to target: Path) throws
    func readLink(_ path: Path) throws -> String
    /// The names in a folder, sorted, without `.` and `..`.
    func contents(of folder: Path) throws -> [String]
    /// The bytes this user may still write on the disk that holds `path`.
    func freeSpace(at path: Path) throws -> UInt64
    /// Names the time in which everybody reads what was written although nothing brought it to the disk: it outlives each
    /// process, and ends with the system's cache. `nil` where nobody can say.
    var cacheLifetime: String? { get }
}

extension FileSystem {
    /// What is at `path`, links followed; `nil` if nothing is.
    public func status(at path: Path) throws -> FileStatus? { try status(at: path, followLinks: true) }

    /// Nobody can say.
    public var cacheLifetime: String? { nil }

    /// Keeps everything: a file system without a cache has nothing to forget.
    public func releaseCache(_ file: OpenFile, _ range: Range<UInt64>) {}

    /// The whole file: a file system that keeps no account of holes.
    public func dataRanges(of file: OpenFile) throws -> [Range<UInt64>] { [0..<(try status(of: file).size)] }

    /// Never: a file system that shares nothing.
    public func clone(_ source: OpenFile, to target: OpenFile) throws -> Bool { false }

    /// Opens with the permissions `0644` for a new file.
    public func open(_ path: Path, _ mode: OpenMode) throws -> OpenFile { try open(path, mode, permissions: 0o644) }
}
