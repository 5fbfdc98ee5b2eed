import Foundation
import HearthBase

/// The facts that decide which release a device may use.
package struct DeviceProfile: Sendable, Hashable {
    /// The memory that a model may use, in bytes.
    package var memory: UInt64
    /// The formats that this device has engines for; `nil` allows all, for an app with its own engines.
    package var formats: Set<ModelFormat>?
    /// The version of the embedding app; `nil` allows all releases.
    package var appVersion: SemanticVersion?
    /// The device's place in rollouts; `nil` takes part only in complete rollouts.
    package var cohort: RolloutCohort?
    /// The releases that are too large for the device's memory, but fit after preparation.
    package var fitsAfterPreparation: Set<ReleaseIdentity>

    /// Memberwise.
    package init(
        memory: UInt64, formats: Set<ModelFormat>? = nil, appVersion: SemanticVersion? = nil,
        cohort: RolloutCohort? = nil, fitsAfterPreparation: Set<ReleaseIdentity> = []
    ) {
        self.memory = memory
        self.formats = formats
        self.appVersion = appVersion
        self.cohort = cohort
        self.fitsAfterPreparation = fitsAfterPreparation
    }
}

/// A device's place in rollouts.
///
/// The device has a random identifier. Its place in a rollout is the first eight bytes of SHA-256(seed, NUL,
/// identifier), read as a big-endian number, modulo 100. The device takes part while its place is below the percentage:
/// a device included at 10 % is also included at 25 %. Another seed gives every device a new place.
package struct RolloutCohort: Sendable, Hashable {
    /// The device's anonymous identifier: 32 hexadecimal digits.
    package let identifier: String

    /// The cohort of an identifier, `nil` for anything but 32 lower-case hexadecimal digits.
    package init?(_ identifier: some StringProtocol) {
        guard identifier.utf8.count == 32, identifier.utf8.allSatisfy(\.isLowerCaseHexadecimal) else { return nil }
        self.identifier = String(identifier)
    }

    /// A cohort with a random identifier.
    init() { identifier = [UInt8].random(16).hexadecimal }

    /// The device's place in the rollout of a seed: 0 to 99.
    package func place(seed: String) -> Int {
        let digest = SHA256Digest(hashing: Array(seed.utf8) + [0] + Array(identifier.utf8))
        let number = digest.bytes.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return Int(number % 100)
    }

    /// Whether the rollout includes the device.
    package func isIn(_ rollout: Rollout) -> Bool { place(seed: rollout.seed) < rollout.percent }
}

/// Stores a device's anonymous identifier in `device-id`: 32 hexadecimal digits and a line feed, readable only by the
/// file's owner. Blocks.
package struct DeviceIdentifier: Sendable {
    package let path: Path
    package let fileSystem: any FileSystem

    /// Memberwise.
    package init(path: Path, fileSystem: any FileSystem) {
        self.path = path
        self.fileSystem = fileSystem
    }

    /// The device's place in rollouts. The first call creates the identifier; an invalid file is replaced.
    /// - Throws: `FileError`.
    package func cohort() throws -> RolloutCohort {
        if let known = try read() { return known }
        try fileSystem.makeFolders(path.parent)
        let fresh = RolloutCohort()
        let temporary = path.parent.appendingTemporary(besides: path.lastComponent)
        try fileSystem.replaceContents(of: temporary, with: Data("\(fresh.identifier)\n".utf8), permissions: 0o600)
        do {
            try fileSystem.makeHardLink(at: path, to: temporary)
        } catch is FileError {
            // Another process has created the file: its identifier counts. Otherwise the file is invalid, or the file
            // system has no hard links: the last writer wins, and the others use its identifier later.
            if try read() == nil { try fileSystem.rename(temporary, to: path) }
        }
        try fileSystem.removeFile(temporary)
        try fileSystem.synchronizeFolder(path.parent)
        return try read() ?? fresh
    }

    /// The recorded identifier; `nil` if there is no file, or an invalid one.
    private func read() throws -> RolloutCohort? {
        guard let status = try fileSystem.status(at: path, followLinks: false), status.kind == .file, status.size <= 64
        else { return nil }
        let text = String(decoding: try fileSystem.contents(ofFile: path, limit: 64), as: UTF8.self)
        return RolloutCohort(text.trimmingCharacters(in: .newlines))
    }
}
