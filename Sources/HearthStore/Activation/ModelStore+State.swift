import Foundation
import HearthBase
import HearthCatalog

/// The live release of each family.
extension ModelStore {
    package var activation: ActivationFiles { ActivationFiles(layout: layout, fileSystem: fileSystem) }

    /// The live release of a family, `nil` if there is none.
    /// - Throws: `receipt-damaged`, `release-damaged` if the live release is damaged.
    package func active(_ family: Family) async throws -> InstalledRelease? {
        try await inspect()
        return try activation.state(of: family).active.flatMap { try read($0) }
    }

    /// Finds the usable model of each family, and the problems of unusable live releases.
    package func usable(
        beside bundled: [Family: BundledRelease]
    ) async throws -> (models: [Family: ModelAvailability], problems: [Family: any Error]) {
        try await inspect()
        var models = bundled.mapValues { ModelAvailability.bundled($0) }
        var problems: [Family: any Error] = [:]
        for family in try directory.families() {
            do {
                let state = try activation.state(of: family)
                guard let active = try state.active.flatMap({ try read($0) }) else { continue }
                models[family] = .deciding(bundled: bundled[family], active: active, pinned: state.pinned)
            } catch {
                problems[family] = error
            }
        }
        return (models, problems)
    }

    /// The recorded state of a family: live, previous and pinned release.
    package func state(of family: Family) async throws -> ReleaseState {
        try await inspect()
        return try activation.state(of: family)
    }

    /// Makes an installed release the live one of its family. Readers see the old release or the new one, never
    /// neither.
    ///
    /// An unverified release may become live too: its receipt says `verified: false`, as the user allowed at
    /// installation.
    /// - Throws: `not-installed`, `receipt-damaged`, `release-damaged`, `home-busy`.
    @discardableResult
    package func activate(_ identity: ReleaseIdentity) async throws -> InstalledRelease {
        try await prepare()
        return try await committing {
            try require(identity)
            let state = try activation.stateBeforeChange(of: identity.family)
            // A mark is needed only to overtake an earlier unfinished decision.
            let token = try decisions(in: identity.family).isEmpty ? nil : ActivityMark.token()
            if let token { try overtakeDecisions(for: identity, ActivityMark(.commit, at: time.now), token: token) }
            try activation.write(state.activating(identity), of: identity.family)
            if let token { clearMarks(of: identity.family) { $0.token == token } }
            return try require(identity)
        }
    }

    /// Clears the link to a missing or damaged release before other bytes may come to its place: those are not live
    /// until they are tried. Under the commit lock.
    func deactivateUnknown(_ identity: ReleaseIdentity) throws {
        var state = try activation.stateBeforeChange(of: identity.family)
        guard try state.active == identity || activation.linkedName(of: identity.family) == identity.folderName else {
            return
        }
        guard try directory.findBeforeChange(identity).receipt == nil else { return }
        if state.active == identity { state.active = nil }
        try activation.write(state, of: identity.family)
    }
}
