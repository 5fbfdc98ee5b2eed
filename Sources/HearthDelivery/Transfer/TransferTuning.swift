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
    /// What a kill costs at most: the bytes that were taken from the network and are not recorded.
    ///
    /// New bytes are recorded after a quarter of this, or after ``recordInterval``, whichever comes first, while more come. Once
    /// five eighths of it came and are not recorded the network waits for the disk: on one that keeps up that never happens,
    /// and on a slower one nothing is lost by waiting, since a file ends on the disk anyway. The rest is for what the buffers
    /// of the connections hold, 4 MiB in all. What the system has received and nobody has read comes on top.
    public var recordBytes: UInt64 = 16 << 20
    /// New bytes are recorded after this time, or after a quarter of ``recordBytes``.
    public var recordInterval = Duration.milliseconds(200)
    /// The bytes at a file's beginning that are left in the page cache: what an engine reads first. The rest would push out
    /// what other apps have there, and waiting for fresh memory costs more than writing. Where there is a chunk index, and the
    /// disk is quick enough, it goes past the page cache altogether.
    public var cachedBytes: UInt64 = 64 << 20

    /// The usual values.
    public init() {}
}
