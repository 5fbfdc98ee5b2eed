import HearthBase

/// The supported formats of pictures.
package enum ImageFormat: String, Sendable, Hashable, CaseIterable {
    case jpeg = "JPEG"
    case png = "PNG"
    case bmp = "BMP"
}

/// The facts of a picture's header, read without unpacking pixels.
///
/// The whole file is read once, so that a picture that is cut off, or that unpacks to more than its declared size, is
/// found here and not by the decoder.
package struct ImageHeader: Sendable, Hashable {
    package let format: ImageFormat
    /// The size in pixels for display, after the orientation is applied.
    package let width: Int
    package let height: Int
    /// The Exif orientation, 1...8: the rotation and mirroring of the pixels for display.
    package let orientation: Int
    /// The size in pixels in the file.
    package var storedSize: (width: Int, height: Int) { orientation > 4 ? (height, width) : (width, height) }

    /// Reads the header of a file in memory.
    /// - Throws: `cannot-read-picture`; `picture-too-large` by the limits.
    package init(_ bytes: [UInt8], limits: ImageLimits = ImageLimits()) throws {
        guard bytes.count <= limits.maximumBytes else {
            throw ImageLimits.tooLarge(
                "its file has \(ByteCount(UInt64(bytes.count)))", limit: "at most \(limits.maximumBytes >> 20) MiB")
        }
        guard let format = ImageFormat(beginning: bytes) else {
            throw Self.unreadable(
                bytes.isEmpty ? "it is empty" : "it is no JPEG, PNG or BMP file",
                remedy: "Give a JPEG, PNG or BMP file; convert others first.")
        }
        let (size, orientation) =
            switch format {
            case .jpeg: try JPEGReader.read(bytes, limits: limits)
            case .png: try PNGReader.read(bytes, limits: limits)
            case .bmp: (try BMPReader.size(of: bytes, limits: limits), 1)
            }
        self.format = format
        self.orientation = orientation
        (width, height) = orientation > 4 ? (size.height, size.width) : (size.width, size.height)
    }

    package static func unreadable(_ reason: String, remedy: String = "Check the file, or save the picture anew.")
        -> LLMError
    {
        LLMError(
            .cannotReadPicture, "the picture cannot be read: \(reason)", context: ErrorContext(remedy: remedy),
            disposition: .usage)
    }
}

/// A width and a height in pixels.
struct ImageSize: Sendable, Hashable {
    var width: Int
    var height: Int
}

extension ImageFormat {
    /// The format of a file with this beginning.
    init?(beginning bytes: [UInt8]) {
        if bytes.starts(with: [0xFF, 0xD8, 0xFF]) {
            self = .jpeg
        } else if bytes.starts(with: PNGReader.signature) {
            self = .png
        } else if bytes.starts(with: [0x42, 0x4D]) {
            self = .bmp
        } else {
            return nil
        }
    }
}

extension [UInt8] {
    /// The big-endian number at a place that is known to exist.
    package func bigEndian(_ place: Int, _ count: Int) -> Int {
        self[place..<place + count].reduce(0) { $0 << 8 | Int($1) }
    }

    /// The little-endian number at a place that is known to exist.
    package func littleEndian(_ place: Int, _ count: Int) -> Int {
        self[place..<place + count].reversed().reduce(0) { $0 << 8 | Int($1) }
    }
}
