#if Llama
import CLlamaShim
import HearthInference
import HearthTestSupport
import Testing

@Suite struct ExifOrientationTests {
    /// A JPEG of 40 × 30 pixels with an orientation.
    private static func photo(_ orientation: UInt8, isLittleEndian: Bool = true, type: UInt8 = 3) -> [UInt8] {
        func number(_ value: UInt8, _ count: Int) -> [UInt8] {
            let zeros = [UInt8](repeating: 0, count: count - 1)
            return isLittleEndian ? [value] + zeros : zeros + [value]
        }
        let order = Array((isLittleEndian ? "II" : "MM").utf8)
        let tag: [UInt8] = isLittleEndian ? [0x12, 0x01] : [0x01, 0x12]
        let other: [UInt8] = isLittleEndian ? [0x0F, 0x01] : [0x01, 0x0F]
        var exif = Array("Exif\0\0".utf8) + order + number(42, 2) + number(8, 4) + number(2, 2)
        exif += other + number(2, 2) + number(4, 4) + number(0, 4)
        exif += tag + number(type, 2) + number(1, 4) + number(orientation, 2) + [0, 0] + number(0, 4)
        let part = [0xFF, 0xE1, 0, UInt8(exif.count + 2)] + exif
        return Array(TestPictures.jpeg.prefix(2)) + part + Array(TestPictures.jpeg.dropFirst(2))
    }

    private typealias Pixel = [UInt8]

    /// The rows of the displayed picture.
    private func rows(_ bytes: [UInt8], shrunkTo half: Bool = false) throws -> [[Pixel]] {
        let header = try ImageHeader(bytes)
        let (width, height) = half ? (header.width / 2, header.height / 2) : (header.width, header.height)
        let stored = hearth_size(
            width: UInt32(header.storedSize.width), height: UInt32(header.storedSize.height))
        var reason: UnsafeMutablePointer<CChar>?
        let picture = try #require(
            hearth_picture_read(
                bytes, bytes.count, stored, hearth_size(width: UInt32(width), height: UInt32(height)),
                Int32(header.orientation), &reason))
        defer { hearth_picture_free(picture) }
        let pixels = try #require(hearth_picture_pixels(picture))
        return (0..<height).map { row in
            (0..<width).map { column in (0..<3).map { pixels[(row * width + column) * 3 + $0] } }
        }
    }

    private static func transposed(_ rows: [[Pixel]]) -> [[Pixel]] {
        rows[0].indices.map { column in rows.map { $0[column] } }
    }

    /// The orientations of the Exif standard: the displayed places of the file's first row and column.
    private static func shown(_ rows: [[Pixel]], _ orientation: UInt8) -> [[Pixel]] {
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

    @Test(arguments: Array(UInt8(1)...8), [true, false])
    func aPhotoIsSeenAsItIsShown(orientation: UInt8, isLittleEndian: Bool) throws {
        let stored = try rows(TestPictures.jpeg)
        let photo = Self.photo(orientation, isLittleEndian: isLittleEndian)
        let header = try ImageHeader(photo)
        #expect((header.width, header.height) == (orientation > 4 ? (30, 40) : (40, 30)))
        #expect(try rows(photo) == Self.shown(stored, orientation))
        #expect(try rows(photo, shrunkTo: true) == Self.shown(rows(TestPictures.jpeg, shrunkTo: true), orientation))
    }

    @Test func withoutAUsableOrientationTheFileOrderIsShown() throws {
        for photo in [Self.photo(0), Self.photo(9), Self.photo(6, type: 4)] {
            #expect(try ImageHeader(photo).orientation == 1)
        }
        // The part is cut at every place, and never read beyond its end.
        let whole = Self.photo(6)
        for length in 0..<36 {
            let part = Array(whole[6..<6 + length])
            let bytes =
                [0xFF, 0xD8, 0xFF, 0xE1, 0, UInt8(length + 2)] + part + Array(TestPictures.jpeg.dropFirst(2))
            #expect([1, 6].contains(try ImageHeader(bytes).orientation))
        }
    }
}
#endif
