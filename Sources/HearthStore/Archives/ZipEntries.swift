/// The entries of a zip file whose directory was checked.
final class ZipEntries: ArchiveEntries {
    private let cursor: ByteCursor
    private var waiting: ArraySlice<ZipDirectory.Entry>
    private let directoryStart: UInt64
    private var current: ZipDirectory.Entry?
    private var inflater: Inflater?
    private var input = UnsafeRawBufferPointer(start: nil, count: 0)
    /// The packed bytes that were not read yet.
    private var left: UInt64 = 0
    private var done: UInt64 = 0
    private var checksum = Checksum()

    init(_ source: any ByteSource, _ directory: ZipDirectory) {
        cursor = ByteCursor(source)
        waiting = directory.entries[...]
        directoryStart = directory.start
    }

    var consumed: UInt64 { cursor.offset }

    func nextHeader() throws -> ArchiveHeader? {
        current = waiting.popFirst()
        guard let current else { return nil }
        try begin(current)
        let isFolder = current.name.last == UInt8(ascii: "/") && current.size == 0
        // The type of the file in the modes of Unix, whose hosts write the number 3; others write none.
        let type = current.host == 3 ? current.attributes >> 16 & 0o170000 : 0
        let kind: ArchiveHeader.Kind =
            switch type {
            case 0, 0o100000: isFolder ? .folder : .file
            case 0o040000: .folder
            default: .other
            }
        return ArchiveHeader(
            name: String(validating: current.name, as: UTF8.self), kind: kind,
            // Encrypted, encrypted strongly, or with a directory that hides values.
            isEncrypted: current.flags & 0x2041 != 0,
            permissions: current.host == 3 ? current.attributes >> 16 & 0o7777 : 0,
            compression: [0, 8].contains(current.method) ? nil : "method \(current.method)", size: current.size)
    }

    func nextBlock() throws -> (bytes: UnsafeRawBufferPointer, offset: Int64)? {
        guard let current else { return nil }
        let block = try inflater.map { try unpacked($0) } ?? stored()
        guard !block.isEmpty else {
            guard left == 0, input.isEmpty, done == current.size, checksum.value == current.checksum else {
                throw ArchiveFailure(text: "a file in it is broken")
            }
            return nil
        }
        checksum.update(block)
        defer { done += UInt64(block.count) }
        return (block, Int64(clamping: done))
    }

    func skipEntry() {}

    /// Goes to the first packed byte of an entry.
    private func begin(_ entry: ZipDirectory.Entry) throws {
        try cursor.seek(to: entry.offset)
        let head = try cursor.bytes(30)
        guard head.count == 30, head.starts(with: [0x50, 0x4B, 3, 4]) else {
            throw ArchiveFailure(text: "a header in it is broken")
        }
        let name = try cursor.bytes(Int(head.number(at: 26, 2)))
        // Readers that trust the other header must see the same file.
        guard name == entry.name, head.number(at: 8, 2) == UInt64(entry.method),
            head.number(at: 6, 2) & 0x2041 == UInt64(entry.flags & 0x2041)
        else { throw ArchiveFailure(text: "its two headers of a file differ") }
        try cursor.skip(head.number(at: 28, 2))
        let end = waiting.first?.offset ?? directoryStart
        guard cursor.offset <= end, entry.packedSize <= end - cursor.offset else {
            throw ArchiveFailure(text: "files in it overlap")
        }
        left = entry.packedSize
        done = 0
        checksum = Checksum()
        input = UnsafeRawBufferPointer(start: nil, count: 0)
        inflater = entry.method == 8 ? try Inflater(.raw) : nil
    }

    private func stored() throws -> UnsafeRawBufferPointer {
        guard left > 0 else { return UnsafeRawBufferPointer(start: nil, count: 0) }
        let part = try cursor.part(left)
        guard !part.isEmpty else { throw ArchiveFailure.cutOff }
        left -= UInt64(part.count)
        return part
    }

    private func unpacked(_ inflater: Inflater) throws -> UnsafeRawBufferPointer {
        while !inflater.hasEnded {
            if input.isEmpty, !inflater.mayHaveMore {
                input = try stored()
                guard !input.isEmpty else { throw ArchiveFailure(text: "a file in it is broken") }
            }
            let block = try inflater.unpack(&input)
            if !block.isEmpty { return block }
        }
        return UnsafeRawBufferPointer(start: nil, count: 0)
    }
}
