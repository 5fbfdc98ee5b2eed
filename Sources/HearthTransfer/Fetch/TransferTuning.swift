/// How a file is cut into requests, and how many run at once. The defaults suit every network; tests use smaller
/// values.
package struct TransferTuning: Sendable, Hashable {
    /// The bytes of one request; a file of at most this many is requested whole.
    package var pieceLength: UInt64 = 8 << 20
    /// The connections a transfer begins with once the server has shown that it can send parts.
    package var initialConnections = 4
    /// The most connections of one transfer, 1 to 16.
    package var maximumConnections = 16
    /// The fewest bytes that are taken over from a slower connection.
    package var minimumSplit: UInt64 = 256 << 10
    /// How often an idle connection checks whether another one has fallen behind; `nil` for never.
    package var stragglerInterval: Duration? = .milliseconds(500)
    /// New bytes are recorded after this many, or after ``recordInterval``, whichever comes first.
    ///
    /// A power cut costs the bytes since the last finished record began: at most this many or those of one interval,
    /// and those that came during the next record. The network waits for the disk once four times this many came
    /// during one record, so the loss is at most eight times this many. A kill costs the same, and the bytes in the
    /// connections' buffers.
    package var recordBytes: UInt64 = 8 << 20
    /// New bytes are recorded after this time, or after ``recordBytes``.
    package var recordInterval = Duration.milliseconds(200)
    /// The bytes at a file's beginning that stay in the page cache, because an engine reads them first. The others
    /// would displace other apps' pages; with a chunk index and a fast disk, they bypass the page cache.
    package var cachedBytes: UInt64 = 64 << 20

    /// The usual values.
    package init() {}
}
