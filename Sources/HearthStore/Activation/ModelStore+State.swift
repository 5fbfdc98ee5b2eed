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

    /// The recorded state of a family: live, previous and pinned release.
    package func state(of family: Family) async throws -> ReleaseState {
        try await inspect()
        return try activation.state(of: family)
    }

    /// The path of the live release's weights.
    /// - Throws: `not-installed`, `no-active-release`, `receipt-damaged`, `release-damaged`.
    package func locate(_ family: Family) async throws -> Path {
        if let release = try await active(family) {
            if let weights = release.weights { return weights }
            throw StoreError(
                .releaseDamaged, "\(release.identity) holds no weights",
                context: ErrorContext(model: release.identity.description, file: release.folder.string))
        }
        let releases = try shelf.releases(of: family)
        guard let newest = releases.last else { throw notInstalled(family.name) }
        throw StoreError(
            .noActiveRelease, "no release of \(family) is active",
            context: ErrorContext(model: family.name, remedy: "Choose one: hearth use \(newest)"))
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
            guard try read(identity) != nil else { throw notInstalled(identity.description) }
            let state = try activation.stateBeforeChange(of: identity.family)
            // A mark is needed only to overtake an earlier unfinished decision.
            let token = try decisions(in: identity.family).isEmpty ? nil : ActivityMark.token()
            if let token { try overtakeDecisions(for: identity, ActivityMark(.commit, at: time.now), token: token) }
            try activation.write(state.activating(identity), of: identity.family)
            if let token { clearMarks(of: identity.family) { $0.token == token } }
            guard let release = try read(identity) else { throw notInstalled(identity.description) }
            return release
        }
    }

    /// Clears the link to a missing or damaged release before other bytes may come to its place: those are not live
    /// until they are tried. Under the commit lock.
    func deactivateUnknown(_ identity: ReleaseIdentity) throws {
        var state = try activation.stateBeforeChange(of: identity.family)
        guard try state.active == identity || activation.linkedName(of: identity.family) == identity.folderName else {
            return
        }
        switch try shelf.find(identity) {
        case .whole, .damaged(_?, _): return
        case .damaged(nil, let problem): if let cause = problem.underlying as? FileError { throw cause }
        case .absent: break
        }
        if state.active == identity { state.active = nil }
        try activation.write(state, of: identity.family)
    }
}
