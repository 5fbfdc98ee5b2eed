import Foundation
import HearthBase

/// What a lease file says; read back as if it came from outside.
struct LeaseRecord: Sendable, Hashable {
    static let currentFormat = 1
    /// The largest lease that is read, in bytes.
    static let sizeLimit: UInt64 = 4096
    /// For so long a lease counts whose holder nobody here can ask about: another machine, on a disk without locks.
    static let patience = Duration.seconds(24 * 60 * 60)

    var holder: ProcessIdentity

    /// Whether its holder lives.
    /// - Parameters:
    ///   - token: the name of its file.
    ///   - held: the tokens this process holds.
    ///   - isLocked: whether somebody has the file locked, `nil` where the disk does not tell.
    ///   - age: the time since it was written.
    static func isAlive(
        _ record: Self?, token: String, held: Set<String>, isLocked: Bool?, age: Duration
    ) -> Bool {
        if let holder = record?.holder {
            if holder == .current { return held.contains(token) }
            if let isRunning = holder.isRunning { return isRunning }
        }
        // Another container or machine, or something nobody here can read: the lock ends with its holder, wherever that is.
        if let isLocked { return isLocked }
        // A date from the future is no sign of life either.
        return Swift.abs(age.seconds) <= patience.seconds
    }
}

extension LeaseRecord: Codable {
    private enum Key: String, CodingKey { case format, pid, started, boot, space }

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
        holder = ProcessIdentity(
            number: try values.decode(Int32.self, forKey: .pid), started: try text(.started), boot: try text(.boot),
            space: try text(.space))
        guard holder.number > 0 else {
            throw DecodingError.dataCorruptedError(forKey: .pid, in: values, debugDescription: "not a process")
        }
    }

    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Key.self)
        try values.encode(Self.currentFormat, forKey: .format)
        try values.encode(holder.number, forKey: .pid)
        try values.encode(holder.started, forKey: .started)
        try values.encode(holder.boot, forKey: .boot)
        try values.encode(holder.space, forKey: .space)
    }
}
