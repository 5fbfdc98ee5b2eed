import Foundation
import HearthBase
import HearthDelivery

/// Reads a file once: for its digest, its chunk index and, if wanted, a copy. Blocks.
struct FileCopier {
    let fileSystem: any FileSystem
    let progress: @Sendable (PublishProgress) -> Void
    /// Asked between pieces.
    let isCancelled: @Sendable () -> Bool

    /// What was read.
    struct Result {
        let index: ChunkIndex
        let digest: SHA256Digest
        var size: UInt64 { index.fileSize }
    }

    /// The digest and index of a file.
    func hash(_ source: PublishPart) throws -> Result {
        let file = try fileSystem.open(source.path, .read)
        return try read(file, of: source) { _, _ in }
    }

    /// Copies a file to `target`: under a temporary name, brought to the disk, then renamed; `target` is whole or not there.
    /// - Parameter expected: the digest the file had when it was looked at, if it was.
    func copy(_ source: PublishPart, to target: Path, expected: SHA256Digest?) throws -> Result {
        let file = try fileSystem.open(source.path, .read)
        if try fileSystem.status(at: target, followLinks: false)?.identity == source.status.identity {
            // Published where it lies.
            let result = try read(file, of: source) { _, _ in }
            guard expected == nil || expected == result.digest else { throw changed(source) }
            try fileSystem.synchronize(file)
            try fileSystem.synchronizeFolder(target.parent)
            return result
        }
        let temporary = target.parent.appendingTemporary(besides: target.lastComponent)
        let copy = try fileSystem.open(temporary, .createNew)
        do {
            try fileSystem.allocate(copy, size: source.status.size)
            let result = try read(file, of: source) { bytes, offset in try fileSystem.write(copy, bytes, at: offset) }
            guard expected == nil || expected == result.digest else { throw changed(source) }
            try fileSystem.synchronize(copy)
            try fileSystem.rename(temporary, to: target)
            try fileSystem.synchronizeFolder(target.parent)
            return result
        } catch {
            // The first error is the one to report; a temporary file that stays is recognisable by its name.
            try? fileSystem.removeFile(temporary)
            throw error
        }
    }

    private func read(
        _ file: OpenFile, of source: PublishPart, _ consume: (UnsafeRawBufferPointer, UInt64) throws -> Void
    ) throws -> Result {
        var builder = ChunkIndexBuilder()
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 4096)
        defer { buffer.deallocate() }
        var offset: UInt64 = 0
        while true {
            if isCancelled() { throw CancellationError() }
            let count = try fileSystem.read(file, into: buffer, at: offset)
            if count == 0 { break }
            let bytes = UnsafeRawBufferPointer(rebasing: buffer[..<count])
            builder.update(bytes)
            try consume(bytes, offset)
            offset += UInt64(count)
            guard offset <= source.status.size else { throw changed(source) }
            progress(PublishProgress(file: source.path, completedBytes: offset, totalBytes: source.status.size))
        }
        let status = try fileSystem.status(of: file)
        guard offset == source.status.size, status.modified == source.status.modified else { throw changed(source) }
        let (index, digest) = try builder.finalize()
        return Result(index: index, digest: digest)
    }

    private func changed(_ source: PublishPart) -> PublishingError {
        PublishingError(
            .sourceChanged, "\(source.path) changed while it was read",
            context: ErrorContext(file: source.path.string, remedy: "Publish it when it is finished."))
    }
}
