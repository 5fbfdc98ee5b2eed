import Foundation
import HearthBase
import HearthCatalog

/// Signs the list of an origin: targets, snapshot, and last the timestamp.
public struct OriginSigner: PublishSigning {
    private let signers: [any MetadataSigner]
    private let lifetimes: TrustLifetimes

    package init(signers: [any MetadataSigner], lifetimes: TrustLifetimes = TrustLifetimes()) {
        self.signers = signers
        self.lifetimes = lifetimes
    }

    /// Opens key files of the origin's roles, which `hearth trust key` makes.
    /// - Throws: ``TrustError`` with `bad-key`, `passphrase-wrong`; `FileError`.
    public init(keys: [URL], passphrase: String) async throws {
        let signers = try await blocking {
            try keys.map { url -> any MetadataSigner in
                let data = try LocalFileSystem().contents(ofFile: Path(url.path), limit: TrustKeyFile.sizeLimit)
                let file = try TrustKeyFile(parsing: data, file: url.path)
                guard let key = file.opened(passphrase: passphrase) else {
                    throw TrustError(
                        .passphraseWrong, "the passphrase does not open \(url.path)",
                        context: ErrorContext(file: url.path, remedy: "Give the passphrase of that key."))
                }
                return key
            }
        }
        self.init(signers: signers)
    }

    /// Refuses an origin without metadata, and keys that are too few for a new list.
    /// - Throws: ``TrustError``; the target's errors.
    package func check(_ target: any PublishTarget) async throws {
        let root = try await SignedOrigin(target).present(lifetimes).rootMetadata
        var ids: Set<String> = []
        for signer in signers { ids.insert(try signer.key.id) }
        for role in [MetadataRole.targets, .snapshot, .timestamp] {
            let keys = root.keys(role)
            let found = keys.ids.intersection(ids).count
            guard found >= keys.threshold else {
                throw TrustError.keysMissing(role, found: found, needed: keys.threshold)
            }
        }
    }

    package func steps(for plan: PublishPlan, target: any PublishTarget, now: Date) async throws -> [PublishStep] {
        let origin = SignedOrigin(target)
        let before = try await origin.present(lifetimes)
        let files = try await origin.signedFiles(after: plan)
        let listed = try before.listedFiles
        let isListed = files.count == listed.count && files.allSatisfy { listed[$0.entry.path] == $0.entry }
        guard !isListed || !before.outdated.isEmpty else { return [] }
        // A key may be a command that signs.
        let repository = try await blocking { [signers] in
            var repository = before
            try repository.list(files.map(\.entry), signers: signers, now: now)
            return repository
        }
        return try await origin.steps(repository, files: files)
    }

    /// Signs the present `models.json` and its indexes, unless they are signed already.
    /// - Returns: whether new metadata was written.
    /// - Throws: ``TrustError``; `CatalogError`; the target's errors.
    @discardableResult
    package func sign(_ target: any PublishTarget, now: Date) async throws -> Bool {
        let steps = try await steps(for: PublishPlan(), target: target, now: now)
        for step in steps { try await target.perform(step) { _ in } }
        return !steps.isEmpty
    }
}
