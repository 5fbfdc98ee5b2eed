import HearthBase

/// Re-hashes a release against its receipt. Blocks for about half a second per GiB.
struct Verification: Sendable {
    package let receipt: Receipt
    package let folder: Path
    package let fileSystem: any FileSystem
    package let flag: StopFlag

    /// The names in the folder that the receipt does not know.
    package func unexpected() throws -> [String] {
        let known = Set(receipt.files.map(\.name.string) + ["receipt.json"])
        return try fileSystem.files(below: folder).filter { !known.contains($0) }
    }

    /// Compares files; `onPiece` receives the number of bytes checked each time.
    package func compare(
        _ files: [Receipt.File], onPiece: (UInt64) -> Void = { _ in }
    ) throws -> [FileCheck] {
        try files.map { FileCheck(expected: $0, outcome: try compare($0, onPiece)) }
    }

    private func compare(_ file: Receipt.File, _ onPiece: (UInt64) -> Void) throws -> FileCheck.Outcome {
        var files = ReleaseFolder(path: folder, fileSystem: fileSystem)
        return try FilePump(fileSystem: fileSystem, flag: flag).compare(
            folder.appending(file.name), try files.status(of: file.name), size: file.size, digest: file.digest, onPiece)
    }
}

extension FilePump {
    /// Compares a file with its recorded length and digest; `onPiece` receives the number of bytes checked each time.
    /// - Parameter status: the status of the file, `nil` if it is missing.
    func compare(
        _ path: Path, _ status: FileStatus?, size: UInt64, digest: SHA256Digest, _ onPiece: (UInt64) -> Void
    ) throws -> FileCheck.Outcome {
        guard let status, status.kind == .file, status.size == size else {
            onPiece(size)
            guard let status else { return .missing }
            return status.kind == .file ? .wrongSize(status.size) : .notAFile
        }
        let found = try self.digest(of: path, onPiece: onPiece)
        return found == digest ? .intact : .changed(found)
    }
}

/// A file of a release, compared with its receipt.
package struct FileCheck: Sendable, Hashable {
    package enum Outcome: Sendable, Hashable {
        case intact
        case missing
        /// Its name belongs to something that is not a regular file.
        case notAFile
        /// The length differs; the bytes were not read.
        case wrongSize(UInt64)
        /// The digest differs.
        case changed(SHA256Digest)
    }

    /// The file in the receipt.
    package let expected: Receipt.File
    package let outcome: Outcome

    /// The damage, as the end of a sentence; `nil` for an intact file.
    package var damage: String? { outcome == .intact ? nil : "\(expected.name) is not as it was installed" }
}
