import HearthBase

/// The sizes of the steps of an import.
struct ImportPace: Sendable {
    /// The most bytes of a slab, read and written together.
    var slabBytes = 4 << 20
    /// The written bytes between two records of the journal.
    var checkpointBytes: UInt64 = 256 << 20
    /// The number of threads. More would wait for the disk, and each has buffers of its own.
    var threads = min(SystemProcessors.usable, 4)
}
