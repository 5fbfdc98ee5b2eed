import Foundation
import HearthBase
import HearthInference
import HearthTestSupport
import Testing

@testable import HearthClassification

@Suite(.enabled(if: ClassifierSupport.isBuilt), .timeLimit(.minutes(5))) struct OrientationTests {
    /// The kinds of files that tell an orientation.
    enum Kind: String, CaseIterable {
        case jpeg, tiff, pngBefore, pngBehind, webp
    }

    /// No two of its rows and columns are alike, and it is no square.
    private static let colours: [[UInt8]] = [
        [255, 0, 0], [0, 255, 0], [0, 0, 255], [0, 0, 0], [255, 255, 0], [255, 0, 255], [0, 255, 255], [255, 255, 255],
        [0, 255, 0], [255, 0, 0], [255, 255, 255], [255, 0, 0], [0, 0, 0], [0, 0, 255], [255, 255, 0],
    ]

    private static func file(_ kind: Kind, _ orientation: UInt8, isLittleEndian: Bool) -> [UInt8] {
        let exif = OrientedPictures.exif(orientation, isLittleEndian: isLittleEndian)
        switch kind {
        case .jpeg: return OrientedPictures.jpeg(TestPictures.jpeg, exif: exif)
        case .tiff:
            let pixels = (0..<15).map { UInt8($0 * 17) }
            var tiff = TIFFBuilder(pages: [TIFFBuilder.Page(width: 5, height: 3, pixels: pixels)])
            tiff.orientation = Int(orientation)
            return tiff.bytes
        case .pngBefore, .pngBehind:
            let lines = (0..<3).map { row in Array(colours[(row * 5)..<(row * 5 + 5)].joined()) }
            let png = PNGBuilder.bytes(width: 5, height: 3, depth: 8, colour: 2, lines: lines)
            return OrientedPictures.png(png, exif: exif, isBehind: kind == .pngBehind)
        case .webp: return WebPBuilder(width: 5, height: 3, pixels: colours, exif: exif).bytes
        }
    }

    private func rows(_ picture: Picture) -> [[[UInt8]]] {
        let (pixels, count) = (picture.pixels, picture.isGrey ? 1 : 3)
        return (0..<picture.height).map { row in
            (0..<picture.width).map { column in
                let place = (row * picture.width + column) * count
                return Array(pixels[place..<place + count])
            }
        }
    }

    @Test(arguments: Kind.allCases, Array(UInt8(1)...8))
    func aPictureIsSeenAsPeopleSeeIt(_ kind: Kind, _ orientation: UInt8) throws {
        for isLittleEndian in [true, false] {
            let stored = rows(try Picture(file: Self.file(kind, 1, isLittleEndian: isLittleEndian)))
            let seen = rows(try Picture(file: Self.file(kind, orientation, isLittleEndian: isLittleEndian)))
            #expect(seen == OrientedPictures.shown(stored, orientation))
        }
    }

    /// Decoders of TIFF turn pictures of some depths on another way than others.
    @Test(arguments: [(depth: 8, colours: 1), (8, 3), (16, 1), (16, 3)], Array(UInt8(1)...8))
    func everyDepthOfATIFFIsTurned(_ form: (depth: Int, colours: Int), _ orientation: UInt8) throws {
        func picture(_ orientation: UInt8) throws -> Picture {
            let count = 15 * form.colours * form.depth / 8
            let pixels = (0..<count).map { UInt8(truncatingIfNeeded: $0 * 37) }
            var tiff = TIFFBuilder(pages: [TIFFBuilder.Page(width: 5, height: 3, pixels: pixels)])
            (tiff.orientation, tiff.depth, tiff.colours) = (Int(orientation), form.depth, form.colours)
            return try Picture(file: tiff.bytes)
        }
        #expect(rows(try picture(orientation)) == OrientedPictures.shown(rows(try picture(1)), orientation))
    }

    @Test func losslessWebPIsDecodedExactly() throws {
        for exif in [nil, OrientedPictures.exif(1)] {
            let picture = try Picture(file: WebPBuilder(width: 5, height: 3, pixels: Self.colours, exif: exif).bytes)
            #expect((picture.width, picture.height) == (5, 3))
            #expect(picture.pixels == Array(Self.colours.joined()))
        }
    }

    /// A red field of 40 × 30 pixels with a blue square, as libwebp 1.6 writes it with quality 60.
    private static let lossy = """
        UklGRnQAAABXRUJQVlA4IGgAAABwBQCdASooAB4APrVSokwnJKMiKqgA4BaJQBm90AkwH8AwgD9APf/uwAB+fwEILKi5dkEAAP6ckgONEcXaff8O
        fUTyKlE+QP//M0eXoZSfuKRK5Qg3XxbTKq2MemHHhIxAdoykAAAAAA==
        """

    @Test func lossyWebPIsDecoded() throws {
        let bytes = [UInt8](try #require(Data(base64Encoded: Self.lossy, options: .ignoreUnknownCharacters)))
        let picture = try Picture(file: bytes)
        #expect((picture.width, picture.height) == (40, 30))
        let pixels = picture.pixels
        #expect(pixels[0] > 180 && pixels[1] < 80 && pixels[2] < 80)
        let square = (10 * 40 + 12) * 3
        #expect(pixels[square] < 80 && pixels[square + 2] > 160)
        // The frame's size stands in its own header, 26 bytes from the beginning.
        var wide = bytes
        wide[27] = 0x3F
        #expect(refusal(now: { _ = try Picture(file: wide) }) == "cannot-read-picture")
        var damaged = bytes
        damaged[23] = 0
        #expect(refusal(now: { _ = try Picture(file: damaged) }) == "cannot-read-picture")
    }

    /// Some programs write the identifier, which belongs to JPEG, in other files too.
    @Test func theIdentifierIsReadOver() throws {
        let exif = OrientedPictures.identifier + OrientedPictures.exif(6)
        let webp = try Picture(file: WebPBuilder(width: 5, height: 3, pixels: Self.colours, exif: exif).bytes)
        #expect((webp.width, webp.height) == (3, 5))
        let png = OrientedPictures.png(TestPictures.png, exif: exif, isBehind: true)
        #expect(try ImageHeader(png).orientation == 6)
    }

    // MARK: Hostile files

    @Test func animationsAndContradictionsAreRefused() {
        let good = WebPBuilder(width: 5, height: 3, pixels: Self.colours, exif: OrientedPictures.exif(6))
        var animated = good
        animated.flags = 2
        var other = good
        other.canvasWidth = 6
        for builder in [animated, other] {
            #expect(refusal(now: { _ = try Picture(file: builder.bytes) }) == "cannot-read-picture")
        }
        var limits = PictureLimits()
        limits.maximumPixels = 14
        #expect(refusal(now: { _ = try Picture(file: good.bytes, limits: limits) }) == "picture-too-large")
        let heic = [0, 0, 0, 24] + Array("ftypheic".utf8) + [UInt8](repeating: 0, count: 16)
        #expect(refusal(now: { _ = try Picture(file: heic) }) == "cannot-read-picture")
    }

    @Test func cutAndChangedWebPFilesNeverCrash() {
        let bytes = WebPBuilder(width: 5, height: 3, pixels: Self.colours, exif: OrientedPictures.exif(6)).bytes
        for count in 0..<bytes.count {
            #expect(
                refusal(now: { _ = try Picture(file: Array(bytes[..<count])) }) == "cannot-read-picture", "\(count)")
        }
        var random = SeededGenerator(seed: 11)
        for _ in 0..<300 {
            var changed = bytes
            for _ in 0..<2 {
                changed[Int.random(in: 0..<changed.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            let code = refusal(now: { _ = try Picture(file: changed) })
            #expect(code == nil || code == "cannot-read-picture" || code == "picture-too-large")
        }
    }
}
