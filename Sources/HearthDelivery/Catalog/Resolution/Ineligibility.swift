import HearthBase

/// Why a release is not for this device, now.
public enum Ineligibility: Sendable, Hashable {
    /// The embedding app is older than the release needs.
    case appTooOld(needs: SemanticVersion)
    /// The publisher says that it needs so many bytes of memory, the device has fewer, and nothing that fits can be made of it.
    case notEnoughMemory(needed: UInt64)
    /// No engine of this device reads the format.
    case noEngine(ModelFormat)
    /// It is offered to so many devices of a hundred, and this is none of them yet.
    case notInRollout(percent: Int)
    /// It did not prove itself here, or was left by a rollback; a newer version makes up for it.
    case heldBack
    /// Other bytes of a version that was live come under its name now, and those did not prove themselves here.
    case bytesHeldBack

    /// The reason as programs read it.
    public var code: String {
        switch self {
        case .appTooOld: "app-too-old"
        case .notEnoughMemory: "not-enough-memory"
        case .noEngine: "no-engine"
        case .notInRollout: "not-in-rollout"
        case .heldBack: "held-back"
        case .bytesHeldBack: "bytes-held-back"
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
        case .bytesHeldBack:
            "comes with other bytes now, which are held back on this device, until something newer appears"
        }
    }
}

extension Release {
    /// Why a device may not have the release, `nil` if it may. What a person can do nothing about here comes first, what is about
    /// these bytes of the version only comes last.
    /// - Parameters:
    ///   - heldBack: releases that did not prove themselves; their version is meant, in any variant.
    ///   - heldBackContents: bytes of releases that did not, as in ``ReleaseState/heldBackContents``. A release whose entry
    ///     promises nothing of some of its bytes is none of them.
    public func ineligibility(
        on device: DeviceProfile, heldBack: Set<ReleaseIdentity> = [], heldBackContents: [HeldBack] = []
    ) -> Ineligibility? {
        if let formats = device.formats, !formats.contains(format) { return .noEngine(format) }
        if let needed = minimumAppVersion, let version = device.appVersion, version < needed {
            return .appTooOld(needs: needed)
        }
        if let needed = requirements.memoryBytes, needed > device.memory, !device.madeToFit.contains(identity) {
            return .notEnoughMemory(needed: needed)
        }
        if heldBack.contains(where: { $0.family == identity.family && $0.version == identity.version }) {
            return .heldBack
        }
        if let rollout, rollout.percent < 100, !(device.cohort?.isIn(rollout) ?? false) {
            return .notInRollout(percent: rollout.percent)
        }
        return heldBackContents.contains(where: isMeant) ? .bytesHeldBack : nil
    }

    /// Whether these bytes are held back, as far as the entry tells of them.
    func isMeant(by held: HeldBack) -> Bool {
        guard held.release == identity, held.content != nil else { return false }
        return held.content == content || (held.promised != nil && held.promised == promised)
    }

    /// The digest of what the entry promises of the bytes that come over, before an archive is unpacked: two entries of one release
    /// with the same promise bring the same contents. `nil` where it promises nothing of a file.
    var promised: SHA256Digest? {
        var lines: [String] = []
        for file in files {
            guard let bytes = file.digest?.hex ?? file.gitBlob?.description else { return nil }
            lines.append("\(bytes) \(file.name)\n")
        }
        if let archive {
            lines.append("archive \(file.name) \(archive.format.rawValue) \(archive.member?.string ?? "")\n")
        }
        return SHA256Digest(hashing: Array(lines.sorted().joined().utf8))
    }

    /// The digest of all that an installed one would hold, as its receipt will tell it; `nil` where the entry gives a file no
    /// digest or only about its length, or tells of an archive and not of what is in it.
    var content: SHA256Digest? {
        guard archive == nil else { return nil }
        var listing: [(RelativePath, UInt64, SHA256Digest)] = []
        for file in files {
            guard let size = file.size.exact, let digest = file.digest else { return nil }
            listing.append((file.name, size, digest))
        }
        return SHA256Digest(listing: listing)
    }
}
