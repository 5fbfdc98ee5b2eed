import Foundation

/// The status of a file, folder or link.
package struct FileStatus: Sendable, Hashable {
    /// The kinds of entries that this package distinguishes.
    package enum Kind: Sendable, Hashable { case file, folder, symbolicLink, other }

    package let kind: Kind
    /// The length in bytes.
    package let size: UInt64
    /// The bytes allocated on the disk.
    package let allocatedSize: UInt64
    package let modified: Date
    /// The device and inode: the same for two names of one file.
    package let identity: FileIdentity
}

/// The device and inode of a file.
package struct FileIdentity: Sendable, Hashable {
    package let device: UInt64
    package let inode: UInt64

    /// Makes an identity.
    package init(device: UInt64, inode: UInt64) {
        self.device = device
        self.inode = inode
    }
}

/// The modes of opening a file.
package enum OpenMode: Sendable, Hashable {
    case read
    /// Read and write; a missing file is created empty.
    case readWrite
    /// Read and write; an error if the file is missing or a symbolic link.
    case update
    /// Write to a new file; an error if the name exists.
    case createNew
    /// Read and write an existing file past the page cache (`O_DIRECT`), which saves a copy of every byte. Offsets,
    /// counts and addresses in memory must be multiples of ``OpenFile/uncachedAlignment``; only a read at the end of
    /// the file returns fewer bytes. Fails with `EINVAL` or `EOPNOTSUPP` if the file system does not support it.
    case uncached
}

/// An open file. Several threads may read and write at offsets. The file is closed with its last reference.
package final class OpenFile: Sendable {
    /// The alignment in bytes of reads and writes past the page cache: at least that of disks and file systems.
    package static let uncachedAlignment = 4096

    package let descriptor: Int32
    package let path: Path

    /// Takes ownership of an open descriptor.
    package init(descriptor: Int32, path: Path) {
        self.descriptor = descriptor
        self.path = path
    }

    deinit { close(descriptor) }
}

/// The interface to the disk: one method for each system call that reads or changes it.
///
/// All calls block: make them on a separate thread or through ``blocking(_:)``. Tests use a file system that fails the
/// Nth call or records the state after a power cut.
/// - Throws: ``FileError`` from every method.
package protocol FileSystem: Sendable {
    func open(_ path: Path, _ mode: OpenMode, permissions: UInt32) throws -> OpenFile
    /// Reads up to the buffer's size at an offset (`pread`); fewer bytes only at the end of the file.
    func read(_ file: OpenFile, into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws -> Int
    /// Writes all bytes at an offset (`pwrite`).
    func write(_ file: OpenFile, _ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws
    /// Reserves space and grows the file to `size`, so that a full disk is found before the bytes arrive
    /// (`posix_fallocate`).
    func allocate(_ file: OpenFile, size: UInt64) throws
    func truncate(_ file: OpenFile, to size: UInt64) throws
    /// Makes an empty file share the bytes of another on the disk until either is written (`FICLONE`). Returns `false`
    /// and changes nothing if the file system does not support it.
    func clone(_ source: OpenFile, to target: OpenFile) throws -> Bool
    /// Synchronises a file's bytes with the metadata needed to read them (`fdatasync`).
    func synchronize(_ file: OpenFile) throws
    /// Tells the system that it can drop a range of synchronised bytes from its cache; never an error.
    func releaseCache(_ file: OpenFile, _ range: Range<UInt64>)
    /// The written ranges of a file, if the system knows them (`SEEK_DATA`); otherwise the whole file.
    func dataRanges(of file: OpenFile) throws -> [Range<UInt64>]
    /// Synchronises a folder's entries (`fsync` on the folder).
    func synchronizeFolder(_ path: Path) throws
    func status(of file: OpenFile) throws -> FileStatus
    /// The status of `path`, `nil` if it does not exist. `followLinks` decides whether a final symbolic link is
    /// followed.
    func status(at path: Path, followLinks: Bool) throws -> FileStatus?
    func rename(_ source: Path, to target: Path) throws
    /// Removes a file or symbolic link; no error if it does not exist.
    func removeFile(_ path: Path) throws
    /// Removes an empty folder.
    func removeFolder(_ path: Path) throws
    func makeFolder(_ path: Path, permissions: UInt32) throws
    /// Tells the system that the files of a folder can be fetched again: on Apple platforms backups leave them out, and
    /// except on macOS they can be read from the first unlock after a start of the device on. Does nothing on Linux.
    func markFetchable(_ folder: Path) throws
    func makeLink(at path: Path, to target: String) throws
    func makeHardLink(at path: Path, to target: Path) throws
    func readLink(_ path: Path) throws -> String
    /// The names in a folder, sorted, without `.` and `..`.
    func contents(of folder: Path) throws -> [String]
    /// The free bytes that this user may write on the disk that holds `path`.
    func freeSpace(at path: Path) throws -> UInt64
}

extension FileSystem {
    /// The status of `path` with links followed; `nil` if it does not exist.
    package func status(at path: Path) throws -> FileStatus? { try status(at: path, followLinks: true) }

    /// Does nothing, for a file system without a cache.
    package func releaseCache(_ file: OpenFile, _ range: Range<UInt64>) {}

    /// The whole file, for a file system that does not record holes.
    package func dataRanges(of file: OpenFile) throws -> [Range<UInt64>] { [0..<(try status(of: file).size)] }

    /// Returns `false`, for a file system that cannot share bytes.
    package func clone(_ source: OpenFile, to target: OpenFile) throws -> Bool { false }

    /// Opens a file; a new one gets the permissions `0644`.
    package func open(_ path: Path, _ mode: OpenMode) throws -> OpenFile { try open(path, mode, permissions: 0o644) }
}
