/// Writes PNG files of any depth with right checksums, which decoders compare.
enum PNGBuilder {
    /// A file of unfiltered lines.
    /// - Parameter lines: the bytes of each line without its filter byte.
    static func bytes(width: Int, height: Int, depth: UInt8, colour: UInt8, lines: [[UInt8]]) -> [UInt8] {
        var unpacked: [UInt8] = []
        for line in lines {
            unpacked.append(0)
            unpacked += line
        }
        let length = [UInt8(unpacked.count & 255), UInt8(unpacked.count >> 8)]
        // One block that is stored as it is.
        var packed: [UInt8] = [0x78, 0x01, 1]
        packed += length
        packed += length.map { ~$0 }
        packed += unpacked
        packed += number(adler(unpacked))
        var header = number(UInt32(width))
        header += number(UInt32(height))
        header += [depth, colour, 0, 0, 0]
        var file: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
        file += chunk("IHDR", header)
        file += chunk("IDAT", packed)
        file += chunk("IEND", [])
        return file
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
