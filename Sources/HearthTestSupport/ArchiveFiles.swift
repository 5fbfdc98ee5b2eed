import Foundation

/// Archives of regular files, made in memory.
package enum ArchiveFiles {
    /// A file of an archive, with its path.
    package typealias Member = (name: String, data: Data)

    /// A tar file in the oldest format, which every reader supports; names of at most 99 bytes.
    package static func tar(_ members: [Member]) -> Data {
        var archive = Data()
        for member in members {
            var header = [UInt8](repeating: 0, count: 512)
            func put(_ text: String, at offset: Int) {
                for (index, byte) in text.utf8.enumerated() { header[offset + index] = byte }
            }
            put(member.name, at: 0)
            put("0000644", at: 100)
            put("0000000", at: 108)
            put("0000000", at: 116)
            let octal = String(member.data.count, radix: 8)
            put(String(repeating: "0", count: 11 - octal.count) + octal, at: 124)
            put("00000000000", at: 136)
            put("        ", at: 148)
            put("0", at: 156)
            let sum = String(header.reduce(0) { $0 + Int($1) }, radix: 8)
            put(String(repeating: "0", count: 6 - sum.count) + sum + "\0 ", at: 148)
            archive += header
            archive += member.data
            archive += Data(count: (512 - member.data.count % 512) % 512)
        }
        return archive + Data(count: 1024)
    }

    /// A zip file with stored, uncompressed members.
    package static func zip(_ members: [Member]) -> Data {
        var archive = Data()
        var directory = Data()
        for member in members {
            let name = Data(member.name.utf8)
            var facts = Data()
            // The flag for UTF-8 names, then the method, time and date.
            for number in [20, 0x800, 0, 0, 0x21] as [UInt16] { facts.put(number) }
            facts.put(checksum(member.data))
            for _ in 1...2 { facts.put(UInt32(member.data.count)) }
            facts.put(UInt16(name.count))
            facts.put(UInt16(0))
            directory.put(0x0201_4B50 as UInt32)
            directory.put(0x0314 as UInt16)
            directory += facts
            for number in [0, 0, 0] as [UInt16] { directory.put(number) }
            directory.put(0o100644 << 16 as UInt32)
            directory.put(UInt32(archive.count))
            directory += name
            archive.put(0x0403_4B50 as UInt32)
            archive += facts + name + member.data
        }
        let start = archive.count
        archive += directory
        archive.put(0x0605_4B50 as UInt32)
        for number in [0, 0, UInt16(members.count), UInt16(members.count)] { archive.put(number) }
        archive.put(UInt32(directory.count))
        archive.put(UInt32(start))
        archive.put(0 as UInt16)
        return archive
    }

    /// The bytes as an uncompressed gzip file.
    package static func gzip(_ data: Data) -> Data {
        var out = Data([0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 255])
        for (piece, isLast) in pieces(of: data, 65535) {
            out.append(isLast ? 1 : 0)
            out.put(UInt16(piece.count))
            out.put(~UInt16(piece.count))
            out += piece
        }
        out.put(checksum(data))
        out.put(UInt32(truncatingIfNeeded: data.count))
        return out
    }

    /// The bytes as a Zstandard frame. Only a block of 128 KiB with one repeated byte is compressed.
    package static func zstandard(_ data: Data) -> Data {
        var out = Data()
        out.put(0xFD2F_B528 as UInt32)
        out += [0, 0x58]
        for (piece, isLast) in pieces(of: data, 128 << 10) {
            let isRun = piece.count > 1 && piece.dropLast() == piece.dropFirst()
            let head = UInt32(piece.count) << 3 | (isRun ? 2 : 0) | (isLast ? 1 : 0)
            out += [UInt8(head & 255), UInt8(head >> 8 & 255), UInt8(head >> 16)]
            out += isRun ? piece.prefix(1) : piece
        }
        return out
    }

    private static func pieces(of data: Data, _ length: Int) -> [(Data, isLast: Bool)] {
        stride(from: 0, to: max(1, data.count), by: length).map { start in
            (data.dropFirst(start).prefix(length), start + length >= data.count)
        }
    }

    /// The CRC-32 of zip and gzip.
    private static func checksum(_ data: Data) -> UInt32 {
        let table = (0..<256).map { index -> UInt32 in
            (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 1 ? 0xEDB8_8320 ^ (value >> 1) : value >> 1 }
        }
        return ~data.reduce(~0 as UInt32) { table[Int(($0 ^ UInt32($1)) & 255)] ^ ($0 >> 8) }
    }
}

extension Data {
    /// Appends a number, little endian.
    fileprivate mutating func put(_ value: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: value.littleEndian) { append(contentsOf: $0) }
    }
}
