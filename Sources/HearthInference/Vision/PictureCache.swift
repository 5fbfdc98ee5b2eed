import HearthBase

/// Encoded pictures by their digest, as many as a number of bytes holds; the least recently used go first.
package struct PictureCache<Value: Sendable>: Sendable {
    /// The bytes all values may take.
    package private(set) var limit: Int
    /// The bytes they take.
    package private(set) var bytes = 0
    private var entries: [SHA256Digest: Entry] = [:]
    private var clock: UInt64 = 0

    private struct Entry: Sendable {
        let value: Value
        let bytes: Int
        var used: UInt64
    }

    /// An empty cache.
    package init(limit: Int) { self.limit = max(0, limit) }

    package var count: Int { entries.count }

    /// The cached encoding of a picture; the access counts as a use.
    package mutating func value(of digest: SHA256Digest) -> Value? {
        clock += 1
        entries[digest]?.used = clock
        return entries[digest]?.value
    }

    /// Keeps a value of so many bytes. One larger than the limit is not kept.
    package mutating func insert(_ value: Value, bytes size: Int, of digest: SHA256Digest) {
        remove(digest)
        guard size <= limit else { return }
        trim(to: limit - size)
        clock += 1
        entries[digest] = Entry(value: value, bytes: size, used: clock)
        bytes += size
    }

    /// From now on all values may take so many bytes; what is beyond them goes.
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
