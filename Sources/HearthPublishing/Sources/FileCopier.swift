import Foundation
import HearthBase

/// Reads files to publish, and copies them. Blocks.
struct FileCopier {
    let fileSystem: any FileSystem
    /// Stops a reading between two pieces.
    let flag: StopFlag

    /// The digest and chunk index of a file.
    struct Result: Sendable {
        let index: ChunkIndex
        let digest: SHA256Digest
        var size: UInt64 { index.fileSize }
    }

    /// Computes the digest and chunk index of a file.
    /// - Parameter progress: called with the number of bytes read.
    /// - Throws: ``PublishingError`` with `source-changed`; `FileError`; `CancellationError`.
    func hash(_ part: PublishPart, progress: (UInt64) -> Void = { _ in }) throws -> Result {
        var builder = ChunkIndexBuilder()
        let file = try fileSystem.open(part.path, .read)
        try read(file, part.path, size: part.status.size, progress) { bytes, _ in builder.update(bytes) }
        guard try fileSystem.status(of: file).modified == part.status.modified else { throw Self.changed(part.path) }
        let (index, digest) = try builder.finalize()
        return Result(index: index, digest: digest)
    }

    /// Copies a file to `target`: writes it under a temporary name, syncs it, then renames it. So `target` is never
    /// partial.
    /// - Throws: ``PublishingError`` with `source-changed` unless the bytes have the size and the digest.
    func copy(
        _ source: Path, size: UInt64, digest: SHA256Digest, to target: Path, progress: (UInt64) -> Void
    ) throws {
        let file = try fileSystem.open(source, .read)
        var hasher = SHA256Hasher()
        if let there = try fileSystem.status(at: target, followLinks: false),
            there.identity == (try fileSystem.status(of: file).identity)
        {
            // The source is already at its place in the origin.
            try read(file, source, size: size, progress) { bytes, _ in hasher.update(bytes) }
            guard hasher.finalize() == digest else { throw Self.changed(source) }
            try fileSystem.synchronize(file)
            try fileSystem.synchronizeFolder(target.parent)
            return
        }
        let temporary = target.parent.appendingTemporary(besides: target.lastComponent)
        let copy = try fileSystem.open(temporary, .createNew)
        do {
            try fileSystem.allocate(copy, size: size)
            try read(file, source, size: size, progress) { bytes, offset in
                hasher.update(bytes)
                try fileSystem.write(copy, bytes, at: offset)
            }
            guard hasher.finalize() == digest else { throw Self.changed(source) }
            try fileSystem.synchronize(copy)
            try fileSystem.rename(temporary, to: target)
            try fileSystem.synchronizeFolder(target.parent)
        } catch {
            // Report the first error. A temporary file that stays is recognisable by its name.
            try? fileSystem.removeFile(temporary)
            throw error
        }
    }

    private func read(
        _ file: OpenFile, _ path: Path, size: UInt64, _ progress: (UInt64) -> Void,
        _ consume: (UnsafeRawBufferPointer, UInt64) throws -> Void
    ) throws {
        let count = try FilePump(fileSystem: fileSystem, flag: flag).read(file) { bytes, offset in
            try consume(bytes, offset)
            let end = offset + UInt64(bytes.count)
            guard end <= size else { throw Self.changed(path) }
            progress(end)
        }
        guard count == size else { throw Self.changed(path) }
    }

    /// The error for a file whose bytes are not those that were hashed.
    static func changed(_ path: Path) -> PublishingError {
        PublishingError(
            .sourceChanged, "\(path) changed while it was read",
            context: ErrorContext(file: path.string, remedy: "Publish it when it is finished."))
    }
}
