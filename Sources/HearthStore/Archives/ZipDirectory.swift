import HearthBase

/// The list of entries at the end of a zip file, checked before anything else is read: no bytes before the first entry or
/// after the last record, entries that share no bytes, and a list small enough for memory.
struct ZipDirectory {
    /// An entry of the list.
    struct Entry {
        let name: [UInt8]
        /// The system whose modes `attributes` has; 3 for Unix.
        let host: UInt8
        let flags: UInt16
        let method: UInt16
        let checksum: UInt32
        let packedSize: UInt64
        let size: UInt64
        /// The offset of the entry's own header.
        let offset: UInt64
        let attributes: UInt32
    }

    /// In the order of their bytes.
    let entries: [Entry]
    /// The offset of the list.
    let start: UInt64

    /// The most bytes of the list of entries: ``ArchiveLimits/maximumEntries`` entries with long names and extra
    /// fields.
    static let maximumSize: UInt64 = 4 << 20

    /// - Throws: ``StoreError``, `FileError`.
    init(_ file: OpenFile, label: String, entries limit: Int, fileSystem: any FileSystem) throws {
        let size = try fileSystem.status(of: file).size
        func damaged(_ problem: String) -> StoreError { .refusedArchive(.archiveDamaged, label, problem) }
        func bytes(at offset: UInt64, _ count: Int) throws -> [UInt8] {
            var bytes = [UInt8](repeating: 0, count: count)
            let found = try bytes.withUnsafeMutableBytes { try fileSystem.read(file, into: $0, at: offset) }
            return Array(bytes.prefix(found))
        }
        guard size >= 22 else { throw damaged("it is cut off") }
        guard try bytes(at: 0, 4) == [0x50, 0x4B, 3, 4] else {
            throw damaged("it does not begin like a zip file with something in it")
        }
        let tailLength = Int(min(size, 22 + 65535))
        let tail = try bytes(at: size - UInt64(tailLength), tailLength)
        // Finds the record whose comment ends with the file; another signature may be inside a comment.
        let found = (0...(max(22, tail.count) - 22)).reversed().first { start in
            tail.count >= start + 22 && tail[start..<start + 4].elementsEqual([0x50, 0x4B, 5, 6])
                && start + 22 + Int(tail.number(at: start + 20, 2)) == tail.count
        }
        guard let found else { throw damaged("it is cut off, or other bytes follow it") }
        let place = size - UInt64(tailLength) + UInt64(found)
        var record = Record(
            end: place, disks: tail.number(at: found + 4, 2) | tail.number(at: found + 6, 2),
            entries: tail.number(at: found + 10, 2), size: tail.number(at: found + 12, 4),
            offset: tail.number(at: found + 16, 4))
        if record.entries == 0xFFFF || record.size == 0xFFFF_FFFF || record.offset == 0xFFFF_FFFF {
            guard place >= 20 else { throw damaged("its end is broken") }
            let locator = try bytes(at: place - 20, 20)
            guard locator.starts(with: [0x50, 0x4B, 6, 7]) else { throw damaged("its end is broken") }
            let start = locator.number(at: 8, 8)
            guard start <= place - 20, place - 20 - start >= 56 else { throw damaged("its end is broken") }
            let long = try bytes(at: start, 56)
            guard long.count == 56, long.starts(with: [0x50, 0x4B, 6, 6]) else { throw damaged("its end is broken") }
            record = Record(
                end: start, disks: long.number(at: 16, 4) | long.number(at: 20, 4), entries: long.number(at: 32, 8),
                size: long.number(at: 40, 8), offset: long.number(at: 48, 8))
        }
        guard record.disks == 0 else { throw damaged("it is a part of several") }
        guard record.entries <= UInt64(limit) else {
            throw StoreError.refusedArchive(
                .archiveTooLarge, label, "it holds too many files", expected: "at most \(limit) entries",
                found: "\(record.entries) entries")
        }
        guard record.size <= Self.maximumSize else {
            throw StoreError.refusedArchive(
                .archiveTooLarge, label, "the list of its files is too long",
                expected: "at most \(Self.maximumSize) bytes",
                found: "\(record.size) bytes")
        }
        let (end, isTooMuch) = record.offset.addingReportingOverflow(record.size)
        guard !isTooMuch, end == record.end else { throw damaged("something stands before it or inside it") }
        let list = try bytes(at: record.offset, Int(record.size))
        guard let entries = Self.entries(list), UInt64(entries.count) == record.entries else {
            throw damaged("the list of its files is broken")
        }
        self.entries = entries.sorted { $0.offset < $1.offset }
        start = record.offset
        // Entries must not share bytes: that is how a small archive unpacks to petabytes.
        var last: UInt64 = 0
        for entry in self.entries {
            // The least extent: a header of 30 bytes, the name and the packed bytes.
            let (count, isTooLong) = entry.packedSize.addingReportingOverflow(UInt64(30 + entry.name.count))
            let (end, isTooMuch) = entry.offset.addingReportingOverflow(count)
            guard !isTooLong, !isTooMuch, entry.offset >= last, end <= record.offset else {
                throw StoreError.refusedArchive(.archiveUnsafe, label, "files in it overlap")
            }
            last = end
        }
    }

    /// The entries in the list's own order; `nil` for a malformed list.
    private static func entries(_ list: [UInt8]) -> [Entry]? {
        var entries: [Entry] = []
        var place = 0
        while place < list.count {
            guard place + 46 <= list.count, list[place..<place + 4].elementsEqual([0x50, 0x4B, 1, 2]) else {
                return nil
            }
            let name = Int(list.number(at: place + 28, 2))
            let extra = Int(list.number(at: place + 30, 2))
            let next = place + 46 + name + extra + Int(list.number(at: place + 32, 2))
            guard next <= list.count else { return nil }
            // Lengths that do not fit are in the extra field 1, in this order.
            var fields = [24, 20, 42].map { list.number(at: place + $0, 4) }
            if fields.contains(0xFFFF_FFFF) {
                guard var long = longNumbers(list, place + 46 + name, extra) else { return nil }
                for index in fields.indices where fields[index] == 0xFFFF_FFFF {
                    guard !long.isEmpty else { return nil }
                    fields[index] = long.removeFirst()
                }
            }
            entries.append(
                Entry(
                    name: Array(list[place + 46..<place + 46 + name]), host: list[place + 5],
                    flags: UInt16(list.number(at: place + 8, 2)), method: UInt16(list.number(at: place + 10, 2)),
                    checksum: UInt32(list.number(at: place + 16, 4)), packedSize: fields[1], size: fields[0],
                    offset: fields[2], attributes: UInt32(list.number(at: place + 38, 4))))
            place = next
        }
        return entries
    }

    private static func longNumbers(_ list: [UInt8], _ start: Int, _ count: Int) -> [UInt64]? {
        var place = start
        while place + 4 <= start + count {
            let size = Int(list.number(at: place + 2, 2))
            guard place + 4 + size <= start + count else { return nil }
            if list.number(at: place, 2) == 1 { return (0..<size / 8).map { list.number(at: place + 4 + $0 * 8, 8) } }
            place += 4 + size
        }
        return nil
    }

    private struct Record {
        let end: UInt64
        let disks: UInt64
        let entries: UInt64
        let size: UInt64
        let offset: UInt64
    }
}

extension [UInt8] {
    /// A little-endian number; bytes beyond the end count as zero.
    func number(at offset: Int, _ count: Int) -> UInt64 {
        (0..<count).reversed().reduce(0) { $0 << 8 | (offset + $1 < self.count ? UInt64(self[offset + $1]) : 0) }
    }
}
