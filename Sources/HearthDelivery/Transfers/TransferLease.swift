import Foundation
import HearthBase

/// Who works in a transfer's folder: the file `lease` there.
///
/// ```json
/// { "format": 1, "token": "…32 hexadecimal digits…", "pid": 4711, "started": "123456", "boot": "…", "space": "…",
///   "renewed": 1800000000, "hold": "offline" }
/// ```
/// `hold` is there while its holder waits for the network: `offline` or `metered`.
struct TransferLease: Sendable, Hashable {
    static let currentFormat = 1
    /// Without a renewal for so long, the lease of a process nobody here can ask about is void.
    static let lifetime = Duration.seconds(60)
    /// Something that is no lease and was not changed for so long is damage, for whoever holds the `flock` as well: writing
    /// a lease takes moments, and only who has no `flock` could be doing that.
    static let damageLifetime = Duration.seconds(5)
    /// Every lease file has this length: it is renewed in place, and a shorter text would leave an end of the longer one.
    static let fileSize = 512

    /// Never used twice: what is true of a token stays true.
    var token: String
    var holder: ProcessIdentity
    /// The last sign of life.
    var renewed: Date
    /// What its holder waits for, as far as others are told.
    var hold: DownloadHold?

    /// A lease of this process.
    init(at date: Date) {
        token = (0..<2).map { _ in String(format: "%016lx", UInt64.random(in: 0 ... .max)) }.joined()
        holder = .current
        renewed = date
    }

    /// Whether its holder is gone. `held` are the tokens this process works under.
    func isStale(at now: Date, held: Set<String>) -> Bool {
        if holder == .current { return !held.contains(token) }
        if let isRunning = holder.isRunning { return !isRunning }
        // A date from the future is no sign of life either.
        return Swift.abs(now.timeIntervalSince(renewed)) > Self.lifetime.seconds
    }
}

extension TransferLease: Codable {
    private enum Key: String, CodingKey { case format, token, pid, started, boot, space, renewed, hold }

    /// The holds that are written down, and their words.
    private static let holds: [String: DownloadHold] = ["offline": .offline, "metered": .metered]

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        func text(_ key: Key) throws -> String {
            let text = try values.decode(String.self, forKey: key)
            guard text.utf8.count <= 64 else {
                throw DecodingError.dataCorruptedError(forKey: key, in: values, debugDescription: "too long")
            }
            return text
        }
        guard try values.decode(Int.self, forKey: .format) == Self.currentFormat else {
            throw DecodingError.dataCorruptedError(forKey: .format, in: values, debugDescription: "unknown")
        }
        token = try text(.token)
        // It becomes a part of a file's name.
        guard token.utf8.count == 32, token.utf8.allSatisfy({ (48...57).contains($0) || (97...102).contains($0) })
        else {
            throw DecodingError.dataCorruptedError(forKey: .token, in: values, debugDescription: "not a token")
        }
        holder = ProcessIdentity(
            number: try values.decode(Int32.self, forKey: .pid), started: try text(.started), boot: try text(.boot),
            space: try text(.space))
        guard holder.number > 0 else {
            throw DecodingError.dataCorruptedError(forKey: .pid, in: values, debugDescription: "not a process")
        }
        renewed = Date(timeIntervalSince1970: TimeInterval(try values.decode(UInt32.self, forKey: .renewed)))
        // A word of a later version is no reason to doubt the lease.
        hold = try values.decodeIfPresent(String.self, forKey: .hold).flatMap { Self.holds[$0] }
    }

    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Key.self)
        try values.encode(Self.currentFormat, forKey: .format)
        try values.encode(token, forKey: .token)
        try values.encode(holder.number, forKey: .pid)
        try values.encode(holder.started, forKey: .started)
        try values.encode(holder.boot, forKey: .boot)
        try values.encode(holder.space, forKey: .space)
        let seconds = renewed.timeIntervalSince1970
        try values.encode(UInt32(exactly: seconds.rounded(.down)) ?? 0, forKey: .renewed)
        try values.encodeIfPresent(Self.holds.first { $0.value == hold }?.key, forKey: .hold)
    }

    /// The lease as it is written to the disk.
    func data() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let text = try encoder.encode(self)
        return text + Data(repeating: UInt8(ascii: " "), count: max(0, Self.fileSize - 1 - text.count))
            + Data("\n".utf8)
    }
}

/// What stands at the place of a lease.
enum FoundLease: Equatable {
    case lease(TransferLease)
    /// Something else, last changed then: a lease that is just being written, or damage.
    case unreadable(FileIdentity, modified: Date)

    /// What is at `path`, `nil` if nothing. Follows no link.
    static func read(_ path: Path, in fileSystem: any FileSystem) throws -> FoundLease? {
        guard let status = try fileSystem.status(at: path, followLinks: false) else { return nil }
        let unreadable = FoundLease.unreadable(status.identity, modified: status.modified)
        guard status.kind == .file, status.size <= 4096 else { return unreadable }
        do {
            let data = try fileSystem.contents(ofFile: path, limit: 4096)
            return .lease(try JSONDecoder().decode(TransferLease.self, from: data))
        } catch let error as FileError where error.code == .notFound {
            return nil
        } catch is DecodingError {
            return unreadable
        }
    }

    /// Whether nobody works here under it.
    /// - Parameter patience: how long ago something that is no lease was changed at least.
    func isStale(at now: Date, held: Set<String>, patience: Duration = TransferLease.lifetime) -> Bool {
        switch self {
        case .lease(let lease): lease.isStale(at: now, held: held)
        case .unreadable(_, let modified):
            Swift.abs(now.timeIntervalSince(modified)) > patience.seconds
        }
    }

    /// A name that no other lease ever has.
    var name: String {
        switch self {
        case .lease(let lease): lease.token
        case .unreadable(let identity, _): "file-\(identity.device)-\(identity.inode)"
        }
    }
}
