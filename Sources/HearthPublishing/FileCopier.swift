import Foundation
import HearthBase

/// Reads a file once, to compute its digest and chunk index and, if wanted, to copy it. Blocks.
struct FileCopier {
    let fileSystem: any FileSystem
    let progress: @Sendable (_ file: Path, _ completedBytes: UInt64, _ totalBytes: UInt64) -> Void
    /// Called between reads.
    let isCancelled: @Sendable () -> Bool

    /// The results of a read.
    struct Result {
        let index: ChunkIndex
        let digest: SHA256Digest
        var size: UInt64 { index.fileSize }
    }

    /// Computes the digest and chunk index of a file.
    func hash(_ source: PublishPart) throws -> Result {
        let file = try fileSystem.open(source.path, .read)
        return try read(file, of: source) { _, _ in }
    }

    /// Copies a file to `target`: writes it under a temporary name, syncs it, then renames it. So `target` is never
    /// partial.
    /// - Parameter expected: the file's digest from an earlier read, if there was one.
    func copy(_ source: PublishPart, to target: Path, expected: SHA256Digest?) throws -> Result {
        let file = try fileSystem.open(source.path, .read)
        if try fileSystem.status(at: target, followLinks: false)?.identity == source.status.identity {
            // The source is already at its place in the origin.
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
            // Report the first error. A temporary file that stays is recognisable by its name.
            try? fileSystem.removeFile(temporary)
            throw error
        }
    }

    private func read(
        _ file: OpenFile, of source: PublishPart, _ consume: (UnsafeRawBufferPointer, UInt64) throws -> Void
    ) throws -> Result {
        var builder = ChunkIndexBuilder()
        let pump = FilePump(fileSystem: fileSystem) { if isCancelled() { throw CancellationError() } }
        let size = try pump.read(file) { bytes, offset in
            builder.update(bytes)
            try consume(bytes, offset)
            let end = offset + UInt64(bytes.count)
            guard end <= source.status.size else { throw changed(source) }
            progress(source.path, end, source.status.size)
        }
        let status = try fileSystem.status(of: file)
        guard size == source.status.size, status.modified == source.status.modified else { throw changed(source) }
        let (index, digest) = try builder.finalize()
        return Result(index: index, digest: digest)
    }

    private func changed(_ source: PublishPart) -> PublishingError {
        PublishingError(
            .sourceChanged, "\(source.path) changed while it was read",
            context: ErrorContext(file: source.path.string, remedy: "Publish it when it is finished."))
    }
}
