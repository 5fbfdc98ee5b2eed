import Foundation
import HearthBase
import HearthCatalog
import HearthPublishing

/// Publishes a root that has enough signatures, or writes it to a file for its other owners.
struct RootChange: Sendable {
    let origin: SignedOrigin
    let ring: KeyRing
    /// Where a root that lacks signatures is written.
    let draft: Path?
    let lifetimes: TrustLifetimes
    let context: CommandContext

    /// Changes the keys of roles in the present root, and signs with the keys at hand.
    /// - Parameter change: the new keys by role, from the present root.
    /// - Throws: ``TrustError``; `FileError`; ``PublishingError`` with `publisher-busy`.
    func apply(_ change: @Sendable (RootMetadata) async throws -> [MetadataRole: RoleDraft]) async throws {
        let session = try await origin.target.begin()
        defer { withExtendedLifetime(session) {} }
        let repository = try await origin.present(lifetimes)
        let roles = try await change(repository.rootMetadata)
        let named = Set(roles.values.flatMap(\.keys).map(\.id))
        let signers = try await ring.signers(for: try repository.rootMetadata.ids().union(named))
        let now = context.time.now
        let next = try await blocking { try repository.successor(roles, signers: signers, now: now) }
        try await finish(next, after: repository, signers)
    }

    /// Publishes the first root of an origin, or the successor of the present one; the lock is held.
    /// - Throws: ``TrustError`` with `too-few-signatures` if new keys of other roles must sign, and are not at hand.
    func finish(
        _ root: SignedMetadata, after present: TrustRepository?, _ signers: [any MetadataSigner]
    ) async throws {
        let missing = try Self.missing(root, after: present)
        guard missing.isEmpty else { return try await write(root, missing) }
        try await publish(root, after: present, signers)
    }

    /// Publishes a root; the lock is held.
    func publish(
        _ root: SignedMetadata, after present: TrustRepository?, _ signers: [any MetadataSigner]
    ) async throws {
        let now = context.time.now
        let files = present == nil ? try await origin.signedFiles() : []
        let repository = try await blocking { [lifetimes] in
            var repository: TrustRepository
            if let present {
                repository = present
                try repository.take(root: root, signers: signers, now: now)
            } else {
                repository = try TrustRepository(first: root, signers: signers, lifetimes: lifetimes, now: now)
                if !files.isEmpty { try repository.list(files.map(\.entry), signers: signers, now: now) }
            }
            return repository
        }
        try await origin.write(repository, files: files)
        let fingerprint = SHA256Digest(hashing: repository.root.data)
        try context.console.print("root \(try repository.root.version())  \(fingerprint.hex)")
        context.console.say(
            "\(origin.name) has this root now. Devices that trust it, or one before it, take the change at their next update."
        )
    }

    /// Writes a root that lacks signatures.
    private func write(_ root: SignedMetadata, _ missing: [String]) async throws {
        let name = MetadataRole.root.addressName(version: try root.version())
        let path = draft ?? Path(name)
        try await blocking { try LocalFileSystem().replaceContents(of: path, with: root.data) }
        try context.console.print(path.string)
        context.console.say(
            "It lacks \(missing.joined(separator: " and ")). Let another owner run `hearth trust sign \(path)`, "
                + "then publish it with `hearth trust sign \(path) --to \(origin.name)`.")
    }

    /// The signatures that a root lacks, each as a part of a sentence.
    static func missing(_ root: SignedMetadata, after present: TrustRepository?) throws -> [String] {
        let own = try RootMetadata(root).keys(.root)
        var missing: [String] = []
        if let former = try present?.rootMetadata.keys(.root) {
            let count = try root.signatureCount(by: former)
            if count < former.threshold {
                missing.append(
                    "\(former.threshold - count) of \(former.threshold) signatures of the present root's keys")
            }
        }
        let count = try root.signatureCount(by: own)
        if count < own.threshold {
            missing.append("\(own.threshold - count) of \(own.threshold) signatures of its own keys")
        }
        return missing
    }
}
