import HearthBase

/// Re-hashes a release against its receipt. Blocks for about half a second per GiB.
struct Verification: Sendable {
    let receipt: Receipt
    let folder: Path
    let fileSystem: any FileSystem
    let flag: StopFlag

    /// Compares every file; `onPiece` hears how many bytes were dealt with each time.
    func run(onPiece: (UInt64) -> Void = { _ in }) throws -> VerificationReport {
        let files = try compare(receipt.files, onPiece: onPiece)
        let known = Set(receipt.files.map(\.name.string) + ["receipt.json"])
        let unexpected = try fileSystem.files(below: folder).filter { !known.contains($0) }
        return VerificationReport(
            identity: receipt.identity, files: files, unexpected: unexpected, isVerified: receipt.isVerified)
    }

    /// Compares some of the files only.
    func compare(
        _ files: [Receipt.File], onPiece: (UInt64) -> Void = { _ in }
    ) throws -> [VerificationReport.File] {
        try files.map { VerificationReport.File(expected: $0, outcome: try compare($0, onPiece)) }
    }

    private func compare(_ file: Receipt.File, _ onPiece: (UInt64) -> Void) throws -> VerificationReport.Outcome {
        let path = folder.appending(file.name)
        var files = ReleaseFolder(folder, fileSystem: fileSystem)
        guard let status = try files.status(of: file.name) else {
            onPiece(file.size)
            return .missing
        }
        guard status.kind == .file, status.size == file.size else {
            onPiece(file.size)
            return status.kind == .file ? .wrongSize(status.size) : .notAFile
        }
        let digest = try FilePump(fileSystem: fileSystem, flag: flag).digest(of: path, onPiece: onPiece)
        return digest == file.digest ? .intact : .changed(digest)
    }
}
