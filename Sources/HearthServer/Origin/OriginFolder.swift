import Foundation
import HearthBase

/// The folder that an origin serves, held open: every opened file lies in it.
struct OriginFolder: Sendable {
    private let folder: OpenFile
    /// The folder's own path without symbolic links, for systems without `openat2`.
    private let realPath: String

    /// A regular file, open.
    struct Found {
        let file: OpenFile
        let facts: FileFacts
    }

    /// Opens the folder.
    /// - Throws: ``ServerError`` with `folder-missing` or `permission`.
    init(_ path: Path) throws {
        let descriptor = open(path.string, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw ServerError.cannotServe(path, errno: errno) }
        folder = OpenFile(descriptor: descriptor, path: path)
        guard let real = realpath(path.string, nil) else { throw ServerError.cannotServe(path, errno: errno) }
        defer { free(real) }
        realPath = String(cString: real)
    }

    /// Opens a file of the folder; symbolic links are followed only while they stay inside.
    func find(_ target: RequestTarget) throws(OriginRefusal) -> Found {
        let path = target.relativePath
        let descriptor = openBeneath(path)
        guard descriptor >= 0 else { throw OriginRefusal(errno: errno) }
        let file = OpenFile(descriptor: descriptor, path: Path(path))
        var facts = stat()
        guard fstat(descriptor, &facts) == 0 else { throw OriginRefusal(errno: errno) }
        guard facts.st_mode & S_IFMT == S_IFREG else { throw .notFound }
        return Found(file: file, facts: FileFacts(facts))
    }

    private func openBeneath(_ path: String) -> Int32 {
        while true {
            let descriptor = openBeneathFolder(folder.descriptor, path)
            if descriptor >= 0 { return descriptor }
            switch errno {
            case EINTR, EAGAIN: continue  // EAGAIN: a folder of the path was renamed meanwhile
            // An old kernel, or a container whose filter does not know the call.
            case ENOSYS, EPERM: return openAndCheck(path)
            default: return -1
            }
        }
    }

    /// Opens the file, then asks the system for the path of the open file: it cannot be replaced in between.
    private func openAndCheck(_ path: String) -> Int32 {
        let descriptor = openat(folder.descriptor, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else { return -1 }
        guard let place = Self.realPath(of: descriptor), place.hasPrefix(realPath == "/" ? "/" : realPath + "/")
        else {
            close(descriptor)
            errno = EXDEV
            return -1
        }
        return descriptor
    }

    static func realPath(of descriptor: Int32) -> String? {
        #if canImport(Darwin)
        var buffer = [CChar](repeating: 0, count: Int(MAXPATHLEN))
        guard fcntl(descriptor, F_GETPATH, &buffer) == 0 else { return nil }
        return buffer.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } }
        #else
        // Without /proc the path is unknown, and the caller refuses the file.
        return try? LocalFileSystem().readLink(Path("/proc/self/fd/\(descriptor)"))
        #endif
    }
}

extension OriginRefusal {
    /// The refusal for a file that could not be opened.
    init(errno number: Int32) {
        self =
            switch number {
            // EXDEV and ELOOP: a link out of the folder, or a loop of links. The client does not learn which.
            case ENOENT, ENOTDIR, EXDEV, ELOOP, ENAMETOOLONG, ENXIO: .notFound
            case EACCES, EPERM: .forbidden
            case EMFILE, ENFILE, ENOMEM: .busy
            default: .failed
            }
    }
}

extension FileFacts {
    /// The facts of an open file.
    ///
    /// The tag covers everything that changes with the bytes: device and inode, size, and both times to the nanosecond. A
    /// program cannot set the change time back.
    fileprivate init(_ facts: stat) {
        #if canImport(Darwin)
        let (modified, changed) = (facts.st_mtimespec, facts.st_ctimespec)
        #else
        let (modified, changed) = (facts.st_mtim, facts.st_ctim)
        #endif
        let parts = [
            Int64(truncatingIfNeeded: facts.st_dev), Int64(truncatingIfNeeded: facts.st_ino), Int64(facts.st_size),
            Int64(modified.tv_sec), Int64(modified.tv_nsec), Int64(changed.tv_sec), Int64(changed.tv_nsec),
        ]
        let digest = SHA256Digest(hashing: Data(parts.map(String.init).joined(separator: ":").utf8))
        self.init(
            size: UInt64(max(0, facts.st_size)), entityTag: "\"\(digest.hex.prefix(32))\"",
            modified: Int64(modified.tv_sec))
    }
}

extension HearthError where Domain == ServerErrorDomain {
    static func cannotServe(_ path: Path, errno number: Int32) -> Self {
        switch number {
        case EACCES, EPERM:
            Self(
                .permission, "this user may not read the folder \(path)",
                context: ErrorContext(file: path.string, remedy: "Check who owns it and its access rights."))
        case ENOTDIR:
            Self(
                .folderMissing, "\(path) is not a folder",
                context: ErrorContext(file: path.string, remedy: "Give the folder that holds models.json."))
        default:
            Self(
                .folderMissing, "there is no folder \(path)",
                context: ErrorContext(
                    file: path.string, found: "errno \(number)",
                    remedy: "Publish a model into it first, or check the spelling."))
        }
    }
}
