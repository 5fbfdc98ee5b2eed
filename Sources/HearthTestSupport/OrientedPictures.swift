/// Pictures with an Exif orientation, and what is seen of them.
package enum OrientedPictures {
    /// An Exif block with two entries, the second of which is the orientation.
    package static func exif(_ orientation: UInt8, isLittleEndian: Bool = true, type: UInt8 = 3) -> [UInt8] {
        func number(_ value: UInt8, _ count: Int) -> [UInt8] {
            let zeros = [UInt8](repeating: 0, count: count - 1)
            return isLittleEndian ? [value] + zeros : zeros + [value]
        }
        let order = Array((isLittleEndian ? "II" : "MM").utf8)
        let tag: [UInt8] = isLittleEndian ? [0x12, 0x01] : [0x01, 0x12]
        let other: [UInt8] = isLittleEndian ? [0x0F, 0x01] : [0x01, 0x0F]
        var exif = order + number(42, 2) + number(8, 4) + number(2, 2)
        exif += other + number(2, 2) + number(4, 4) + number(0, 4)
        exif += tag + number(type, 2) + number(1, 4) + number(orientation, 2) + [0, 0] + number(0, 4)
        return exif
    }

    /// Exif's identifier, which JPEG wants before the block.
    package static let identifier = Array("Exif\0\0".utf8)

    /// A JPEG file with an Exif block in its first part.
    package static func jpeg(_ file: [UInt8], exif: [UInt8]) -> [UInt8] {
        let part = [0xFF, 0xE1, 0, UInt8(identifier.count + exif.count + 2)] + identifier + exif
        return Array(file.prefix(2)) + part + Array(file.dropFirst(2))
    }

    /// A PNG file with an Exif chunk before its first pixels, or behind the last.
    package static func png(_ file: [UInt8], exif: [UInt8], isBehind: Bool) -> [UInt8] {
        let body = Array("eXIf".utf8) + exif
        let chunk = number(UInt32(exif.count)) + body + number(checksum(body))
        // The header's chunk has 13 bytes, the last chunk none.
        let place = isBehind ? file.count - 12 : 33
        return Array(file[..<place]) + chunk + Array(file[place...])
    }

    /// The rows of a picture as they are shown, by the places that Exif 2.3 gives the file's first row and column.
    package static func shown<Pixel>(_ rows: [[Pixel]], _ orientation: UInt8) -> [[Pixel]] {
        let mirrored = rows.map { Array($0.reversed()) }
        return switch orientation {
        case 2: mirrored
        case 3: Array(mirrored.reversed())
        case 4: Array(rows.reversed())
        case 5: transposed(rows)
        case 6: transposed(Array(rows.reversed()))
        case 7: transposed(Array(mirrored.reversed()))
        case 8: transposed(mirrored)
        default: rows
        }
    }

    private static func transposed<Pixel>(_ rows: [[Pixel]]) -> [[Pixel]] {
        rows[0].indices.map { column in rows.map { $0[column] } }
    }

    private static func number(_ value: UInt32) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
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
