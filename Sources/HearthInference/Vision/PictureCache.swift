import HearthBase

/// Encoded pictures by their digest, within a limit of bytes; the least recently used are dropped first.
package struct PictureCache<Value: Sendable>: Sendable {
    /// The most bytes of all values.
    package private(set) var limit: Int
    /// The bytes of all values.
    package private(set) var bytes = 0
    private var entries: [SHA256Digest: Entry] = [:]
    private var clock: UInt64 = 0

    private struct Entry: Sendable {
        let value: Value
        let bytes: Int
        var used: UInt64
    }

    /// Makes an empty cache.
    package init(limit: Int) { self.limit = max(0, limit) }

    package var count: Int { entries.count }

    /// The cached encoding of a picture; the access counts as a use.
    package mutating func value(of digest: SHA256Digest) -> Value? {
        clock += 1
        entries[digest]?.used = clock
        return entries[digest]?.value
    }

    /// Stores a value of `size` bytes. A value larger than the limit is not stored.
    package mutating func insert(_ value: Value, bytes size: Int, of digest: SHA256Digest) {
        remove(digest)
        guard size <= limit else { return }
        trim(to: limit - size)
        clock += 1
        entries[digest] = Entry(value: value, bytes: size, used: clock)
        bytes += size
    }

    /// Sets the most bytes of all values, and drops values beyond it.
    package mutating func limit(to bytes: Int) {
        limit = max(0, bytes)
        trim(to: limit)
    }

    private mutating func trim(to room: Int) {
        while bytes > room, let oldest = entries.min(by: { $0.value.used < $1.value.used }) { remove(oldest.key) }
    }

    private mutating func remove(_ digest: SHA256Digest) {
        if let entry = entries.removeValue(forKey: digest) { bytes -= entry.bytes }
    }
}
