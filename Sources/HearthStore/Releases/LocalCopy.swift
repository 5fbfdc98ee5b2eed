import Foundation
import HearthBase
import HearthCatalog

/// Finds bytes that are on this machine already. Hashes files, because a name or a length is no proof.
package struct LocalCopy: Sendable {
    package let fileSystem: any FileSystem
    package let flag: StopFlag

    /// Memberwise.
    package init(fileSystem: any FileSystem, flag: StopFlag) {
        self.fileSystem = fileSystem
        self.flag = flag
    }

    /// Finds the place among a file's `RemoteFile.copies` that has its bytes; `nil` if none has.
    ///
    /// The digest is compared again while the bytes are copied into a release, so a change meanwhile does no harm.
    package func find(_ file: RemoteFile) throws -> StagedFile? {
        guard file.isVerifiable, let size = file.size.exact else { return nil }
        for path in file.copies {
            do {
                // Check the kind before opening: opening a pipe would wait for its writer.
                guard let status = try fileSystem.status(at: path), status.kind == .file, status.size == size else {
                    continue
                }
                let (isRight, digest) = try compare(path, with: file)
                guard isRight else {
                    Log.write(.warning, "catalog", "\(path) is not what its name says, and is left alone")
                    continue
                }
                var staged = StagedFile(
                    name: file.name, role: file.role, path: path, size: size, digest: digest, isVerified: true)
                // A later repair fetches the file from this address.
                staged.source = file.locations.first?.withoutSecrets
                return staged
            } catch let error as any HearthFailure {
                Log.write(.info, "catalog", "\(path) cannot be used: \(error)")
            }
        }
        return nil
    }

    /// Compares a file with the digest, or the git blob ID, that a source gives.
    /// - Throws: `FileError`; `DigestError` if this system cannot compute git blob IDs.
    package func isRight(_ path: Path, _ file: RemoteFile) throws -> Bool { try compare(path, with: file).isRight }

    private func compare(_ path: Path, with file: RemoteFile) throws -> (isRight: Bool, digest: SHA256Digest) {
        let pump = FilePump(fileSystem: fileSystem, flag: flag)
        guard file.digest == nil, let promised = file.gitBlob else {
            let digest = try pump.digest(of: path)
            return (digest == file.digest, digest)
        }
        let (blob, digest) = try pump.gitBlob(of: path)
        return (blob == promised, digest)
    }
}
