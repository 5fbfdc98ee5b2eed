import Foundation
import HearthBase
import HearthInference
import HearthTestSupport
import Testing

@testable import HearthClassification

@Suite(.enabled(if: ClassifierSupport.isBuilt), .timeLimit(.minutes(5))) struct PictureTests {
    @Test(arguments: TestPictures.all.map(\.name)) func everyKindIsDecoded(_ name: String) throws {
        let bytes = try #require(TestPictures.all.first { $0.name == name }?.bytes)
        let picture = try Picture(file: bytes)
        #expect((picture.width, picture.height) == (name == "bmp" ? (12, 10) : (40, 30)))
        let grey = try Picture(file: bytes, isGrey: true)
        #expect(grey.isGrey)
        #expect(grey.pixels.count == picture.width * picture.height)
        #expect(Set(grey.pixels).count > 1)
    }

    @Test func theCornerOfTheFieldIsRed() throws {
        for bytes in [TestPictures.png, TestPictures.jpeg] {
            let pixels = try Picture(file: bytes).pixels
            #expect(pixels[0] > 180)
            #expect(pixels[1] < 70)
            #expect(pixels[2] < 70)
        }
    }

    @Test func transparentPixelsAreWhite() throws {
        // Red, blue and green, less and less opaque.
        let colours = PNGBuilder.bytes(
            width: 3, height: 1, depth: 8, colour: 6, lines: [[200, 0, 0, 255, 0, 0, 200, 127, 0, 200, 0, 0]])
        #expect(try Picture(file: colours).pixels == [200, 0, 0, 128, 128, 228, 255, 255, 255])
        let grey = PNGBuilder.bytes(width: 2, height: 1, depth: 8, colour: 4, lines: [[0, 255, 0, 0]])
        #expect(try Picture(file: grey, isGrey: true).pixels == [0, 255])
    }

    @Test func sixteenBitsBecomeEight() throws {
        let grey = PNGBuilder.bytes(
            width: 3, height: 1, depth: 16, colour: 0, lines: [[0, 0, 0x80, 0x80, 0xFF, 0xFF]])
        #expect(try Picture(file: grey).pixels == [0, 128, 255])
    }

    @Test func onePixelIsAPicture() throws {
        let bytes = PNGBuilder.bytes(width: 1, height: 1, depth: 8, colour: 0, lines: [[7]])
        #expect(try Picture(file: bytes).pixels == [7])
    }

    @Test func aPictureSurvivesItsPNG() throws {
        let pixels = (0..<30).map { UInt8($0 * 8) }
        for picture in [
            try Picture(width: 6, height: 5, pixels: pixels), try Picture(width: 5, height: 2, pixels: pixels),
        ] {
            let again = try Picture(file: picture.png())
            #expect(again.pixels == pixels)
            #expect(again.digest == picture.digest)
            #expect(picture.pixels == pixels)
        }
        #expect(
            try Picture(width: 6, height: 5, pixels: pixels).digest
                != Picture(width: 5, height: 6, pixels: pixels).digest)
    }

    @Test func outsideOfAPictureIsWhite() throws {
        let picture = try Picture(width: 2, height: 2, pixels: [1, 2, 3, 4])
        #expect(
            try picture.part(x: -1, y: -1, width: 4, height: 3).pixels == [
                255, 255, 255, 255, 255, 1, 2, 255, 255, 3, 4, 255,
            ])
        #expect(try picture.part(x: 9, y: 9, width: 1, height: 1).pixels == [255])
        #expect(refusal(now: { _ = try picture.part(x: 0, y: 0, width: 0, height: 1) }) == "classification-failed")
    }

    @Test(arguments: 1...8) func exifsOrientationIsApplied(_ orientation: Int) throws {
        var bytes: [UInt8] = []
        for row: UInt8 in 0..<8 { for column: UInt8 in 0..<16 { bytes.append(column * 8 + row * 16) } }
        let stored = try Picture(width: 16, height: 8, pixels: bytes)
        let facts = PictureFacts(
            pages: [TIFFHeader.Page(width: 16, height: 8)], isTIFF: false, orientation: orientation)
        let seen = try Picture(file: stored.png(), facts, page: 0, isGrey: true, limits: PictureLimits())
        #expect((seen.width, seen.height) == (orientation > 4 ? (8, 16) : (16, 8)))
        // The place of the stored upper left corner by Exif 2.3.
        let corners = [1: 0, 2: 15, 3: 127, 4: 112, 5: 0, 6: 7, 7: 127, 8: 120]
        #expect(seen.pixels[corners[orientation] ?? 0] == 0)
    }

    @Test func pagesOfATIFFAreDecodedAlone() throws {
        let builder = TIFFBuilder(
            pages: (1...3).map { number in
                TIFFBuilder.Page(
                    width: 4 + number, height: 3,
                    pixels: [UInt8](repeating: UInt8(number * 50), count: (4 + number) * 3))
            })
        let document = try PictureDocument(builder.bytes)
        #expect(document.pageCount == 3)
        for number in 0..<3 {
            let page = try document.page(number, isGrey: true)
            #expect((page.width, page.height) == (5 + number, 3))
            #expect(Set(page.pixels) == [UInt8((number + 1) * 50)])
        }
        #expect(refusal(now: { _ = try document.page(3) }) == "cannot-read-picture")
    }

    @Test func aBrokenPDFIsRefused() {
        // Also where poppler is not installed.
        for text in ["%PDF-", "%PDF-1.7\n1 0 obj\n<<>>\nendobj\ntrailer\n<<>>\n%%EOF"] {
            #expect(refusal(now: { _ = try PictureDocument(Array(text.utf8)) }) == "document-unusable")
        }
    }

    // MARK: Hostile files

    /// Grey and coloured files without transparency are decoded by libpng alone; nothing of a damaged one is used.
    @Test(arguments: [UInt8(0), 2]) func noCutOrChangedPNGIsAPicture(_ colour: UInt8) throws {
        let line = (0..<(colour == 0 ? 7 : 21)).map { UInt8($0 * 11) }
        let bytes = PNGBuilder.bytes(width: 7, height: 2, depth: 8, colour: colour, lines: [line, line.reversed()])
        #expect(try Picture(file: bytes).pixels == line + line.reversed())
        for count in 0..<bytes.count - 4 {
            let code = refusal(now: { _ = try Picture(file: Array(bytes[..<count])) })
            #expect(code == "cannot-read-picture", "\(count)")
        }
        for place in 16..<bytes.count - 12 {
            var changed = bytes
            changed[place] ^= 0x41
            // A header with another size or depth is refused before, a name of a chunk or a checksum while it is decoded.
            let code = refusal(now: { _ = try Picture(file: changed) })
            #expect(code == "cannot-read-picture" || code == "picture-too-large", "\(place)")
        }
    }

    @Test func filesOfOtherKindsAreRefused() {
        let files: [[UInt8]] = [
            [], [0], Array("GIF89a".utf8), Array("RIFF0000WEBP".utf8), Array("0000ftypavif".utf8), Array("<svg/>".utf8),
            [0x49, 0x49, 42, 0], [0x49, 0x49, 42, 0, 0, 0, 0, 0], [0xFF, 0xD8, 0xFF], [0x42, 0x4D],
        ]
        for bytes in files { #expect(refusal(now: { _ = try Picture(file: bytes) }) == "cannot-read-picture") }
    }

    @Test func anAnimationIsRefused() {
        // A chunk of eight bytes before the pixels.
        let chunk: [UInt8] = [0, 0, 0, 8] + Array("acTL".utf8) + [0, 0, 0, 2, 0, 0, 0, 0] + [0, 0, 0, 0]
        let bytes = TestPictures.png.prefix(33) + chunk + TestPictures.png.dropFirst(33)
        #expect(refusal(now: { _ = try Picture(file: Array(bytes)) }) == "cannot-read-picture")
    }

    @Test func bombsAreRefusedBeforeTheyAreDecoded() {
        let huge = TestPictures.png(width: 1 << 20, height: 1 << 20, packed: [0x78, 0x01, 3, 0, 0, 0, 0, 1])
        #expect(refusal(now: { _ = try Picture(file: huge) }) == "picture-too-large")
        var tiff = TIFFBuilder(pages: [TIFFBuilder.Page(width: 4, height: 40_000, pixels: [0])])
        tiff.declaredWidth = 40_000
        #expect(refusal(now: { _ = try Picture(file: tiff.bytes) }) == "picture-too-large")
        var limits = PictureLimits()
        limits.maximumBytes = 100
        #expect(refusal(now: { _ = try Picture(file: TestPictures.png, limits: limits) }) == "picture-too-large")
    }

    @Test func pagesInACircleAreRefused() throws {
        var tiff = TIFFBuilder(pages: [TIFFBuilder.Page(width: 2, height: 2, pixels: [0, 0, 0, 0])])
        // The only directory begins after the header and four pixels.
        tiff.end = 12
        #expect(refusal(now: { _ = try PictureDocument(tiff.bytes) }) == "cannot-read-picture")
    }

    @Test func changedBytesNeverCrash() throws {
        var random = SeededGenerator(seed: 9)
        let tiff = TIFFBuilder(pages: [TIFFBuilder.Page(width: 9, height: 7, pixels: [UInt8](repeating: 7, count: 63))])
            .bytes
        for bytes in [TestPictures.jpeg, TestPictures.png, TestPictures.bmp, tiff] {
            for _ in 0..<60 {
                var changed = bytes
                for _ in 0..<3 {
                    changed[Int.random(in: 0..<changed.count, using: &random)] = UInt8.random(
                        in: 0...255, using: &random)
                }
                let code = refusal(now: { _ = try Picture(file: changed) })
                #expect(code == nil || code == "cannot-read-picture" || code == "picture-too-large")
            }
        }
    }

    @Test func pixelsMustBeAsManyAsTheSizeSays() {
        #expect(refusal(now: { _ = try Picture(width: 2, height: 2, pixels: [1, 2, 3]) }) == "cannot-read-picture")
        #expect(refusal(now: { _ = try Picture(width: 0, height: 2, pixels: []) }) == "cannot-read-picture")
        #expect(refusal(now: { _ = try Picture(width: .max, height: .max, pixels: []) }) == "cannot-read-picture")
        #expect(refusal(now: { _ = try Picture(width: -1, height: -1, pixels: [1]) }) == "cannot-read-picture")
    }
}
