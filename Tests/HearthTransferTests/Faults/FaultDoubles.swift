import Foundation
import HearthBase
import HearthHTTP
import HearthTestSupport

@testable import HearthTransfer

/// A disk that has no room for a file's bytes from some place on.
final class FullDisk: ForwardingFileSystem {
    let base: any FileSystem = LocalFileSystem()
    private let end: Locked<UInt64>

    init(at end: UInt64) { self.end = Locked(end) }

    func heal() { end.withLock { $0 = .max } }

    func write(_ file: OpenFile, _ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws {
        let room = end.withLock { $0 - min($0, offset) }
        let fitting = UnsafeRawBufferPointer(rebasing: bytes.prefix(Int(min(room, UInt64(bytes.count)))))
        try base.write(file, fitting, at: offset)
        guard fitting.count == bytes.count else { throw FileError(errno: ENOSPC, doing: "write", path: file.path) }
    }
}
