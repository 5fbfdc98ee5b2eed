import CVision
import HearthBase
import HearthInference

/// The limits of pictures for classifiers.
///
/// The memory of a page: at most three bytes for each pixel while it is decoded in colour, or four with transparency, beside
/// what becomes of them, and about five while it is cleaned; 100 million pixels take 0.5 to 0.9 gigabytes.
package struct PictureLimits: Sendable, Hashable {
    /// The most bytes of a file: 256 MiB.
    package var maximumBytes = 256 << 20
    /// The most pixels of a picture or page: 100 million.
    package var maximumPixels = 100_000_000
    /// The most pages of a document.
    package var maximumPages = 1000

    /// The package's own limits.
    package init() {}

    /// The limits of formats that conversations read too.
    var images: ImageLimits {
        var limits = ImageLimits()
        limits.maximumBytes = maximumBytes
        limits.maximumPixels = maximumPixels
        // Four colours of 16 bits.
        limits.maximumUnpackedBytes = 8 * maximumPixels
        return limits
    }
}

/// The facts of a picture's file, read before anything is decoded.
struct PictureFacts: Sendable, Hashable {
    /// The size in the file of each page, before the orientation is applied.
    let pages: [TIFFHeader.Page]
    let isTIFF: Bool
    /// Exif's orientation, 1...8; 1 for TIFF, whose decoder applies it.
    let orientation: Int
}

extension PictureFacts {
    /// Reads the header.
    /// - Throws: `cannot-read-picture`, also for an animated picture; `picture-too-large`.
    init(_ bytes: [UInt8], limits: PictureLimits) throws {
        if TIFFHeader.isTIFF(bytes) {
            (pages, isTIFF, orientation) = (try TIFFHeader(bytes, limits: limits).pages, true, 1)
            return
        }
        if WebPHeader.isWebP(bytes) {
            let header = try WebPHeader(bytes, limits: limits)
            (pages, isTIFF, orientation) = ([header.size], false, header.orientation)
            return
        }
        if let name = Self.otherFormats.first(where: { $0.matches(bytes) })?.name {
            throw ImageHeader.unreadable("\(name) files are not supported", remedy: Self.remedy)
        }
        guard
            bytes.starts(with: [0xFF, 0xD8, 0xFF]) || bytes.starts(with: [0x89, 0x50])
                || bytes.starts(with: [0x42, 0x4D])
        else {
            throw ImageHeader.unreadable(
                bytes.isEmpty ? "it is empty" : "it is no JPEG, PNG, WebP, BMP or TIFF file", remedy: Self.remedy)
        }
        let header = try ImageHeader(bytes, limits: limits.images)
        if header.format == .png, Self.isAnimated(bytes) {
            throw Self.animated
        }
        let (width, height) = header.storedSize
        pages = [TIFFHeader.Page(width: width, height: height)]
        isTIFF = false
        orientation = header.orientation
    }

    private static let remedy = "Give a JPEG, PNG, WebP, BMP or TIFF file; convert others first."

    /// The error of a file of several pictures in turn.
    static var animated: LLMError {
        ImageHeader.unreadable("it is animated", remedy: "Save one of its pictures as a file of its own.")
    }

    private struct OtherFormat {
        let name: String
        let matches: @Sendable ([UInt8]) -> Bool
    }

    private static let otherFormats = [
        OtherFormat(name: "GIF") { $0.starts(with: Array("GIF8".utf8)) },
        OtherFormat(name: "HEIC, HEIF and AVIF") { $0.dropFirst(4).starts(with: Array("ftyp".utf8)) },
    ]

    /// Whether a PNG file, whose chunks were checked, has the chunk of animations before its pixels.
    private static func isAnimated(_ bytes: [UInt8]) -> Bool {
        var place = 8
        while place + 8 <= bytes.count {
            let length = bytes.bigEndian(place, 4)
            let kind = bytes[place + 4..<place + 8]
            if kind.elementsEqual("acTL".utf8) { return true }
            if kind.elementsEqual("IDAT".utf8) { return false }
            place += 12 + length
        }
        return false
    }
}

extension Picture {
    /// Reads a picture, or one page of a TIFF file, as people see it: Exif's orientation is applied, transparent pixels
    /// are laid over white, 16 bits become 8, CMYK becomes RGB. Blocks.
    /// - Parameters:
    ///   - page: the number of a page, from 0.
    ///   - isGrey: whether colours become grey.
    /// - Throws: `cannot-read-picture`, `picture-too-large`, `vision-missing`.
    public convenience init(file bytes: [UInt8], page: Int = 0, isGrey: Bool = false) throws {
        try self.init(file: bytes, page: page, isGrey: isGrey, limits: PictureLimits())
    }

    /// The same with other limits.
    package convenience init(file bytes: [UInt8], page: Int = 0, isGrey: Bool = false, limits: PictureLimits) throws {
        try self.init(file: bytes, PictureFacts(bytes, limits: limits), page: page, isGrey: isGrey, limits: limits)
    }

    /// The same with a header that was read before.
    convenience init(
        file bytes: [UInt8], _ facts: PictureFacts, page: Int, isGrey: Bool, limits: PictureLimits
    ) throws {
        guard facts.pages.indices.contains(page) else {
            throw ImageHeader.unreadable("it has no page \(page + 1)", remedy: "It has \(facts.pages.count) pages.")
        }
        let library = try PictureLibrary.shared()
        do {
            let raw = try VisionFailure.check { error in
                library.functions.decode(
                    bytes, bytes.count, facts.isTIFF, page, Int32(facts.orientation), isGrey,
                    UInt64(limits.maximumPixels), error)
            }
            self.init(raw, library)
        } catch {
            // The codecs are a library of their own, loaded when a file needs them.
            if error.kind == .missing { throw error.missing("the library of pictures (OpenCV)") }
            throw ImageHeader.unreadable(error.text.isEmpty ? "it is damaged" : error.text)
        }
    }
}
