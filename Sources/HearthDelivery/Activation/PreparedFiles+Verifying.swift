import HearthBase

extension PreparedFiles {
    /// Reads all of an artefact and compares it with its record.
    /// - Returns: `nil` for one that somebody took out of use or made again meanwhile.
    func verify(
        _ record: PreparedRecord, in folder: Path, of identity: ReleaseIdentity, flag: StopFlag,
        onPiece: (UInt64) -> Void
    ) throws -> VerificationReport.Prepared? {
        let path = folder.appending(record.file)
        let outcome = try compare(record, with: path, flag, onPiece)
        guard try outcome == .intact || self.record(in: folder) == record else { return nil }
        let artefact = PreparedRelease(
            release: identity, path: path, recipe: record.recipe, size: record.shape.size, digest: record.sha256)
        return VerificationReport.Prepared(artefact: artefact, outcome: outcome, record: record)
    }

    private func compare(
        _ record: PreparedRecord, with path: Path, _ flag: StopFlag, _ onPiece: (UInt64) -> Void
    ) throws -> VerificationReport.Prepared.Outcome {
        guard try fileSystem.status(at: path, followLinks: false) != nil else { return .missing }
        guard let shape = try PreparedShape(of: path, record.recipe.product, fileSystem: fileSystem),
            shape.matches(record.shape)
        else { return .misshapen }
        do {
            let pump = FilePump(fileSystem: fileSystem, flag: flag)
            let digest = try shape.digest(of: path, with: pump, onPiece: onPiece)
            return digest == record.sha256 ? .intact : .changed(digest)
        } catch let error as FileError where error.code == .notFound {
            // It went while it was read.
            return .missing
        }
    }

    /// Takes a damaged artefact out of use, unless another was made in its place since it was looked at. Under the commit lock.
    func drop(_ damaged: VerificationReport.Prepared, _ isRead: () throws -> Bool) throws {
        guard try record(in: damaged.artefact.path.parent) == damaged.record else { return }
        try drop(damaged.artefact, isRead)
    }
}
