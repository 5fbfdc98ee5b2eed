import Foundation
import HearthBase

extension ModelStore {
    /// Makes an installed release the live one of its family. Readers see the old one or the new one, never neither.
    ///
    /// A release that is installed although nothing vouches for its bytes may become live too: its receipt says
    /// `verified: false`, as the user allowed when it was installed.
    /// - Throws: `not-installed`, `receipt-damaged`, `release-damaged`, `home-busy`.
    @discardableResult
    public func activate(_ identity: ReleaseIdentity) async throws -> InstalledRelease {
        try await prepare()
        return try await committing {
            guard try read(identity) != nil else { throw notInstalled(identity.description) }
            let state = try activation.stateBeforeChange(of: identity.family)
            // Only an earlier decision that was not brought to its end makes a mark necessary.
            let token = try decisions(in: identity.family).isEmpty ? nil : ActivityMark.token()
            if let token { try overtakeDecisions(for: identity, ActivityMark(.commit, at: time.now), token: token) }
            try activation.write(state.activating(identity), of: identity.family)
            if let token { clearMarks(of: identity.family) { $0.token == token } }
            guard let release = try read(identity) else { throw notInstalled(identity.description) }
            return release
        }
    }

    /// Notes that a release follows another manifest, which lists the same bytes.
    /// - Throws: `not-installed`, also where other bytes have taken its place meanwhile.
    func follow(_ origin: URL, entry: String, _ release: InstalledRelease) async throws -> InstalledRelease {
        try await committing {
            guard case .whole(let receipt) = try shelf.find(release.identity),
                receipt.isSameContent(as: release.receipt)
            else { throw notInstalled(release.identity.description) }
            let path = HomeLayout.receipt(in: layout.folder(of: release.identity))
            try fileSystem.replaceContents(of: path, with: try receipt.following(origin, entry: entry).data())
            guard let release = try read(release.identity) else { throw notInstalled(release.identity.description) }
            return release
        }
    }

    /// Removes a whole family, or those of its releases that have the given version and variant.
    ///
    /// If the live release goes and others stay, the one that was live before takes its place where it can be used;
    /// otherwise none is live. Damaged releases are removed like any other. A release that a process uses is not removed, and
    /// then none is.
    /// - Throws: `not-installed`, `release-in-use`, `home-busy`.
    @discardableResult
    public func remove(_ family: Family, version: ReleaseVersion?, variant: Variant?) async throws -> Removal {
        try await prepare()
        return try await committing {
            let all = try shelf.releases(of: family)
            let chosen = all.filter {
                (version == nil || $0.version == version) && (variant == nil || $0.variant == variant)
            }
            guard !chosen.isEmpty else { throw notInstalled(described(family, version, variant)) }

            let state = try activation.stateBeforeChange(of: family)
            try take(Set(chosen), of: family, state)
            let next = try activation.state(of: family)

            let active: Removal.Active =
                switch (state.active, next.active) {
                case (let old, let new) where old == new: .unchanged
                case (_, let new?): .restored(new)
                case (_, nil): .cleared
                }
            return Removal(removed: chosen, active: active)
        }
    }

    private func described(_ family: Family, _ version: ReleaseVersion?, _ variant: Variant?) -> String {
        family.name + (version.map { "@\($0)" } ?? "") + (variant.map { ":\($0)" } ?? "")
    }

    /// Re-hashes a release against its receipt, also one that is damaged or unverified, and what engines made of it against the
    /// records of that.
    ///
    /// Runs outside the actor at about 1.8 GB a second, and stops soon after cancellation.
    /// - Throws: `not-installed`, `receipt-damaged`; a file that is missing or changed is part of the report.
    public func verify(
        _ identity: ReleaseIdentity, progress: @escaping @Sendable (TransferProgress) -> Void = { _ in }
    ) async throws -> VerificationReport {
        try await verify(identity, readsPrepared: true, progress: progress)
    }

    /// - Parameter readsPrepared: whether what engines made of it is read too.
    func verify(
        _ identity: ReleaseIdentity, readsPrepared: Bool,
        progress: @escaping @Sendable (TransferProgress) -> Void = { _ in }
    ) async throws -> VerificationReport {
        try await inspect()
        let receipt: Receipt
        switch try shelf.find(identity) {
        case .absent: throw notInstalled(identity.description)
        case .damaged(nil, let problem): throw problem
        case .damaged(let found?, _), .whole(let found): receipt = found
        }
        let folder = layout.folder(of: identity)
        let release = InstalledRelease(identity: identity, folder: folder, receipt: receipt, isActive: false)
        let reporter = ProgressReporter(time: time, report: progress)
        return try await StopFlag.blocking { [fileSystem, preparedFiles] flag in
            let made = readsPrepared ? try preparedFiles.made(of: release) : []
            let total = ([receipt.totalSize] + made.map(\.record.shape.size)).saturatedSum
            var completed: UInt64 = 0
            func count(_ bytes: UInt64) {
                completed = [completed, bytes].saturatedSum
                reporter.report(.verifying, completed, total)
            }
            reporter.report(.verifying, 0, total)
            var report = try Verification(receipt: receipt, folder: folder, fileSystem: fileSystem, flag: flag)
                .run(onPiece: count)
            report.prepared = try made.compactMap { folder, record in
                try preparedFiles.verify(record, in: folder, of: identity, flag: flag, onPiece: count)
            }
            return report
        }
    }

    /// Re-hashes an installed release against its receipt, and what engines made of it.
    public func verify(
        _ release: InstalledRelease, progress: @escaping @Sendable (TransferProgress) -> Void = { _ in }
    ) async throws -> VerificationReport {
        try await verify(release.identity, progress: progress)
    }
}
