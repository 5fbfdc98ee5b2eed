import CProcess
import Foundation

/// The file system of this machine.
package struct LocalFileSystem: FileSystem {
    /// The local file system.
    package init() {}

    package func open(_ path: Path, _ mode: OpenMode, permissions: UInt32) throws -> OpenFile {
        let flags =
            switch mode {
            // Without O_NONBLOCK, opening a named pipe would wait for a writer; regular files ignore the flag.
            case .read: O_RDONLY | O_NONBLOCK
            case .readWrite: O_RDWR | O_CREAT
            case .update: O_RDWR | O_NOFOLLOW | O_NONBLOCK
            case .createNew: O_RDWR | O_CREAT | O_EXCL
            case .uncached: O_RDWR | (try Self.uncached(path))
            }
        let descriptor = try check("open", path) { openFile(path.string, flags | O_CLOEXEC, mode_t(permissions)) }
        return OpenFile(descriptor: descriptor, path: path)
    }

    private static func uncached(_ path: Path) throws -> Int32 {
        let flag = hearth_file_direct_flag()
        guard flag != 0 else { throw FileError(errno: EOPNOTSUPP, doing: "open", path: path) }
        return flag
    }

    package func read(_ file: OpenFile, into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws -> Int {
        let start = try position(offset, buffer.count, "read", file.path)
        var done = 0
        while done < buffer.count {
            let count = try check("read", file.path) {
                pread(
                    file.descriptor, buffer.baseAddress.map { $0 + done }, buffer.count - done, start + off_t(done))
            }
            if count == 0 { break }
            done += count
        }
        return done
    }

    package func write(_ file: OpenFile, _ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws {
        let start = try position(offset, bytes.count, "write", file.path)
        var done = 0
        var wasCutShort = false
        while done < bytes.count {
            let count = try check("write", file.path) {
                pwrite(
                    file.descriptor, bytes.baseAddress.map { $0 + done }, bytes.count - done, start + off_t(done))
            }
            guard count > 0 else { throw FileError(errno: EIO, doing: "write", path: file.path) }
            wasCutShort = wasCutShort || count < bytes.count - done
            done += count
        }
        // Rare. After a short write, a failing system may count bytes that it did not write. A digest of the bytes in
        // memory would not detect that.
        if wasCutShort, try !holds(file, bytes, at: offset) {
            throw FileError(errno: EIO, doing: "write", path: file.path)
        }
    }

    /// Whether a file has these bytes at an offset.
    private func holds(_ file: OpenFile, _ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws -> Bool {
        // Aligned, for files that are read past the page cache.
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: min(bytes.count, 64 << 10), alignment: 4096)
        defer { buffer.deallocate() }
        var done = 0
        while done < bytes.count {
            let part = UnsafeRawBufferPointer(rebasing: bytes[done..<min(bytes.count, done + buffer.count)])
            let read = UnsafeMutableRawBufferPointer(rebasing: buffer[..<part.count])
            let count = try self.read(file, into: read, at: offset + UInt64(done))
            guard count == part.count, read.elementsEqual(part) else { return false }
            done += count
        }
        return true
    }

    package func allocate(_ file: OpenFile, size: UInt64) throws {
        let length = try position(size, 0, "reserve space for", file.path)
        guard length > 0 else { return }
        #if os(Linux)
        var number = EINTR
        while number == EINTR { number = posix_fallocate(file.descriptor, 0, length) }
        if number == 0 { return }
        guard number == EOPNOTSUPP || number == EINVAL else {
            throw FileError(errno: number, doing: "reserve space for", path: file.path)
        }
        #endif
        // If the file system cannot reserve space, the file is extended to its length, and never truncated.
        if try status(of: file).size < size { try truncate(file, to: size) }
    }

    package func truncate(_ file: OpenFile, to size: UInt64) throws {
        let length = try position(size, 0, "truncate", file.path)
        _ = try check("truncate", file.path) { ftruncate(file.descriptor, length) }
    }

    package func clone(_ source: OpenFile, to target: OpenFile) throws -> Bool {
        #if os(Linux)
        // `FICLONE` of <linux/fs.h>, a macro that Swift does not import: _IOW(0x94, 9, int).
        let request: UInt = 0x4004_9409
        var number = EINTR
        while number == EINTR { number = ioctl(target.descriptor, request, source.descriptor) == 0 ? 0 : errno }
        switch number {
        case 0: return true
        case EOPNOTSUPP, ENOTTY, EXDEV, EINVAL, ENOSYS, EPERM: return false
        default: throw FileError(errno: number, doing: "clone to", path: target.path)
        }
        #else
        return false
        #endif
    }

    package func synchronize(_ file: OpenFile) throws {
        #if canImport(Darwin)
        _ = try check("synchronize", file.path) { fcntl(file.descriptor, F_FULLFSYNC) }
        #else
        _ = try check("synchronize", file.path) { fdatasync(file.descriptor) }
        #endif
    }

    package func releaseCache(_ file: OpenFile, _ range: Range<UInt64>) {
        #if os(Linux)
        guard let start = off_t(exactly: range.lowerBound), let count = off_t(exactly: range.count) else { return }
        _ = posix_fadvise(file.descriptor, start, count, POSIX_FADV_DONTNEED)
        #endif
    }

    package func dataRanges(of file: OpenFile) throws -> [Range<UInt64>] {
        let size = try status(of: file).size
        #if os(Linux)
        // `SEEK_DATA` and `SEEK_HOLE`, which Swift does not import: GNU extensions of <unistd.h>.
        let (seekData, seekHole): (Int32, Int32) = (3, 4)
        var ranges: [Range<UInt64>] = []
        var offset: off_t = 0
        while offset < size {
            let start = lseek(file.descriptor, offset, seekData)
            // Either only a hole follows, or the file system does not record holes.
            if start < 0 { return errno == ENXIO ? ranges : [0..<size] }
            let end = lseek(file.descriptor, start, seekHole)
            guard end > start else { return [0..<size] }
            ranges.append(UInt64(start)..<UInt64(end))
            offset = end
        }
        return ranges
        #else
        return [0..<size]
        #endif
    }

    package func synchronizeFolder(_ path: Path) throws {
        let folder = try open(path, .read, permissions: 0)
        do {
            _ = try check("synchronize", path) { fsync(folder.descriptor) }
        } catch let error as FileError where error.isSystemError(EINVAL) {
            // Some network and user-space file systems cannot synchronise folders; there is no other way.
        }
    }

    package func status(of file: OpenFile) throws -> FileStatus {
        var facts = stat()
        _ = try check("examine", file.path) { fstat(file.descriptor, &facts) }
        return FileStatus(facts)
    }

    package func status(at path: Path, followLinks: Bool) throws -> FileStatus? {
        try checkText(path, "examine")
        var facts = stat()
        let result = followLinks ? stat(path.string, &facts) : lstat(path.string, &facts)
        guard result != 0 else { return FileStatus(facts) }
        if errno == ENOENT { return nil }
        throw FileError(errno: errno, doing: "examine", path: path)
    }

    package func rename(_ source: Path, to target: Path) throws {
        try checkText(source, "move")
        _ = try check("move to", target) { renameFile(source.string, target.string) }
    }

    package func removeFile(_ path: Path) throws {
        try checkText(path, "remove")
        guard unlink(path.string) != 0, errno != ENOENT else { return }
        throw FileError(errno: errno, doing: "remove", path: path)
    }

    package func removeFolder(_ path: Path) throws {
        _ = try check("remove", path) { rmdir(path.string) }
    }

    package func makeFolder(_ path: Path, permissions: UInt32) throws {
        _ = try check("create", path) { mkdir(path.string, mode_t(permissions)) }
    }

    package func makeLink(at path: Path, to target: String) throws {
        try checkText(Path(target), "link to")
        _ = try check("create", path) { symlink(target, path.string) }
    }

    package func makeHardLink(at path: Path, to target: Path) throws {
        try checkText(target, "link to")
        _ = try check("create", path) { link(target.string, path.string) }
    }

    package func readLink(_ path: Path) throws -> String {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = try check("read", path) { readlink(path.string, &buffer, buffer.count) }
        return String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    package func contents(of folder: Path) throws -> [String] {
        try checkText(folder, "list")
        guard let stream = opendir(folder.string) else { throw FileError(errno: errno, doing: "list", path: folder) }
        defer { closedir(stream) }
        var names: [String] = []
        while true {
            errno = 0
            guard let entry = readdir(stream) else { break }
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != "." && name != ".." { names.append(name) }
        }
        guard errno == 0 else { throw FileError(errno: errno, doing: "list", path: folder) }
        return names.sorted()
    }

    package func freeSpace(at path: Path) throws -> UInt64 {
        var facts = statvfs()
        _ = try check("examine the disk of", path) { statvfs(path.string, &facts) }
        let (bytes, isTooMany) = UInt64(facts.f_bavail).multipliedReportingOverflow(by: UInt64(facts.f_frsize))
        return isTooMany ? .max : bytes
    }

    /// Repeats a call that a signal interrupted and turns any other failure into an error.
    private func check<Count: SignedInteger>(_ doing: String, _ path: Path, _ call: () -> Count) throws -> Count {
        try checkText(path, doing)
        while true {
            let result = call()
            if result >= 0 { return result }
            let number = errno
            guard number == EINTR else { throw FileError(errno: number, doing: doing, path: path) }
        }
    }

    /// Refuses a NUL, at which the system's text ends: the part before it would be the name of another file.
    private func checkText(_ path: Path, _ doing: String) throws {
        if path.string.utf8.contains(0) { throw FileError(errno: EINVAL, doing: doing, path: path) }
    }

    /// Converts an offset to `off_t`; refused if it or the end of the range is too large.
    private func position(_ offset: UInt64, _ count: Int, _ doing: String, _ path: Path) throws -> off_t {
        guard let position = off_t(exactly: offset), off_t.max - position >= off_t(count) else {
            throw FileError(errno: EFBIG, doing: doing, path: path)
        }
        return position
    }
}

/// The system's call, which a method of the same name hides.
private func openFile(_ path: String, _ flags: Int32, _ permissions: mode_t) -> Int32 { open(path, flags, permissions) }

/// The system's call, which a method of the same name hides.
private func renameFile(_ source: String, _ target: String) -> Int32 { rename(source, target) }

extension FileStatus {
    fileprivate init(_ facts: stat) {
        let kind: Kind =
            switch facts.st_mode & S_IFMT {
            case S_IFREG: .file
            case S_IFDIR: .folder
            case S_IFLNK: .symbolicLink
            default: .other
            }
        #if canImport(Darwin)
        let modified = facts.st_mtimespec
        #else
        let modified = facts.st_mtim
        #endif
        self.init(
            kind: kind, size: UInt64(max(0, facts.st_size)), allocatedSize: UInt64(max(0, facts.st_blocks)) * 512,
            modified: Date(timeIntervalSince1970: Double(modified.tv_sec) + Double(modified.tv_nsec) * 1e-9),
            identity: FileIdentity(device: UInt64(truncatingIfNeeded: facts.st_dev), inode: UInt64(facts.st_ino)))
    }
}
