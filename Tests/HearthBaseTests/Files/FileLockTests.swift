import Foundation
import HearthBase
import HearthTestSupport
import Testing

struct FileLockTests {
    private let folder: TemporaryFolder
    private let path: Path

    init() throws {
        folder = try TemporaryFolder()
        path = folder.path("lock")
    }

    @Test func oneHolderAtATime() throws {
        let first = try #require(try FileLock.tryAcquire(path))
        #expect(try FileLock.tryAcquire(path) == nil)
        first.release()
        let second = try #require(try FileLock.tryAcquire(path))
        first.release()
        #expect(try FileLock.tryAcquire(path) == nil)
        second.release()
    }

    /// A program being started holds a copy of every descriptor of this process until its own code begins, and the
    /// system keeps a lock as long as there is a copy: who only closes his own has not let go.
    @Test(arguments: [true, false]) func isFreeAlthoughAChildBeingStartedHasACopy(isReleased: Bool) throws {
        var lock = try FileLock.tryAcquire(path)
        #expect(lock != nil)
        let copy = try #require(copyOfDescriptor())
        defer { close(copy) }
        if isReleased { lock?.release() }
        lock = nil
        #expect(try FileLock.tryAcquire(path) != nil)
    }

    /// What a child gets when it is made.
    private func copyOfDescriptor() -> Int32? {
        var wanted = stat()
        guard stat(path.string, &wanted) == 0 else { return nil }
        for descriptor in Int32(3)..<4096 {
            var found = stat()
            // Looked at first: a copy of somebody else's would get in his way.
            guard fstat(descriptor, &found) == 0, found.st_ino == wanted.st_ino, found.st_dev == wanted.st_dev else {
                continue
            }
            return fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
        }
        return nil
    }
}
