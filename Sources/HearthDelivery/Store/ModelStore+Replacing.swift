import Foundation
import HearthBase

/// Other bytes take the place of the live release of their name, once they have passed their trial.
extension ModelStore {
    /// Whether a release is about to take the place of other bytes that are live under its name.
    func replacesLive(_ receipt: Receipt) throws -> Bool {
        guard try activation.state(of: receipt.identity.family).active == receipt.identity else { return false }
        switch try shelf.find(receipt.identity) {
        case .whole(let there), .damaged(let there?, _): return !there.isSameContent(as: receipt)
        case .absent, .damaged(nil, _): return true
        }
    }

    /// Has a trial look at what is staged, which stays where it is.
    /// - Throws: what `trial` throws; `release-in-use`, `home-busy`; `FileError`.
    func tryOut(
        _ staging: Staging, _ receipt: Receipt, in trial: @Sendable (InstalledRelease) async throws -> Void
    ) async throws {
        let identity = receipt.identity
        // Nothing is tried that could not take its place.
        try refuseReaders(of: identity)
        try await expectUntried(identity)
        try await trial(InstalledRelease(identity: identity, folder: staging.folder, receipt: receipt, isActive: true))
    }

    /// The next start puts what is whole and staged in the place of a live release that is gone: whoever dies before its trial has
    /// ended leaves it there, untried. So its probation begins before it is whole.
    func expectUntried(_ identity: ReleaseIdentity) async throws {
        guard try activation.state(of: identity.family).active == identity, try folderIdentity(identity) == nil else {
            return
        }
        try await committing { try beginProbation(of: identity) }
    }

    private func refuseReaders(of identity: ReleaseIdentity) throws {
        let leases = ReleaseLeases(layout: layout, fileSystem: fileSystem)
        if let reader = try leases.holders(of: identity).first { throw StoreError.inUse(identity, by: reader) }
    }

    /// Puts what has passed its trial in the place of what is live, on a probation of its own. Under the commit lock.
    /// - Throws: `release-in-use`, after which what was live is as proven as it was; `FileError`.
    func replaceLive(by staging: Staging, _ receipt: Receipt) throws {
        let identity = receipt.identity
        try refuseReaders(of: identity)
        let before = try activation.stateBeforeChange(of: identity.family)
        let ends = try marks.all(of: identity.family).filter { $0.isUse(of: identity) }
        // Written first: whoever dies in between leaves what was live with a probation that it passes again.
        try beginProbation(of: identity, accepting: receipt.content)
        do {
            try staging.commit(receipt)
        } catch let error as StoreError where error.code == .releaseInUse {
            // Somebody came in the last moment. After any other failure the new bytes may be in their place.
            try activation.write(before, of: identity.family)
            putBack(ends)
            throw error
        }
        // They have passed: what ended in their trials does not count any more.
        clearMarks(of: identity.family) { $0.release == identity && $0.mark?.content == receipt.content }
    }

    /// Marks of ended processes, whose count is lost where that fails. One that runs may have taken its own away meanwhile.
    private func putBack(_ ends: [MarkFiles.Found]) {
        for end in ends {
            guard let mark = end.mark, mark.isLeft(at: time.now, isRunning: { $0.isRunning }) else { continue }
            do {
                try marks.put(mark, end.release, token: end.token)
            } catch {
                Log.write(.warning, "delivery.activation", "an end of \(end.release) is forgotten: \(error)")
            }
        }
    }

    /// Under the commit lock. What is no longer live has nothing to prove.
    private func beginProbation(of identity: ReleaseIdentity, accepting content: SHA256Digest? = nil) throws {
        var state = try activation.stateBeforeChange(of: identity.family)
        guard state.active == identity else { return }
        if let content { state = state.accepting(content, of: identity) }
        state.probation = Probation(of: identity, began: time.now)
        try activation.write(state, of: identity.family)
        // What ended with the bytes before is none of the new ones' ends. What a process is at may end yet.
        clearMarks(of: identity.family) { found in
            found.isUse(of: identity) && found.mark?.isLeft(at: time.now, isRunning: { $0.isRunning }) ?? true
        }
    }
}

extension MarkFiles.Found {
    /// Whether it says that somebody loads a release or answers with it.
    fileprivate func isUse(of identity: ReleaseIdentity) -> Bool {
        release == identity && (mark?.stage == .load || mark?.stage == .generate)
    }
}
