import HearthBase

/// Checks the end of a zip file before anything else reads it: no bytes before the first entry or after the last
/// record, and a directory small enough for memory.
struct ZipDirectory {
    /// The most bytes of the list of entries: ``ArchiveLimits/maximumEntries`` entries with long names and extra
    /// fields.
    static let maximumSize: UInt64 = 4 << 20

    /// - Throws: ``StoreError``, `FileError`.
    package static func check(_ file: OpenFile, label: String, entries limit: Int, fileSystem: any FileSystem) throws {
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
        guard record.size <= maximumSize else {
            throw StoreError.refusedArchive(
                .archiveTooLarge, label, "the list of its files is too long", expected: "at most \(maximumSize) bytes",
                found: "\(record.size) bytes")
        }
        let (end, isTooMuch) = record.offset.addingReportingOverflow(record.size)
        guard !isTooMuch, end == record.end else { throw damaged("something stands before it or inside it") }
        let list = try bytes(at: record.offset, Int(record.size))
        guard let extents = extents(list), UInt64(extents.count) == record.entries else {
            throw damaged("the list of its files is broken")
        }
        // Entries must not share bytes: that is how a small archive unpacks to petabytes.
        var last: UInt64 = 0
        for extent in extents.sorted(by: { $0.start < $1.start }) {
            let (end, isTooMuch) = extent.start.addingReportingOverflow(extent.count)
            guard !isTooMuch, extent.start >= last, end <= record.offset else {
                throw StoreError.refusedArchive(.archiveUnsafe, label, "files in it overlap")
            }
            last = end
        }
    }

    /// The least extent of each entry: a header of 30 bytes, the name and the packed bytes. `nil` for a malformed
    /// directory.
    private static func extents(_ list: [UInt8]) -> [(start: UInt64, count: UInt64)]? {
        var extents: [(start: UInt64, count: UInt64)] = []
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
            let (count, isTooMuch) = fields[1].addingReportingOverflow(UInt64(30 + name))
            guard !isTooMuch else { return nil }
            extents.append((start: fields[2], count: count))
            place = next
        }
        return extents
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
    fileprivate func number(at offset: Int, _ count: Int) -> UInt64 {
        (0..<count).reversed().reduce(0) { $0 << 8 | (offset + $1 < self.count ? UInt64(self[offset + $1]) : 0) }
    }
}
