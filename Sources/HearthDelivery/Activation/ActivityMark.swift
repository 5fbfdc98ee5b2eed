import Foundation
import HearthBase

/// What a process is about to do with a release: `marks/<family>/<release>/<token>`, there while it does it.
///
/// ```json
/// { "format": 1, "stage": "generate", "since": "2026-11-21T10:00:00Z",
///   "pid": 4711, "started": "123456", "boot": "…", "space": "…" }
/// ```
/// A mark whose process is gone tells the next start where it ended: ``Recovery`` says what follows.
struct ActivityMark: Sendable, Hashable {
    /// What may be interrupted, in the order in which it happens.
    enum Stage: String, Sendable, Hashable, Codable, CaseIterable {
        /// Steps of an activation.
        case verify, prepare, probe, commit
        /// The way back.
        case rollback
        /// The use of a release on probation.
        case load, generate

        /// Whether it decides what is live.
        var isDecision: Bool { self == .commit || self == .rollback }
    }

    /// The largest mark that is read, in bytes.
    static let sizeLimit: UInt64 = 4096
    /// A mark of a process that nobody here can ask about counts from this age on: no load and no answer takes so long.
    static let unseenAge: Duration = .seconds(3600)

    var stage: Stage
    var process: ProcessIdentity
    var since: Date
    /// Where a rollback leads; the name of the folder in which is to stand what is being made.
    var target: String?
    /// How much of that is done, in hundredths; `nil` before the first.
    var reached: Int?
    /// Why it is made.
    var reason: String?
    /// The digest of all that is tried, where that is to take the place of other bytes of a live release.
    var content: SHA256Digest?
    /// What its catalog's entry promised of that, as ``HeldBack/promised``.
    var promised: SHA256Digest?

    /// A mark of this process.
    init(
        _ stage: Stage, at date: Date, target: String? = nil, reason: String? = nil
    ) {
        self.stage = stage
        process = .current
        since = Date(timeIntervalSince1970: date.timeIntervalSince1970.rounded(.down))
        self.target = target
        self.reason = reason.map(HeldBack.bounded)
    }

    /// Whether its process ended and left it behind.
    ///
    /// A process of an earlier boot is gone: a power cut inside of an answer counts like a crash there, for a model that
    /// brings the whole machine down shows itself in no other way, and one end alone rolls nothing back. One of another
    /// container cannot be asked; its mark counts when it is too old to be true.
    func isLeft(at now: Date, isRunning: (ProcessIdentity) -> Bool?) -> Bool {
        if let isRunning = isRunning(process) { return !isRunning }
        let here = ProcessIdentity.current
        if !here.boot.isEmpty, !process.boot.isEmpty, process.boot != here.boot { return true }
        return now.timeIntervalSince(since) > Self.unseenAge.seconds
    }

    /// A name no other mark ever has.
    static func token() -> String {
        (0..<2).map { _ in
            let digits = String(UInt64.random(in: 0 ... .max), radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }

    /// Whether a name is one of a mark.
    static func isToken(_ name: String) -> Bool {
        name.utf8.count == 32 && name.utf8.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
    }
}

extension ActivityMark: DiskRecord {
    private enum Key: String, CodingKey {
        case format, stage, since, pid, started, boot, space, target, reached, reason, content, promised
    }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        func text(_ key: Key) throws -> String {
            let text = try values.decode(String.self, forKey: key)
            guard text.utf8.count <= 64 else {
                throw DecodingError.dataCorruptedError(forKey: key, in: values, debugDescription: "too long")
            }
            return text
        }
        guard try values.decode(Int.self, forKey: .format) == 1 else {
            throw DecodingError.dataCorruptedError(forKey: .format, in: values, debugDescription: "unknown")
        }
        stage = try values.decode(Stage.self, forKey: .stage)
        since = try values.decode(Date.self, forKey: .since)
        process = ProcessIdentity(
            number: try values.decode(Int32.self, forKey: .pid), started: try text(.started), boot: try text(.boot),
            space: try text(.space))
        guard process.number > 0 else {
            throw DecodingError.dataCorruptedError(forKey: .pid, in: values, debugDescription: "not a process")
        }
        target = try values.decodeIfPresent(String.self, forKey: .target)
        reached = try values.decodeIfPresent(Int.self, forKey: .reached)
        reason = try values.decodeIfPresent(String.self, forKey: .reason).map(HeldBack.bounded)
        content = try values.decodeIfPresent(SHA256Digest.self, forKey: .content)
        promised = try values.decodeIfPresent(SHA256Digest.self, forKey: .promised)
    }

    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Key.self)
        try values.encode(1, forKey: .format)
        try values.encode(stage, forKey: .stage)
        try values.encode(since, forKey: .since)
        try values.encode(process.number, forKey: .pid)
        try values.encode(process.started, forKey: .started)
        try values.encode(process.boot, forKey: .boot)
        try values.encode(process.space, forKey: .space)
        try values.encodeIfPresent(target, forKey: .target)
        try values.encodeIfPresent(reached, forKey: .reached)
        try values.encodeIfPresent(reason, forKey: .reason)
        try values.encodeIfPresent(content, forKey: .content)
        try values.encodeIfPresent(promised, forKey: .promised)
    }
}
