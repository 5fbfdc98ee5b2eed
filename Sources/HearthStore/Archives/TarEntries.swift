/// The entries of a tar file: POSIX's `ustar` and `pax` forms, and GNU's with long names.
final class TarEntries: ArchiveEntries {
    /// The most bytes of an extended header or of a long name.
    static let maximumExtension: UInt64 = 1 << 20

    private let cursor: ByteCursor
    private var offset: UInt64 = 0
    private var size: UInt64 = 0
    private var hasEnded = false

    init(_ source: any ByteSource) { cursor = ByteCursor(source) }

    var consumed: UInt64 { cursor.offset }

    func nextHeader() throws -> ArchiveHeader? {
        try skipEntry()
        try pass(Self.padding(size))
        (offset, size) = (0, 0)
        var extended = TarExtension()
        while !hasEnded, let block = try nextBlock512() {
            let header = try TarBlock(block)
            switch header.type {
            case "x": extended.add(records: try contents(of: header))
            case "g":
                // A name or a length for all entries: readers disagree about them, and no writer needs them.
                var shared = TarExtension()
                shared.add(records: try contents(of: header))
                guard shared.changesNothing else { throw ArchiveFailure(text: "a header in it is for all entries") }
            case "L": extended.name = try contents(of: header).prefix { $0 != 0 }
            case "K": _ = try contents(of: header)
            default: return try entry(header, extended)
            }
            if extended.isBroken { throw ArchiveFailure(text: "an extended header in it is broken") }
        }
        guard extended.changesNothing else { throw ArchiveFailure.cutOff }
        return nil
    }

    func nextBlock() throws -> (bytes: UnsafeRawBufferPointer, offset: Int64)? {
        guard offset < size else { return nil }
        let part = try cursor.part(size - offset)
        guard !part.isEmpty else { throw ArchiveFailure.cutOff }
        defer { offset += UInt64(part.count) }
        return (part, Int64(clamping: offset))
    }

    func skipEntry() throws {
        try pass(size - offset)
        offset = size
    }

    private func entry(_ header: TarBlock, _ extended: TarExtension) throws -> ArchiveHeader {
        let bytes = extended.name ?? header.name
        let length = extended.size ?? header.size
        let isFolder = header.type == "5" || (header.isFile && bytes.last == UInt8(ascii: "/") && length == 0)
        guard length == 0 || !isFolder else { throw ArchiveFailure(text: "a folder in it has contents") }
        let isSparse = extended.isSparse || header.type == "S"
        let isFile = header.isFile || isSparse
        // Links have the length of their target in some archives, and no contents.
        size = isFile ? length : 0
        return ArchiveHeader(
            name: String(validating: bytes, as: UTF8.self), kind: isFolder ? .folder : isFile ? .file : .other,
            isSparse: isSparse, permissions: header.mode, size: size)
    }

    /// The next block; `nil` at the end of the archive, which a block of zeros marks.
    private func nextBlock512() throws -> [UInt8]? {
        let block = try cursor.bytes(512)
        guard block.contains(where: { $0 != 0 }) else {
            hasEnded = true
            return nil
        }
        guard block.count == 512 else { throw ArchiveFailure.cutOff }
        return block
    }

    private func contents(of header: TarBlock) throws -> [UInt8] {
        guard header.size <= Self.maximumExtension else {
            throw ArchiveFailure(text: "an extended header in it is too long")
        }
        let bytes = try cursor.bytes(Int(header.size))
        guard bytes.count == Int(header.size) else { throw ArchiveFailure.cutOff }
        try pass(Self.padding(header.size))
        return bytes
    }

    private func pass(_ count: UInt64) throws { try cursor.skip(count) }

    /// The bytes from the end of contents to the next block.
    private static func padding(_ size: UInt64) -> UInt64 { (512 - size % 512) % 512 }
}

/// A header of 512 bytes.
private struct TarBlock {
    let type: Character
    let name: [UInt8]
    let mode: UInt32
    let size: UInt64

    /// The type of an ordinary file, in the newest form, the oldest, and that of contiguous files.
    var isFile: Bool { ["0", "\0", "7"].contains(type) }

    /// - Throws: ``ArchiveFailure`` unless the checksum is right and the numbers are numbers.
    init(_ block: [UInt8]) throws {
        let broken = ArchiveFailure(text: "a header in it is broken")
        // The sum counts its own field as spaces.
        let sum = block.enumerated().reduce(0) { $0 + ((148..<156).contains($1.offset) ? 32 : UInt64($1.element)) }
        guard let stated = Self.number(block[148..<156]), stated == sum, let size = Self.number(block[124..<136]),
            let mode = Self.number(block[100..<108])
        else { throw broken }
        type = Character(UnicodeScalar(block[156]))
        self.size = size
        self.mode = UInt32(truncatingIfNeeded: mode)
        let own = Array(block[0..<100].prefix { $0 != 0 })
        // GNU's form has other fields where POSIX's has the beginning of a long name.
        let prefix = block[257..<263].elementsEqual("ustar\0".utf8) ? Array(block[345..<500].prefix { $0 != 0 }) : []
        name = prefix.isEmpty ? own : prefix + [UInt8(ascii: "/")] + own
    }

    /// A number in octal digits, or in GNU's form for large ones; `nil` for anything else.
    private static func number(_ field: ArraySlice<UInt8>) -> UInt64? {
        guard let first = field.first else { return nil }
        if first & 0x80 != 0 {
            let bytes = [first & 0x7F] + field.dropFirst()
            guard bytes.dropLast(8).allSatisfy({ $0 == 0 }) else { return nil }
            return bytes.suffix(8).reduce(0) { $0 << 8 | UInt64($1) }
        }
        let digits = field.drop { $0 == 32 }.prefix { $0 != 32 && $0 != 0 }
        guard !digits.isEmpty else { return 0 }
        return UInt64(String(decoding: digits, as: UTF8.self), radix: 8)
    }
}

/// The facts that headers before an entry tell about it.
private struct TarExtension {
    var name: [UInt8]?
    private(set) var size: UInt64?
    private(set) var isSparse = false
    private(set) var isBroken = false

    var changesNothing: Bool { name == nil && size == nil && !isSparse && !isBroken }

    /// Reads pax records: `<length> <key>=<value>` and a line feed, with the length of the whole record.
    mutating func add(records bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let digits = rest.prefix { $0 != 32 }
            guard let count = Int(String(decoding: digits, as: UTF8.self)), count > digits.count + 2,
                count <= rest.count
            else {
                isBroken = true
                return
            }
            let record = rest.prefix(count)
            rest = rest.dropFirst(count)
            let text = record.dropFirst(digits.count + 1).dropLast()
            guard record.last == UInt8(ascii: "\n"), let equals = text.firstIndex(of: UInt8(ascii: "=")) else {
                isBroken = true
                return
            }
            take(String(decoding: text[..<equals], as: UTF8.self), Array(text[(equals + 1)...]))
        }
    }

    private mutating func take(_ key: String, _ value: [UInt8]) {
        switch key {
        case "path": name = value
        case "size":
            size = UInt64(String(decoding: value, as: UTF8.self))
            isBroken = isBroken || size == nil
        case _ where key.hasPrefix("GNU.sparse."): isSparse = true
        default: break
        }
    }
}
