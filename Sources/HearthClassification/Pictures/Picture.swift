import CVision
import HearthBase
import HearthInference

/// Pixels of 8 bits in memory: grey, or red, green and blue. Never changed after its creation.
///
/// ```swift
/// let picture = try Picture(file: bytes)
/// let corner = try picture.part(x: 0, y: 0, width: 64, height: 64)
/// ```
public final class Picture: @unchecked Sendable {
    /// The place of the pixels.
    private enum Storage {
        case library(OpaquePointer, PictureLibrary)
        /// Where there is no library of pictures, as on Apple platforms.
        case plain([UInt8])
    }

    // Only read, by any thread, until the last reference is gone.
    private let storage: Storage

    /// The size in pixels.
    public let width: Int
    public let height: Int
    /// Whether a pixel is one byte of grey; otherwise it is three bytes: red, green, blue.
    public let isGrey: Bool

    init(_ raw: OpaquePointer, _ library: PictureLibrary) {
        storage = .library(raw, library)
        var (width, height, colours) = (0, 0, 0)
        library.functions.measure(raw, &width, &height, &colours)
        (self.width, self.height, isGrey) = (width, height, colours == 1)
    }

    /// A picture of the given rows from top to bottom.
    /// - Parameter pixels: `width * height` bytes of grey, or three times as many for red, green and blue.
    /// - Throws: `cannot-read-picture` for another number of bytes.
    public convenience init(width: Int, height: Int, pixels: [UInt8]) throws {
        let (count, overflow) = width.multipliedReportingOverflow(by: height)
        guard width > 0, height > 0, !overflow, count <= Int.max / 3, pixels.count == count || pixels.count == 3 * count
        else {
            throw ImageHeader.unreadable("\(pixels.count) bytes are not \(width) × \(height) pixels")
        }
        let colours = pixels.count / count
        let library: PictureLibrary
        do {
            library = try PictureLibrary.shared()
        } catch {
            self.init(plain: pixels, width: width, height: height, isGrey: colours == 1)
            return
        }
        do {
            let raw = try VisionFailure.check { library.functions.make(pixels, width, height, colours, $0) }
            self.init(raw, library)
        } catch {
            throw ImageHeader.unreadable(error.text)
        }
    }

    /// A picture without the library of pictures: it has pixels and parts, and is classified by an engine that takes pixels.
    init(plain pixels: [UInt8], width: Int, height: Int, isGrey: Bool) {
        storage = .plain(pixels)
        (self.width, self.height, self.isGrey) = (width, height, isGrey)
    }

    deinit { if case .library(let raw, let library) = storage { library.functions.free(raw) } }

    /// The bytes of all rows.
    public var pixels: [UInt8] {
        guard case .library(let raw, let library) = storage else {
            if case .plain(let pixels) = storage { return pixels }
            return []
        }
        let count = width * height * (isGrey ? 1 : 3)
        return [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            guard let base = buffer.baseAddress else { return }
            library.functions.copy(raw, base)
            initialized = count
        }
    }

    /// The digest of size and pixels: equal pictures have one digest whatever file they come from.
    public var digest: SHA256Digest {
        var hasher = SHA256Hasher()
        Array("\(width) \(height) \(isGrey)\n".utf8).withUnsafeBytes { hasher.update($0) }
        pixels.withUnsafeBytes { hasher.update($0) }
        return hasher.finalize()
    }

    /// A part of the picture; white where the rectangle leaves it.
    /// - Throws: `classification-failed` for a rectangle without pixels or with a side above 2^24.
    public func part(x: Int, y: Int, width: Int, height: Int) throws -> Picture {
        let width = max(0, width)
        let height = max(0, height)
        if case .plain(let pixels) = storage { return try part(of: pixels, x: x, y: y, width: width, height: height) }
        return try made { $1.functions.cut($0, Int64(x), Int64(y), width, height, $2) }
    }

    /// The part of a picture without the library.
    private func part(of pixels: [UInt8], x: Int, y: Int, width: Int, height: Int) throws -> Picture {
        let most = 1 << 24
        guard (1...most).contains(width), (1...most).contains(height), width * height <= 1 << 30,
            (-most...most).contains(x), (-most...most).contains(y)
        else { throw ClassificationError(.failed, "the picture cannot be prepared: the part is not usable") }
        let colours = isGrey ? 1 : 3
        var part = [UInt8](repeating: 255, count: width * height * colours)
        let columns = Self.overlap(x, width, self.width)
        for row in Self.overlap(y, height, self.height) where !columns.isEmpty {
            let source = (row * self.width + columns.lowerBound) * colours
            let target = ((row - y) * width + columns.lowerBound - x) * colours
            let count = columns.count * colours
            part.replaceSubrange(target..<target + count, with: pixels[source..<source + count])
        }
        return Picture(plain: part, width: width, height: height, isGrey: isGrey)
    }

    /// The places of a side that a part covers.
    private static func overlap(_ begin: Int, _ length: Int, _ side: Int) -> Range<Int> {
        let first = min(max(0, begin), side)
        return first..<max(first, min(side, begin + length))
    }

    /// The picture as a PNG file.
    /// - Throws: `classification-failed`; `vision-missing`.
    public func png() throws -> [UInt8] {
        var length = 0
        let (bytes, library) = try prepared { raw, library, error in
            library.functions.encode(raw, &length, error).map { ($0, library) }
        }
        defer { library.functions.release(bytes) }
        return Array(UnsafeBufferPointer(start: bytes, count: length))
    }

    /// Writes a model's input into `numbers`, whose count is that of the input.
    /// - Throws: `classification-failed`.
    func fill(_ input: hearth_picture_input, into numbers: UnsafeMutablePointer<Float>) throws {
        var input = input
        try prepared { $1.functions.fill($0, &input, numbers, $2) ? () : nil }
    }

    /// The largest angle by which a page is straightened.
    private static let maximumDegrees = 7.0

    /// The picture of a page in grey with even light, turned so that its lines are straight, and by how many degrees
    /// counter-clockwise it was turned.
    /// - Throws: `classification-failed` without enough memory.
    func cleaned() throws -> (page: Picture, degrees: Double) {
        var degrees = 0.0
        let page = try made { $1.functions.clean($0, Self.maximumDegrees, &degrees, $2) }
        return (page, degrees)
    }

    /// The connected pieces of ink of a cleaned page, without those whose sides are both shorter than `leastSide`.
    /// - Throws: `cannot-read-picture` for a page of specks.
    func ink(leastSide: Int) throws -> [InkPiece] {
        let (raw, library) = try content()
        var count = 0
        let capacity = 1 << 18
        do {
            let pieces = try [hearth_ink](unsafeUninitializedCapacity: capacity) { buffer, initialized in
                try VisionFailure.check {
                    library.functions.find_ink(
                        raw, Int32(clamping: leastSide), buffer.baseAddress, capacity, &count, $0) ? () : nil
                }
                initialized = min(count, capacity)
            }
            guard count <= capacity else { throw ImageHeader.unreadable("the page has \(count) pieces of ink") }
            return pieces.map(InkPiece.init)
        } catch let error as VisionFailure {
            throw ImageHeader.unreadable(error.text)
        }
    }

    /// The picture of the library.
    /// - Throws: `vision-missing` for a picture without it.
    private func content() throws -> (raw: OpaquePointer, library: PictureLibrary) {
        if case .library(let raw, let library) = storage { return (raw, library) }
        _ = try PictureLibrary.shared()
        throw ClassificationError(.visionMissing, "the picture was made without the library of pictures")
    }

    private func made(
        _ call: (OpaquePointer, PictureLibrary, UnsafeMutablePointer<hearth_vision_error>) -> OpaquePointer?
    ) throws -> Picture { Picture(try prepared(call), try content().library) }

    private func prepared<Result>(
        _ call: (OpaquePointer, PictureLibrary, UnsafeMutablePointer<hearth_vision_error>) -> Result?
    ) throws -> Result {
        let (raw, library) = try content()
        do {
            return try VisionFailure.check { call(raw, library, $0) }
        } catch {
            if error.kind == .missing { throw error.missing("the library of pictures (OpenCV)") }
            throw ClassificationError(.failed, "the picture cannot be prepared: \(error.text)")
        }
    }
}

/// The rectangle of one piece of ink on a page.
struct InkPiece: Sendable, Hashable {
    var box: PixelBox
    /// The number of its dark pixels.
    var area: Int
}

extension InkPiece {
    init(_ piece: hearth_ink) {
        box = PixelBox(x: Int(piece.x), y: Int(piece.y), width: Int(piece.width), height: Int(piece.height))
        area = Int(piece.area)
    }
}
