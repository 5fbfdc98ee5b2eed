#if Llama
import CLlamaShim
import HearthInference
import HearthTestSupport
import Testing

@Suite struct ExifOrientationTests {
    /// A JPEG of 40 × 30 pixels with an orientation.
    private static func photo(_ orientation: UInt8, isLittleEndian: Bool = true, type: UInt8 = 3) -> [UInt8] {
        let exif = OrientedPictures.exif(orientation, isLittleEndian: isLittleEndian, type: type)
        return OrientedPictures.jpeg(TestPictures.jpeg, exif: exif)
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

    @Test(arguments: Array(UInt8(1)...8), [true, false])
    func aPhotoIsSeenAsItIsShown(orientation: UInt8, isLittleEndian: Bool) throws {
        let stored = try rows(TestPictures.jpeg)
        let photo = Self.photo(orientation, isLittleEndian: isLittleEndian)
        let header = try ImageHeader(photo)
        #expect((header.width, header.height) == (orientation > 4 ? (30, 40) : (40, 30)))
        #expect(try rows(photo) == OrientedPictures.shown(stored, orientation))
        let half = try rows(TestPictures.jpeg, shrunkTo: true)
        #expect(try rows(photo, shrunkTo: true) == OrientedPictures.shown(half, orientation))
    }

    @Test(arguments: Array(UInt8(1)...8), [true, false])
    func aPNGIsSeenAsItIsShown(orientation: UInt8, isBehind: Bool) throws {
        for stored in [TestPictures.png, TestPictures.palettePNG, TestPictures.greyPNG, TestPictures.alphaPNG] {
            let exif = OrientedPictures.exif(orientation, isLittleEndian: isBehind)
            let picture = OrientedPictures.png(stored, exif: exif, isBehind: isBehind)
            #expect(try rows(picture) == OrientedPictures.shown(rows(stored), orientation))
        }
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
