import Foundation
import HearthBase
import HearthCatalog

/// Publishes a root that has enough signatures.
package struct RootChange: Sendable {
    package enum Outcome: Sendable {
        case published(SignedMetadata)
        /// The root lacks signatures, each as a part of a sentence; its other owners add them.
        case incomplete(SignedMetadata, missing: [String])
    }

    private let origin: SignedOrigin
    private let ring: KeyRing
    private let lifetimes: TrustLifetimes
    private let time: TimeSource

    package init(origin: SignedOrigin, ring: KeyRing, lifetimes: TrustLifetimes, time: TimeSource) {
        (self.origin, self.ring, self.lifetimes, self.time) = (origin, ring, lifetimes, time)
    }

    /// Changes the keys of roles in the present root, and signs with the keys at hand.
    /// - Parameter change: the new keys by role, from the present root.
    /// - Throws: ``TrustError``; `FileError`; ``PublishingError`` with `publisher-busy`.
    package func apply(
        _ change: @Sendable (RootMetadata) async throws -> [MetadataRole: RoleDraft]
    ) async throws -> Outcome {
        let session = try await origin.target.begin()
        defer { withExtendedLifetime(session) {} }
        let repository = try await origin.present(lifetimes)
        let roles = try await change(repository.rootMetadata)
        let named = Set(roles.values.flatMap(\.keys).map(\.id))
        let signers = try await ring.signers(for: try repository.rootMetadata.ids().union(named))
        let now = time.now
        let next = try await blocking { try repository.successor(roles, signers: signers, now: now) }
        return try await finish(next, after: repository, signers)
    }

    /// Publishes the first root of an origin, or the successor of the present one; the lock is held.
    /// - Throws: ``TrustError`` with `too-few-signatures` if new keys of other roles must sign, and are not at hand.
    package func finish(
        _ root: SignedMetadata, after present: TrustRepository?, _ signers: [any MetadataSigner]
    ) async throws -> Outcome {
        let missing = try Self.missing(root, after: present)
        guard missing.isEmpty else { return .incomplete(root, missing: missing) }
        return try await publish(root, after: present, signers)
    }

    /// Publishes a root; the lock is held.
    package func publish(
        _ root: SignedMetadata, after present: TrustRepository?, _ signers: [any MetadataSigner]
    ) async throws -> Outcome {
        let now = time.now
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
        return .published(repository.root)
    }

    /// The signatures that a root lacks, each as a part of a sentence.
    package static func missing(_ root: SignedMetadata, after present: TrustRepository?) throws -> [String] {
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

extension RootMetadata {
    /// The ids of the keys of some roles.
    package func ids(_ roles: [MetadataRole] = MetadataRole.topLevel) -> Set<String> {
        roles.reduce(into: []) { $0.formUnion(keys($1).ids) }
    }
}
