import Foundation
import HearthBase

/// One file to be brought over, and how its bytes will be known for the right ones.
public struct TransferRequest: Sendable, Hashable {
    /// The name for people, such as the file's.
    public var label: String
    /// Where to get it, the preferred place first.
    public var locations: [URL]
    public var size: FileSize
    /// What the bytes must hash to; `nil` accepts any, and the receipt says *unverified*.
    public var digest: SHA256Digest?
    /// The digests of its parts, so that a wrong one alone is fetched again; `nil` if the publisher gives none. One for
    /// a file of another length, or without a digest, is not used. It has to come from where the digest comes from.
    public var index: ChunkIndex?
    /// At most this many bytes a second, `nil` for no limit.
    public var bytesPerSecond: UInt64?
    /// Whether a metered network may be used.
    public var metered = MeteredUse.deny

    /// A request for one file.
    public init(
        label: String, locations: [URL], size: FileSize, digest: SHA256Digest?, index: ChunkIndex? = nil,
        bytesPerSecond: UInt64? = nil
    ) {
        self.label = label
        self.locations = locations
        self.size = size
        self.digest = digest
        self.index = index
        self.bytesPerSecond = bytesPerSecond
    }
}

/// A file that arrived, still in the transfer's own folder.
public struct TransferredFile: Sendable, Hashable {
    public let path: Path
    public let size: UInt64
    /// What the bytes hash to: computed while they were written, never taken from the server. With a chunk index it is the
    /// catalog's, for which the checked chunks vouch.
    public let digest: SHA256Digest
    /// The bytes fetched from the network this time; the rest was on the disk already.
    public internal(set) var fetchedBytes: UInt64

    /// A file of the given facts.
    public init(path: Path, size: UInt64, digest: SHA256Digest, fetchedBytes: UInt64) {
        self.path = path
        self.size = size
        self.digest = digest
        self.fetchedBytes = fetchedBytes
    }
}

/// How far a delivery is. Sampled at most ten times a second; `completedBytes` never goes down; bytes that have to
/// be fetched a second time are not counted again.
public struct TransferProgress: Sendable, Hashable {
    /// What is going on.
    public enum Phase: String, Sendable, Hashable, Codable {
        case connecting, downloading
        /// Bytes that are here are read and compared: those of an earlier attempt before others are asked for, all at the end.
        case verifying
        /// Being unpacked: the bytes are those that came out of the archive.
        case extracting
        case installing
        /// An engine makes of the release what it runs best here.
        case preparing
        /// An engine tries the release before it becomes live.
        case probing
        /// Somebody paused it; it goes on when it is resumed.
        case paused
        /// Something has to change before bytes may flow; see ``TransferProgress/hold``.
        case waiting
        /// The bytes were not the promised ones: the pause before they are fetched again.
        case retrying
    }

    public var phase: Phase
    public var completedBytes: UInt64
    /// `nil` while nobody has told the exact length, of every file where there are several.
    public var totalBytes: UInt64?
    /// All that comes, bytes that come again included, smoothed over some seconds; `nil` until there is something to go by,
    /// 0 when nothing has come for ten seconds.
    public var bytesPerSecond: Double?
    /// The connections bytes are coming over.
    public var connections: Int
    /// The host bytes came from last; `nil` before the first and for a file of this machine.
    public var source: String?
    /// What is waited for in the phase `waiting`.
    public var hold: DownloadHold?
    /// What of ``completedBytes`` was void and has to come again, while bytes come.
    public var repeatedBytes: UInt64

    /// A reading of the given facts.
    public init(
        phase: Phase, completedBytes: UInt64, totalBytes: UInt64?, bytesPerSecond: Double? = nil, connections: Int = 0,
        source: String? = nil, hold: DownloadHold? = nil, repeatedBytes: UInt64 = 0
    ) {
        self.phase = phase
        self.completedBytes = completedBytes
        self.totalBytes = totalBytes
        self.bytesPerSecond = bytesPerSecond
        self.connections = connections
        self.source = source
        self.hold = hold
        self.repeatedBytes = repeatedBytes
    }

    /// The part done, in [0, 1]; `nil` when the total is unknown.
    public var fraction: Double? {
        guard let totalBytes else { return nil }
        guard totalBytes > 0 else { return 1 }
        return min(1, Double(completedBytes) / Double(totalBytes))
    }

    /// The time left at the present rate, in seconds; `nil` where the total is unknown or nothing comes.
    public var secondsLeft: Double? {
        guard let totalBytes, let bytesPerSecond, bytesPerSecond > 0 else { return nil }
        return (Double(totalBytes - min(totalBytes, completedBytes)) + Double(repeatedBytes)) / bytesPerSecond
    }
}
