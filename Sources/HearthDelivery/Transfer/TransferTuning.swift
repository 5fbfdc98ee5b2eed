/// How a file is cut into requests and how many of them run at once. The defaults suit every network; tests use smaller ones.
public struct TransferTuning: Sendable, Hashable {
    /// The bytes asked for in one request; a file of at most this many is asked for whole.
    public var pieceLength: UInt64 = 8 << 20
    /// The connections a transfer begins with once the server has shown that it can send parts.
    public var initialConnections = 4
    /// The most connections of one transfer, 1 to 16.
    public var maximumConnections = 16
    /// The least that is taken off a connection that is slower than the others.
    public var minimumSplit: UInt64 = 256 << 10
    /// How often a connection that has nothing left to do looks whether another one has fallen behind; `nil` for never.
    public var stragglerInterval: Duration? = .milliseconds(500)
    /// New bytes are recorded after this many, or after ``recordInterval``, whichever comes first.
    ///
    /// A power cut costs the bytes that came since the last finished record was begun: at most this many or those of one
    /// interval, and what came while the next record was on its way to the disk. A disk that is slower than the network makes the
    /// network wait once four times this many came during one record, so that in all it is never more than eight times this
    /// many. A kill costs less where the file has a digest, whatever the disk does: what was written is noted every MiB, and
    /// beside that at most 14 MiB are gathered to be written together and in the buffers of the connections. A file without a
    /// digest has no such notes, since nobody could check what they say; there a kill costs what a power cut costs, and the
    /// buffers.
    public var recordBytes: UInt64 = 16 << 20
    /// New bytes are recorded after this time, or after ``recordBytes``.
    public var recordInterval = Duration.milliseconds(200)
    /// The bytes at a file's beginning that are left in the page cache: what an engine reads first. The rest would push out
    /// what other apps have there, and waiting for fresh memory costs more than writing. Where there is a chunk index, and the
    /// disk is quick enough, it goes past the page cache altogether.
    public var cachedBytes: UInt64 = 64 << 20

    /// The usual values.
    public init() {}
}
