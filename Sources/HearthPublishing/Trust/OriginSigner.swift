import Foundation
import HearthBase
import HearthCatalog

/// Signs the list of an origin's folder after it was written: targets, snapshot, and last the timestamp.
///
/// A publisher calls ``check(_:)`` before it copies any file, and ``sign(_:now:)`` after it wrote `models.json`, both
/// with the lock of the folder. A failure of the second leaves the signed origin as it was.
package struct OriginSigner: Sendable {
    private let signers: [any MetadataSigner]
    private let lifetimes: TrustLifetimes

    package init(signers: [any MetadataSigner], lifetimes: TrustLifetimes = TrustLifetimes()) {
        self.signers = signers
        self.lifetimes = lifetimes
    }

    /// Refuses a folder without metadata, and keys that are too few for a new list.
    /// - Throws: ``TrustError``; `FileError`.
    package func check(_ folder: SignedFolder) throws {
        let repository = try Self.repository(folder, lifetimes)
        let root = try repository.rootMetadata
        var ids: Set<String> = []
        for signer in signers { ids.insert(try signer.key.id) }
        for role in [MetadataRole.targets, .snapshot, .timestamp] {
            let keys = root.keys(role)
            let found = keys.ids.intersection(ids).count
            guard found >= keys.threshold else {
                throw TrustError(
                    .tooFewSignatures, "\(found) of \(keys.threshold) keys are at hand that must sign \(role)",
                    context: ErrorContext(
                        file: "\(role)", expected: "\(keys.threshold)", found: "\(found)",
                        remedy: "Give the keys of \(role.name)."), disposition: .usage)
            }
        }
    }

    /// Signs the present `models.json` and its indexes, unless they are signed already.
    /// - Returns: whether new metadata was written.
    /// - Throws: ``TrustError``; `CatalogError`; `FileError`.
    @discardableResult
    package func sign(_ folder: SignedFolder, now: Date) throws -> Bool {
        var repository = try Self.repository(folder, lifetimes)
        let files = try folder.signedFiles()
        let listed = try repository.listedFiles
        let isListed = files.count == listed.count && files.allSatisfy { listed[$0.entry.path] == $0.entry }
        guard !isListed || !repository.outdated.isEmpty else { return false }
        try repository.list(files.map(\.entry), signers: signers, now: now)
        try folder.write(repository, files: files)
        return true
    }

    private static func repository(_ folder: SignedFolder, _ lifetimes: TrustLifetimes) throws -> TrustRepository {
        guard let repository = try folder.repository(lifetimes: lifetimes) else {
            throw TrustError(
                .metadataMissing, "\(folder.folder) has no keys yet",
                context: ErrorContext(
                    file: folder.folder.string, field: "origin", remedy: "Make its first root, then publish again."))
        }
        return repository
    }
}
