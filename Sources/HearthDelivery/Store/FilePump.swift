import Foundation
import HearthBase

/// Says from another thread that work is no longer wanted.
final class StopFlag: Sendable {
    private let isSet = Locked(false)

    func set() { isSet.withLock { $0 = true } }

    /// - Throws: `CancellationError` once the flag is set.
    func check() throws { if isSet.withLock({ $0 }) { throw CancellationError() } }

    /// Runs a blocking body outside the cooperative pool that hears of the task's cancellation through the flag.
    static func blocking<Result: Sendable>(
        _ body: @escaping @Sendable (StopFlag) throws -> Result
    ) async throws -> Result {
        let flag = StopFlag()
        return try await withTaskCancellationHandler {
            try await HearthBase.blocking {
                try flag.check()
                return try body(flag)
            }
        } onCancel: {
            flag.set()
        }
    }
}

/// Reads a file once, in pieces of 1 MiB, for its digest and perhaps a copy. Blocks.
struct FilePump: Sendable {
    let fileSystem: any FileSystem
    let flag: StopFlag

    /// The digest of a file's bytes; `onPiece` hears how many bytes came each time.
    func digest(of path: Path, onPiece: (UInt64) -> Void = { _ in }) throws -> SHA256Digest {
        try pump(try fileSystem.open(path, .read)) { _, _ in
        } onPiece: {
            onPiece($0)
        }
    }

    /// Copies a file to a new one, brings it to the disk and returns what the bytes hash to.
    func copy(_ source: OpenFile, to target: Path) throws -> SHA256Digest {
        let copy = try fileSystem.open(target, .createNew)
        let digest = try pump(source) {
            try fileSystem.write(copy, $0, at: $1)
        } onPiece: { _ in
        }
        try fileSystem.synchronize(copy)
        return digest
    }

    private func pump(
        _ file: OpenFile, each: (UnsafeRawBufferPointer, UInt64) throws -> Void, onPiece: (UInt64) -> Void
    ) throws -> SHA256Digest {
        var hasher = SHA256Hasher()
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 4096)
        defer { buffer.deallocate() }
        var offset: UInt64 = 0
        while true {
            try flag.check()
            let count = try fileSystem.read(file, into: buffer, at: offset)
            if count == 0 { break }
            let piece = UnsafeRawBufferPointer(rebasing: buffer[..<count])
            hasher.update(piece)
            try each(piece, offset)
            offset += UInt64(count)
            onPiece(UInt64(count))
        }
        return hasher.finalize()
    }
}
