import HearthBase
import HearthInference

/// The sizes of a TIFF file's pages (TIFF 6.0), read before its decoder sees it.
struct TIFFHeader: Sendable, Hashable {
    /// The size of a page in pixels.
    struct Page: Sendable, Hashable {
        var width: Int
        var height: Int
    }

    let pages: [Page]

    static func isTIFF(_ bytes: [UInt8]) -> Bool {
        bytes.starts(with: [0x49, 0x49, 42, 0]) || bytes.starts(with: [0x4D, 0x4D, 0, 42])
    }

    /// Reads the directories of all pages.
    /// - Throws: `cannot-read-picture` for a file that is cut off, without pages, or whose directories form a circle;
    ///   `picture-too-large`.
    init(_ bytes: [UInt8], limits: PictureLimits) throws {
        guard bytes.count <= limits.maximumBytes else {
            throw ImageLimits.tooLarge(
                "its file has \(bytes.count) bytes", limit: "at most \(limits.maximumBytes) bytes")
        }
        let reader = Reader(bytes: bytes, isLittleEndian: bytes.first == 0x49)
        var place = try reader.number(4, 4)
        var seen: Set<Int> = []
        var pages: [Page] = []
        while place != 0 {
            guard seen.insert(place).inserted else { throw ImageHeader.unreadable("its pages form a circle") }
            guard pages.count < limits.maximumPages else {
                throw ImageLimits.tooLarge(
                    "it has more than \(limits.maximumPages) pages", limit: "\(limits.maximumPages) pages")
            }
            let count = try reader.number(place, 2)
            pages.append(try Self.page(reader, place + 2, count, limits))
            place = try reader.number(place + 2 + 12 * count, 4)
        }
        guard !pages.isEmpty else { throw ImageHeader.unreadable("it has no pages") }
        self.pages = pages
    }

    private static func page(_ reader: Reader, _ place: Int, _ count: Int, _ limits: PictureLimits) throws -> Page {
        var values: [Int: Int] = [:]
        for entry in 0..<count {
            let start = place + 12 * entry
            let tag = try reader.number(start, 2)
            guard [width, height, samples, tileWidth, tileHeight].contains(tag) else { continue }
            // Types 3 and 4 are numbers of 16 and 32 bits, which stand in the entry.
            let type = try reader.number(start + 2, 2)
            guard type == 3 || type == 4, try reader.number(start + 4, 4) == 1 else {
                throw ImageHeader.unreadable("its directory is wrong")
            }
            values[tag] = try reader.number(start + 8, type == 3 ? 2 : 4)
        }
        let (wide, high) = (values[width] ?? 0, values[height] ?? 0)
        guard wide > 0, high > 0 else { throw ImageHeader.unreadable("a page is \(wide) × \(high) pixels large") }
        try check(wide, high, limits)
        // A tile is decoded whole, whatever the page's size.
        if let across = values[tileWidth], let down = values[tileHeight] { try check(across, down, limits) }
        guard (1...8).contains(values[samples] ?? 1) else {
            throw ImageHeader.unreadable("it has \(values[samples] ?? 0) colours")
        }
        return Page(width: wide, height: high)
    }

    private static func check(_ width: Int, _ height: Int, _ limits: PictureLimits) throws {
        let (pixels, overflow) = width.multipliedReportingOverflow(by: height)
        guard !overflow, pixels <= limits.maximumPixels else {
            throw ImageLimits.tooLarge(
                "a page is \(width) × \(height) pixels large", limit: "at most \(limits.maximumPixels) pixels")
        }
    }

    private static let (width, height, samples, tileWidth, tileHeight) = (256, 257, 277, 322, 323)

    private struct Reader {
        let bytes: [UInt8]
        let isLittleEndian: Bool

        func number(_ place: Int, _ count: Int) throws -> Int {
            guard place >= 0, place <= bytes.count - count else {
                throw ImageHeader.unreadable("it ends in the middle")
            }
            return isLittleEndian ? bytes.littleEndian(place, count) : bytes.bigEndian(place, count)
        }
    }
}
