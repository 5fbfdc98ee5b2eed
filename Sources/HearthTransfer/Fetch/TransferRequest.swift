import Foundation
import HearthBase
import HearthHTTP

/// A request to fetch one file, with the means to check its bytes.
package struct TransferRequest: Sendable, Hashable {
    /// The name shown to people, such as the file's.
    package var label: String
    /// The download addresses, the preferred one first.
    package var locations: [URL]
    /// Whether the file is given without a key or a token.
    package var isPublic = true
    /// Whether the first location is that of a ``SiteMirror``: it is asked alone, until its first failure.
    var hasMirror = false
    package var size: FileSize
    /// The digest that the bytes must have; `nil` accepts any, and the receipt says *unverified*.
    package var digest: SHA256Digest?
    /// The git blob that the bytes must be, if no digest is promised.
    package var gitBlob: GitBlobID?
    /// The chunk index, so that only wrong chunks are fetched again; `nil` if the publisher gives none. Ignored if it
    /// is for another length, or without ``digest``. It must come from the same origin as the digest.
    package var index: ChunkIndex?
    /// Copies of the file on this machine, perhaps damaged, whose matching chunks are reused instead of fetched; the
    /// preferred one first. Used with ``index`` only.
    package var seeds: [Path] = []
    /// At most this many bytes a second, `nil` for no limit.
    package var bytesPerSecond: UInt64?
    /// Whether a metered network may be used.
    package var metered = MeteredUse.deny
    /// Whether the bytes and their records are brought to the disk as they come. If not, a power cut may cost the whole
    /// file, and its digest tells; set by ``TransferManager`` for small files.
    package internal(set) var isSynced = true

    /// A request for one file.
    package init(
        label: String, locations: [URL], size: FileSize, digest: SHA256Digest?, bytesPerSecond: UInt64? = nil
    ) {
        self.label = label
        self.locations = locations
        self.size = size
        self.digest = digest
        self.bytesPerSecond = bytesPerSecond
    }
}

/// A fetched file, still in the transfer's folder.
package struct TransferredFile: Sendable, Hashable {
    package let path: Path
    package let size: UInt64
    /// The digest of the bytes, computed while writing and never taken from the server. With a chunk index it is the
    /// catalog's, for which the checked chunks vouch.
    package let digest: SHA256Digest
    /// The bytes fetched from the network this time; the others were on the disk already.
    package internal(set) var fetchedBytes: UInt64
}

/// A reading of a delivery's progress. There are at most ten a second, and `completedBytes` never goes down: bytes
/// that are fetched a second time are not counted again. `fraction` counts ``presentBytes``.
public struct TransferProgress: Sendable, Hashable {
    public var state: TransferState
    /// The bytes on this device, also while no more come.
    public var completedBytes: UInt64
    /// `nil` until the exact length of every file is known.
    public var totalBytes: UInt64?
    /// The rate of all incoming bytes, repeated ones included, smoothed over some seconds; `nil` until it is known, 0
    /// after ten seconds without bytes.
    public var bytesPerSecond: Double?
    /// The number of connections that bring bytes.
    public var connections: Int
    /// The host that bytes came from last; `nil` before the first byte and for a local file.
    public var source: String?
    /// The part of ``completedBytes`` that became void and is being fetched again.
    public var repeatedBytes: UInt64
    /// The bytes that came over the network, repeated ones included.
    package var fetchedBytes: UInt64 = 0

    /// A reading of the given facts.
    public init(
        state: TransferState, completedBytes: UInt64, totalBytes: UInt64?, bytesPerSecond: Double? = nil,
        connections: Int = 0, source: String? = nil, repeatedBytes: UInt64 = 0
    ) {
        self.state = state
        self.completedBytes = completedBytes
        self.totalBytes = totalBytes
        self.bytesPerSecond = bytesPerSecond
        self.connections = connections
        self.source = source
        self.repeatedBytes = repeatedBytes
    }

    /// The bytes on this device without those that are being fetched again.
    public var presentBytes: UInt64 { completedBytes - min(completedBytes, repeatedBytes) }

    /// The part done, in [0, 1]; `nil` when the total is unknown. It goes down when bytes become void.
    public var fraction: Double? {
        guard let totalBytes else { return nil }
        guard totalBytes > 0 else { return 1 }
        return min(1, Double(presentBytes) / Double(totalBytes))
    }

    /// The time left at the present rate, in seconds; `nil` if the total is unknown or no bytes come.
    public var secondsLeft: Double? {
        guard let totalBytes, let bytesPerSecond, bytesPerSecond > 0 else { return nil }
        return (Double(totalBytes - min(totalBytes, completedBytes)) + Double(repeatedBytes)) / bytesPerSecond
    }
}
