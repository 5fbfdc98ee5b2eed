import HearthBase
import Testing

@testable import HearthClassification

@Suite struct PlainPictureTests {
    /// Two rows of three pixels, with and without the library.
    private static func pictures(_ pixels: [UInt8], isGrey: Bool) throws -> [Picture] {
        [
            Picture(plain: pixels, width: 3, height: 2, isGrey: isGrey),
            try Picture(width: 3, height: 2, pixels: pixels),
        ]
    }

    @Test(arguments: [
        (0, 0, 3, 2), (1, 0, 2, 1), (-1, -1, 3, 3), (2, 1, 5, 5), (7, 7, 1, 1), (-9, 0, 2, 2),
        (1 << 24, -1 << 24, 2, 2),
    ])
    func partsAreThoseOfTheLibrary(_ x: Int, _ y: Int, _ width: Int, _ height: Int) throws {
        for (pixels, isGrey) in [((1...6).map(UInt8.init), true), ((1...18).map(UInt8.init), false)] {
            let parts = try Self.pictures(pixels, isGrey: isGrey)
                .map { try $0.part(x: x, y: y, width: width, height: height) }
            #expect(parts[0].pixels == parts[1].pixels)
            #expect(parts[0].digest == parts[1].digest)
        }
    }

    @Test func impossiblePartsAreRefused() {
        let picture = Picture(plain: [0], width: 1, height: 1, isGrey: true)
        for (width, height) in [(0, 1), (1, -1), (1 << 24 + 1, 1), (1 << 20, 1 << 20)] {
            #expect(throws: ClassificationError.self) { try picture.part(x: 0, y: 0, width: width, height: height) }
        }
        for place in [Int.max, .min] {
            #expect(throws: ClassificationError.self) { try picture.part(x: place, y: 0, width: 2, height: 2) }
        }
    }

    @Test func whatNeedsTheLibrarySaysSo() {
        let picture = Picture(plain: [0], width: 1, height: 1, isGrey: true)
        #expect(throws: ClassificationError.self) { try picture.png() }
        #expect(throws: ClassificationError.self) { try picture.cleaned() }
        #expect(throws: ClassificationError.self) { try picture.ink(leastSide: 1) }
    }
}
