import Foundation
import HearthBase
import HearthInference
import HearthTestSupport
import Testing

/// Pictures are checked before they are unpacked, and most hostile files are refused in that check.
struct ImageHeaderTests {
    /// The code of the refusal; `nil` for an accepted file.
    private func refusal(_ bytes: [UInt8], _ limits: ImageLimits = ImageLimits()) -> String? {
        do {
            _ = try ImageHeader(bytes, limits: limits)
            return nil
        } catch {
            return (error as? LLMError)?.code.rawValue ?? "not typed: \(error)"
        }
    }

    @Test(arguments: TestPictures.all.map(\.name)) func everyKindTellsItsSize(_ name: String) throws {
        let bytes = try #require(TestPictures.all.first { $0.name == name }?.bytes)
        let header = try ImageHeader(bytes)
        #expect((header.width, header.height) == (name == "bmp" ? (12, 10) : (40, 30)))
        #expect(name.lowercased().hasSuffix(header.format.rawValue.lowercased()))
    }

    @Test(arguments: TestPictures.all.map(\.name)) func aPictureCutOffAnywhereIsRefused(_ name: String) throws {
        let bytes = try #require(TestPictures.all.first { $0.name == name }?.bytes)
        for count in 0..<bytes.count {
            // Bytes after the pixels of a BMP are not read.
            if name.hasSuffix("BMP") || name == "bmp", count > bytes.count - 4 { continue }
            #expect(refusal(Array(bytes[..<count])) == "cannot-read-picture", "\(count) of \(bytes.count) bytes")
        }
    }

    @Test(arguments: TestPictures.all.map(\.name)) func anyByteMayBeAnotherWithoutACrash(_ name: String) throws {
        let bytes = try #require(TestPictures.all.first { $0.name == name }?.bytes)
        for place in bytes.indices {
            for value: UInt8 in [0, 1, 0x7F, 0x80, 0xFF] {
                var changed = bytes
                changed[place] = value
                let code = refusal(changed)
                #expect(code == nil || code == "cannot-read-picture" || code == "picture-too-large")
            }
        }
    }

    @Test func otherFilesAreRefused() {
        for bytes: [UInt8] in [
            [], [0xFF], Array("GIF89a and so on".utf8), Array("RIFF1234WEBP".utf8), Array("<svg/>".utf8),
            [UInt8](repeating: 0, count: 1000),
        ] {
            #expect(refusal(bytes) == "cannot-read-picture")
        }
    }

    @Test func picturesOfNoOrOfAbsurdSizeAreRefused() {
        #expect(refusal(TestPictures.png(width: 0, height: 10, unpacked: [])) == "cannot-read-picture")
        #expect(refusal(TestPictures.png(width: 10, height: 0, unpacked: [])) == "cannot-read-picture")
        #expect(refusal(TestPictures.png(width: 1 << 30, height: 1 << 30, unpacked: [])) == "picture-too-large")
        #expect(refusal(TestPictures.png(width: 0xFFFF_FFFF, height: 0xFFFF_FFFF, unpacked: [])) == "picture-too-large")
        #expect(refusal(TestPictures.png(width: 8193, height: 8192, unpacked: [])) == "picture-too-large")
        // This number of pixels is allowed, but not with 8 bytes each.
        #expect(
            refusal(TestPictures.png(width: 8192, height: 8192, packed: [], depth: 16, colour: 6))
                == "picture-too-large")
        var jpeg = TestPictures.jpeg
        let frame = jpeg.indices.first { jpeg[$0] == 0xFF && jpeg[$0 + 1] == 0xC0 } ?? 0
        jpeg.replaceSubrange(frame + 5..<frame + 9, with: [0xFF, 0xFF, 0xFF, 0xFF])
        #expect(refusal(jpeg) == "picture-too-large")
        jpeg.replaceSubrange(frame + 5..<frame + 9, with: [0, 0, 0, 8])
        #expect(refusal(jpeg) == "cannot-read-picture")
        var bmp = TestPictures.bmp
        bmp.replaceSubrange(18..<26, with: [0, 0, 0, 0x80, 0, 0, 0, 0x80])
        #expect(refusal(bmp) == "cannot-read-picture")
        bmp.replaceSubrange(18..<26, with: [0xFF, 0xFF, 0xFF, 0x7F, 0, 0, 0, 0x80])
        #expect(refusal(bmp) == "picture-too-large")
    }

    @Test func filesBeyondTheLimitAreNotRead() {
        #expect(refusal([UInt8](repeating: 0xFF, count: (32 << 20) + 1)) == "picture-too-large")
    }

    @Test func aPNGThatUnpacksToMoreThanItsSizeIsRefusedWithoutUnpackingIt() {
        let pixels = [UInt8](repeating: 7, count: 10 * (1 + 10 * 3))
        #expect(refusal(TestPictures.png(width: 10, height: 10, unpacked: pixels)) == nil)
        #expect(refusal(TestPictures.png(width: 10, height: 10, unpacked: pixels + [0])) == "cannot-read-picture")
        #expect(refusal(TestPictures.png(width: 10, height: 10, unpacked: pixels.dropLast())) == "cannot-read-picture")
        // A fixed block: one zero, then for every 13 bits 258 more; a hundred kilobytes for sixteen million.
        var bits: [Bool] = [true, true, false] + code(0x30, 8)
        for _ in 0..<65_000 { bits += code(0xC5, 8) + code(0, 5) }
        var packed: [UInt8] = [0x78, 0x01]
        for start in stride(from: 0, to: bits.count, by: 8) {
            var byte: UInt8 = 0
            for place in start..<min(start + 8, bits.count) where bits[place] { byte |= 1 << UInt8(place - start) }
            packed.append(byte)
        }
        #expect(refusal(TestPictures.png(width: 10, height: 10, packed: packed)) == "cannot-read-picture")
    }

    /// A code's bits, the highest first.
    private func code(_ value: Int, _ count: Int) -> [Bool] { (0..<count).reversed().map { value >> $0 & 1 == 1 } }

    @Test func aJPEGThatGoesOverItsPixelsTooOftenIsRefused() throws {
        var limits = ImageLimits()
        let header = try ImageHeader(TestPictures.progressiveJPEG, limits: limits)
        #expect(header.format == .jpeg)
        limits.maximumScans = 2
        #expect(refusal(TestPictures.progressiveJPEG, limits) == "picture-too-large")
    }

    @Test func aLongSideIsScaledDownAndShortSidesStay() {
        let limits = ImageLimits()
        #expect(limits.shown(width: 2048, height: 10) == (2048, 10))
        #expect(limits.shown(width: 4096, height: 3072) == (2048, 1536))
        #expect(limits.shown(width: 1000, height: 60_000) == (34, 2048))
        #expect(limits.shown(width: 1, height: 60_000) == (1, 2048))
    }

    @Test func randomBytesBehindASignatureNeverCrash() {
        var random = SeededGenerator(seed: 5)
        for round in 0..<3000 {
            let start: [UInt8] =
                switch round % 3 {
                case 0: Array(TestPictures.jpeg.prefix(Int.random(in: 3..<300, using: &random)))
                case 1: Array(TestPictures.png.prefix(Int.random(in: 8..<60, using: &random)))
                default: Array(TestPictures.bmp.prefix(Int.random(in: 2..<40, using: &random)))
                }
            let rest = (0..<Int.random(in: 0..<400, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            let code = refusal(start + rest)
            #expect(code == nil || code == "cannot-read-picture" || code == "picture-too-large")
        }
    }
}
