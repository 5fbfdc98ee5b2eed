import Foundation

/// An exclusive lock on a file, between processes and within one. The system releases it when its process ends.
package final class FileLock: Sendable {
    private let descriptor: Locked<Int32?>

    private init(descriptor: Int32) { self.descriptor = Locked(descriptor) }

    deinit { release() }

    /// Takes the lock if it is free, `nil` otherwise. A missing file is created, and is not removed.
    /// - Throws: ``FileError``.
    package static func tryAcquire(_ path: Path) throws -> FileLock? {
        let descriptor = open(path.string, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw FileError(errno: errno, doing: "lock", path: path) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) != 0 else { return FileLock(descriptor: descriptor) }
        let number = errno
        close(descriptor)
        if number == EWOULDBLOCK { return nil }
        throw FileError(errno: number, doing: "lock", path: path)
    }

    /// Waits for the lock of a short change; `nil` if another holder keeps it longer than `limit`. Blocks.
    /// - Throws: ``FileError``.
    package static func acquire(_ path: Path, within limit: Duration) throws -> FileLock? {
        let end = ContinuousClock.now + limit
        while true {
            if let lock = try tryAcquire(path) { return lock }
            guard ContinuousClock.now < end else { return nil }
            usleep(2000)
        }
    }

    /// The outcome of ``attempt(_:)``.
    package enum Attempt: Sendable {
        case taken(FileLock)
        case heldByAnother
        /// The file system has no locks.
        case unsupported
    }

    /// Tries to take the lock; reports whether the file system has locks.
    /// - Throws: ``FileError`` for any other failure.
    package static func attempt(_ path: Path) throws -> Attempt {
        do {
            return try tryAcquire(path).map { .taken($0) } ?? .heldByAnother
        } catch let error as FileError where error.isSystemError(ENOLCK, EOPNOTSUPP, ENOSYS) {
            return .unsupported
        }
    }

    /// Releases the lock; a second call does nothing.
    package func release() {
        let held = descriptor.withLock { descriptor in
            defer { descriptor = nil }
            return descriptor
        }
        guard let held else { return }
        // Closing the file is not enough: a child process that another thread is starting has a copy of the descriptor
        // until its own code begins, and would keep the lock until then.
        _ = flock(held, LOCK_UN)
        close(held)
    }
}
