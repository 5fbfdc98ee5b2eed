import HearthBase
import HearthInference

/// The facts of a WebP file (RFC 9649), read before its decoder sees it.
struct WebPHeader: Sendable, Hashable {
    /// The size in the file.
    let size: TIFFHeader.Page
    /// Exif's orientation, 1...8.
    let orientation: Int

    static func isWebP(_ bytes: [UInt8]) -> Bool {
        bytes.starts(with: "RIFF".utf8) && bytes.dropFirst(8).starts(with: "WEBP".utf8)
    }

    /// Reads the chunks of a file.
    /// - Throws: `cannot-read-picture` for a file that is cut off, animated or contradicts itself; `picture-too-large`.
    init(_ bytes: [UInt8], limits: PictureLimits) throws {
        guard bytes.count <= limits.maximumBytes else {
            throw ImageLimits.tooLarge(
                "its file has \(bytes.count) bytes", limit: "at most \(limits.maximumBytes) bytes")
        }
        let cutOff = ImageHeader.unreadable("it ends in the middle")
        guard bytes.count >= 12 else { throw cutOff }
        let end = 8 + bytes.littleEndian(4, 4)
        guard end <= bytes.count else { throw cutOff }
        var place = 12
        var canvas: TIFFHeader.Page?
        var frame: TIFFHeader.Page?
        var orientation: Int?
        while place + 8 <= end {
            let kind = String(decoding: bytes[place..<place + 4], as: UTF8.self)
            let length = bytes.littleEndian(place + 4, 4)
            let content = place + 8..<place + 8 + length
            guard content.upperBound <= end else { throw cutOff }
            switch kind {
            case "VP8X": canvas = try Self.canvas(bytes, content)
            case "ANIM", "ANMF": throw PictureFacts.animated
            case "VP8 ", "VP8L":
                guard frame == nil else { throw ImageHeader.unreadable("it has two frames") }
                frame = try kind == "VP8L" ? Self.lossless(bytes, content) : Self.lossy(bytes, content)
            case "EXIF": orientation = orientation ?? ExifOrientation.read(bytes, in: content, isMarked: false)
            default: break
            }
            // Chunks begin at even places.
            place = content.upperBound + length % 2
        }
        guard let frame else { throw cutOff }
        guard canvas == nil || canvas == frame else { throw ImageHeader.unreadable("it has two sizes") }
        let (pixels, overflow) = frame.width.multipliedReportingOverflow(by: frame.height)
        guard frame.width > 0, frame.height > 0 else {
            throw ImageHeader.unreadable("it is \(frame.width) × \(frame.height) pixels large")
        }
        guard !overflow, pixels <= limits.maximumPixels else {
            throw ImageLimits.tooLarge(
                "it is \(frame.width) × \(frame.height) pixels large", limit: "at most \(limits.maximumPixels) pixels")
        }
        size = frame
        self.orientation = orientation ?? 1
    }

    /// The size in the extended header (section 2.7).
    private static func canvas(_ bytes: [UInt8], _ content: Range<Int>) throws -> TIFFHeader.Page {
        guard content.count >= 10 else { throw damaged }
        guard bytes[content.lowerBound] & 2 == 0 else { throw PictureFacts.animated }
        return TIFFHeader.Page(
            width: bytes.littleEndian(content.lowerBound + 4, 3) + 1,
            height: bytes.littleEndian(content.lowerBound + 7, 3) + 1)
    }

    /// The size in the header of a lossless frame: 14 bits each, less one (section 3.4).
    private static func lossless(_ bytes: [UInt8], _ content: Range<Int>) throws -> TIFFHeader.Page {
        guard content.count >= 5, bytes[content.lowerBound] == 0x2F else { throw damaged }
        let bits = bytes.littleEndian(content.lowerBound + 1, 4)
        return TIFFHeader.Page(width: bits & 0x3FFF + 1, height: bits >> 14 & 0x3FFF + 1)
    }

    /// The size in the header of a key frame of VP8: 14 bits each, after three bytes and a mark (RFC 6386, section 9.1).
    private static func lossy(_ bytes: [UInt8], _ content: Range<Int>) throws -> TIFFHeader.Page {
        guard content.count >= 10, bytes[content.lowerBound] & 1 == 0,
            bytes[(content.lowerBound + 3)...].starts(with: [0x9D, 0x01, 0x2A])
        else { throw damaged }
        return TIFFHeader.Page(
            width: bytes.littleEndian(content.lowerBound + 6, 2) & 0x3FFF,
            height: bytes.littleEndian(content.lowerBound + 8, 2) & 0x3FFF)
    }

    private static var damaged: LLMError { ImageHeader.unreadable("the header of its frame is wrong") }
}
