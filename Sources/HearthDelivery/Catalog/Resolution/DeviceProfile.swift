import Foundation
import HearthBase

/// What decides which release a device may have.
public struct DeviceProfile: Sendable, Hashable {
    /// The bytes of memory a model may take.
    public var memory: UInt64
    /// The formats there is an engine for; `nil` compares nothing, as for an app that brings engines of its own.
    public var formats: Set<ModelFormat>?
    /// The version of the embedding app; `nil` compares nothing.
    public var appVersion: SemanticVersion?
    /// The device's place in rollouts; `nil` belongs to none that is not complete.
    public var cohort: RolloutCohort?
    /// The releases that need more memory than there is as they come, and fit as a ``ReleasePreparer`` makes them.
    public var madeToFit: Set<ReleaseIdentity>

    /// A device of the given facts.
    public init(
        memory: UInt64, formats: Set<ModelFormat>? = nil, appVersion: SemanticVersion? = nil,
        cohort: RolloutCohort? = nil, madeToFit: Set<ReleaseIdentity> = []
    ) {
        self.memory = memory
        self.formats = formats
        self.appVersion = appVersion
        self.cohort = cohort
        self.madeToFit = madeToFit
    }
}

/// A device's place in rollouts.
///
/// The device has a random name; the first eight bytes of SHA-256(seed, NUL, name), read as a big-endian number, modulo 100
/// are its place in the rollout of that seed, 0 to 99. It is in while its place is below the percentage: who is in at 10 %
/// is in at 25 %, and another seed shuffles everybody anew.
public struct RolloutCohort: Sendable, Hashable {
    /// The device's anonymous name: 32 hexadecimal digits.
    public let identifier: String

    /// The cohort of a device's name, `nil` for anything but 32 lower-case hexadecimal digits.
    public init?(_ identifier: some StringProtocol) {
        guard identifier.utf8.count == 32,
            identifier.utf8.allSatisfy({ (48...57).contains($0) || (97...102).contains($0) })
        else { return nil }
        self.identifier = String(identifier)
    }

    /// A cohort of a random name.
    static func random() -> Self {
        var generator = SystemRandomNumberGenerator()
        let bytes = (0..<16).map { _ in UInt8.random(in: 0 ... .max, using: &generator) }
        return Self(bytes: bytes)
    }

    private init(bytes: [UInt8]) { identifier = bytes.hexadecimal }

    /// The place in the rollout of a seed: 0 to 99.
    public func place(seed: String) -> Int {
        let digest = SHA256Digest(hashing: Array(seed.utf8) + [0] + Array(identifier.utf8))
        let number = digest.bytes.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return Int(number % 100)
    }

    /// Whether the device takes part.
    public func isIn(_ rollout: Rollout) -> Bool { place(seed: rollout.seed) < rollout.percent }
}

/// Keeps a device's anonymous name: `device-id`, 32 hexadecimal digits and a line feed, readable by its owner only. Blocks.
struct DeviceIdentifier: Sendable {
    let layout: HomeLayout
    let fileSystem: any FileSystem

    /// The device's place in rollouts; the first question makes the name. A file that holds something else gives way.
    /// - Throws: ``FileError``.
    func cohort() throws -> RolloutCohort {
        let path = layout.deviceIdentifier
        if case .name(let known) = try read(path) { return known }
        try fileSystem.makeFolders(layout.home)
        let fresh = RolloutCohort.random()
        // Looked at once more by what it holds: another process may have made it since.
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
        // Of several that replace it the last one stays, for all of them from the next time on.
        if case .name(let known) = try read(path) { return known }
        return fresh
    }

    /// Puts a name in place unless another process was quicker: then that one is the device's.
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
            // A file system without hard links: the last one to write names the device.
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
