/// Writes PNG files of any depth with right checksums, which decoders compare.
enum PNGBuilder {
    /// A file of unfiltered lines.
    /// - Parameter lines: the bytes of each line without its filter byte.
    static func bytes(width: Int, height: Int, depth: UInt8, colour: UInt8, lines: [[UInt8]]) -> [UInt8] {
        let unpacked = lines.flatMap { [0] + $0 }
        let length = [UInt8(unpacked.count & 255), UInt8(unpacked.count >> 8)]
        let packed = [0x78, 0x01, 1] + length + length.map { ~$0 } + unpacked + number(adler(unpacked))
        let header = number(UInt32(width)) + number(UInt32(height)) + [depth, colour, 0, 0, 0]
        return [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + chunk("IHDR", header) + chunk("IDAT", packed)
            + chunk("IEND", [])
    }

    private static func chunk(_ kind: String, _ content: [UInt8]) -> [UInt8] {
        let body = Array(kind.utf8) + content
        return number(UInt32(content.count)) + body + number(checksum(body))
    }

    private static func number(_ value: UInt32) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
    }

    private static func adler(_ bytes: [UInt8]) -> UInt32 {
        var (low, high): (UInt32, UInt32) = (1, 0)
        for byte in bytes {
            low = (low + UInt32(byte)) % 65521
            high = (high + low) % 65521
        }
        return high << 16 | low
    }

    /// The cyclic redundancy check of PNG (ISO 3309).
    private static func checksum(_ bytes: [UInt8]) -> UInt32 {
        var value: UInt32 = .max
        for byte in bytes {
            value ^= UInt32(byte)
            for _ in 0..<8 { value = value & 1 == 1 ? value >> 1 ^ 0xEDB8_8320 : value >> 1 }
        }
        return ~value
    }
}
