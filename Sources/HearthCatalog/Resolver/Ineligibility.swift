import HearthBase

/// Why this device cannot use a release now.
public enum Ineligibility: Sendable, Hashable {
    /// The release needs a newer version of the embedding app.
    case appTooOld(needs: SemanticVersion)
    /// The release needs more memory than the device has, before and after preparation.
    case notEnoughMemory(needed: UInt64)
    /// This device has no engine for the format.
    case noEngine(ModelFormat)
    /// This device is outside the rollout percentage.
    case notInRollout(percent: Int)
    /// The release failed on this device, or a rollback left it. A newer version ends this.
    case heldBack
    /// The publisher withdrew the release, for this reason.
    case yanked(String)

    /// The reason for programs.
    public var code: String {
        switch self {
        case .appTooOld: "app-too-old"
        case .notEnoughMemory: "not-enough-memory"
        case .noEngine: "no-engine"
        case .notInRollout: "not-in-rollout"
        case .heldBack: "held-back"
        case .yanked: "yanked"
        }
    }

    /// The reason for people, as the end of a sentence.
    public var reason: String {
        switch self {
        case .appTooOld(let needed): "needs version \(needed) of this app"
        case .notEnoughMemory(let needed): "needs \(needed) bytes of memory, more than this device has"
        case .noEngine(let format): "is in the format \(format.rawValue), for which there is no engine here"
        case .notInRollout(let percent): "is offered to \(percent) % of all devices so far, and not to this one"
        case .heldBack: "is held back on this device, until something newer appears"
        case .yanked(let why): "was withdrawn by its publisher: \(why)"
        }
    }
}

extension Release {
    /// Why a device cannot use the release, `nil` if it can. Reasons that the user cannot change come first.
    /// - Parameter heldBack: the releases that failed on this device; each holds back all variants of its version.
    package func ineligibility(
        on device: DeviceProfile, heldBack: Set<ReleaseIdentity> = []
    ) -> Ineligibility? {
        if let formats = device.formats, !formats.contains(format) { return .noEngine(format) }
        if let needed = minimumAppVersion, let version = device.appVersion, version < needed {
            return .appTooOld(needs: needed)
        }
        if let needed = comparedMemory, needed > device.memory,
            !device.fitsAfterPreparation.contains(identity)
        {
            return .notEnoughMemory(needed: needed)
        }
        if let yanked { return .yanked(yanked) }
        if heldBack.contains(where: { $0.family == identity.family && $0.version == identity.version }) {
            return .heldBack
        }
        if let rollout, rollout.percent < 100, !(device.cohort?.isIn(rollout) ?? false) {
            return .notInRollout(percent: rollout.percent)
        }
        return nil
    }

    /// The digest of the files as the receipt will record it after installation. `nil` if a file has no digest or no
    /// exact size, or if the files are in an archive.
    package var content: SHA256Digest? {
        guard archive == nil else { return nil }
        var listing: [(RelativePath, UInt64, SHA256Digest)] = []
        for file in files {
            guard let size = file.size.exact, let digest = file.digest else { return nil }
            listing.append((file.name, size, digest))
        }
        return SHA256Digest(listing: listing)
    }
}
