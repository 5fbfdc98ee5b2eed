import Foundation
import HearthBase

/// Finds bytes that are on this machine already, by reading them: a name or a length is no proof.
struct LocalCopy: Sendable {
    let fileSystem: any FileSystem
    let flag: StopFlag

    /// What reading a file once shows.
    struct Reading: Sendable, Hashable {
        var size: UInt64
        var digest: SHA256Digest
        var blob: GitBlobID
    }

    /// A place among a file's ``RemoteFile/copies`` that holds its bytes, ready to be copied into a release; `nil` if none
    /// does. The copy is compared with the digest once more while it is made, so nothing is lost if it changes meanwhile.
    func find(_ file: RemoteFile) throws -> StagedFile? {
        guard file.isVerifiable, let size = file.size.exact else { return nil }
        for path in file.copies {
            do {
                // Looked at before it is opened: opening a pipe would wait for its writer.
                guard let status = try fileSystem.status(at: path), status.kind == .file, status.size == size else {
                    continue
                }
                let found = try read(path)
                guard found.size == size, file.isMade(of: found) else {
                    Log.write(.warning, "delivery.catalog", "\(path) is not what its name says, and is left alone")
                    continue
                }
                var staged = StagedFile(
                    name: file.name, role: file.role, path: path, size: size, digest: found.digest, isVerified: true)
                // Whoever mends it later fetches it.
                staged.source = file.locations.first?.withoutSecrets
                return staged
            } catch let error as FileError {
                Log.write(.info, "delivery.catalog", "\(path) cannot be used: \(error)")
            }
        }
        return nil
    }

    /// Hashes a file both ways in one pass.
    func read(_ path: Path) throws -> Reading {
        let file = try fileSystem.open(path, .read)
        let size = try fileSystem.status(of: file).size
        var digest = SHA256Hasher()
        var blob = GitBlobHasher(size: size)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 4096)
        defer { buffer.deallocate() }
        var offset: UInt64 = 0
        while true {
            try flag.check()
            let count = try fileSystem.read(file, into: buffer, at: offset)
            if count == 0 { break }
            let piece = UnsafeRawBufferPointer(rebasing: buffer[..<count])
            digest.update(piece)
            blob.update(piece)
            offset += UInt64(count)
        }
        return Reading(size: offset, digest: digest.finalize(), blob: blob.finalize())
    }
}

extension RemoteFile {
    /// Whether bytes are those the source promises; `false` where it promises nothing.
    func isMade(of reading: LocalCopy.Reading) -> Bool {
        if let digest { return digest == reading.digest }
        return gitBlob == reading.blob
    }
}

extension HearthError where Domain == TransferErrorDomain {
    /// A file's bytes are whole, but not those that git's name for them promises.
    static func wrongBlob(_ file: RemoteFile, found: GitBlobID) -> Self {
        Self(
            .checksumMismatch, "\(file.name) did not match its git name in \(Download.maximumAttempts) attempts",
            context: ErrorContext(
                file: file.name.string, url: file.locations.first?.withoutQuery, expected: file.gitBlob?.hex,
                found: found.hex, remedy: "The damaged bytes were removed; try again, and check HF_ENDPOINT."))
    }
}
