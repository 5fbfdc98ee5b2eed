import HearthBase
import HearthCatalog

/// Reads the installed releases of a home folder: by receipts, names and sizes, without hashing. Blocks.
extension StoreHome {
    /// All installed releases, with the damaged ones.
    func inventory() throws -> Inventory {
        var releases: [InstalledRelease] = []
        var damaged: [DamagedRelease] = []
        for family in try directory.families().sorted() {
            let identities = try directory.releases(of: family)
            if identities.isEmpty { continue }
            let active = try activation.state(of: family).active
            for identity in identities {
                let folder = layout.folder(of: identity)
                let isActive = identity == active
                switch try directory.find(identity) {
                case .absent: break
                case .whole(let receipt):
                    releases.append(
                        InstalledRelease(identity: identity, folder: folder, receipt: receipt, isActive: isActive))
                case .damaged(let receipt, let problem):
                    damaged.append(
                        DamagedRelease(
                            identity: identity, folder: folder, isActive: isActive, receipt: receipt, problem: problem))
                }
            }
        }
        return Inventory(releases: releases, damaged: damaged)
    }

    /// An installed release, `nil` if it is not on this device.
    /// - Throws: `receipt-damaged`, `release-damaged`.
    func find(_ identity: ReleaseIdentity) throws -> InstalledRelease? {
        switch try directory.find(identity) {
        case .absent: return nil
        case .damaged(_, let problem): throw problem
        case .whole(let receipt):
            return InstalledRelease(
                identity: identity, folder: layout.folder(of: identity), receipt: receipt,
                isActive: try activation.state(of: identity.family).active == identity)
        }
    }

    /// An installed release.
    /// - Throws: `not-installed`, `receipt-damaged`, `release-damaged`.
    @discardableResult
    func require(_ identity: ReleaseIdentity) throws -> InstalledRelease {
        guard let release = try find(identity) else { throw StoreError.notInstalled(identity.description) }
        return release
    }

    /// The receipt of a release, also of a damaged one.
    /// - Throws: `not-installed`, `receipt-damaged`.
    func receipt(of identity: ReleaseIdentity) throws -> Receipt {
        let finding = try directory.find(identity)
        if case .damaged(nil, let problem) = finding { throw problem }
        guard let receipt = finding.receipt else { throw StoreError.notInstalled(identity.description) }
        return receipt
    }
}

extension StoreHome {
    var activation: ActivationFiles { ActivationFiles(layout: layout, fileSystem: fileSystem) }
    var marks: MarkFiles { MarkFiles(layout: layout, fileSystem: fileSystem, renewalTime: renewalTime) }
}
