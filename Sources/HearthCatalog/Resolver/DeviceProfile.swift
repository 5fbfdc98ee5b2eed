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
        guard identifier.utf8.count == 32,
            identifier.utf8.allSatisfy({ (48...57).contains($0) || (97...102).contains($0) })
        else { return nil }
        self.identifier = String(identifier)
    }

    /// A cohort with a random identifier.
    static func random() -> Self {
        var generator = SystemRandomNumberGenerator()
        let bytes = (0..<16).map { _ in UInt8.random(in: 0 ... .max, using: &generator) }
        return Self(bytes: bytes)
    }

    private init(bytes: [UInt8]) { identifier = bytes.hexadecimal }

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
        if case .name(let known) = try read(path) { return known }
        try fileSystem.makeFolders(path.parent)
        let fresh = RolloutCohort.random()
        // Read again: another process may have created the file since.
        switch try read(path) {
        case .name(let known): return known
        case .nothing: return try claim(path, fresh)
        case .somethingElse:
            Log.write(.warning, "delivery.catalog", "\(path) holds no device name, and gets another")
            return try replace(path, fresh)
        }
    }

    private enum Finding { case nothing, somethingElse, name(RolloutCohort) }

    private func replace(_ path: Path, _ fresh: RolloutCohort) throws -> RolloutCohort {
        try fileSystem.replaceContents(of: path, with: Self.data(fresh), permissions: 0o600)
        // If several processes replace the file, the last one wins; the others use its identifier later.
        if case .name(let known) = try read(path) { return known }
        return fresh
    }

    /// Creates the file, unless another process created it first: then its identifier counts.
    private func claim(_ path: Path, _ fresh: RolloutCohort) throws -> RolloutCohort {
        let temporary = path.parent.appendingTemporary(besides: path.lastComponent)
        let file = try fileSystem.open(temporary, .createNew, permissions: 0o600)
        defer {
            do {
                try fileSystem.removeFile(temporary)
            } catch {
                Log.write(.info, "delivery.catalog", "\(temporary) stays: \(error)")
            }
        }
        try Self.data(fresh).withUnsafeBytes { try fileSystem.write(file, $0, at: 0) }
        try fileSystem.synchronize(file)
        do {
            try fileSystem.makeHardLink(at: path, to: temporary)
        } catch let error as FileError where error.code == .alreadyExists {
            if case .name(let known) = try read(path) { return known }
            return try replace(path, fresh)
        } catch {
            // On a file system without hard links, the last writer wins.
            return try replace(path, fresh)
        }
        try fileSystem.synchronizeFolder(path.parent)
        return fresh
    }

    private func read(_ path: Path) throws -> Finding {
        guard let status = try fileSystem.status(at: path, followLinks: false) else { return .nothing }
        guard status.kind == .file, status.size <= 64 else { return .somethingElse }
        let text = String(decoding: try fileSystem.contents(ofFile: path, limit: 64), as: UTF8.self)
        return RolloutCohort(text.trimmingCharacters(in: .newlines)).map { .name($0) } ?? .somethingElse
    }

    private static func data(_ cohort: RolloutCohort) -> Data { Data((cohort.identifier + "\n").utf8) }
}
