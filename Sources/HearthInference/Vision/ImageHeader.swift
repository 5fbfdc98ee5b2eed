import HearthBase

/// The formats of pictures that are read.
package enum ImageFormat: String, Sendable, Hashable, CaseIterable {
    case jpeg = "JPEG"
    case png = "PNG"
    case bmp = "BMP"
}

/// The facts of a picture's header, read without unpacking a pixel.
///
/// The whole file is walked through once: a picture that is cut off, or that unpacks to more than its size says, is found here
/// rather than by the decoder.
package struct ImageHeader: Sendable, Hashable {
    package let format: ImageFormat
    /// In pixels, as the picture is shown.
    package let width: Int
    package let height: Int
    /// The Exif orientation, 1...8: how the pixels are turned and mirrored for display.
    package let orientation: Int
    /// In pixels, as they lie in the file.
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
            case .png: (try PNGReader.size(of: bytes, limits: limits), 1)
            case .bmp: (try BMPReader.size(of: bytes, limits: limits), 1)
            }
        self.format = format
        self.orientation = orientation
        (width, height) = orientation > 4 ? (size.height, size.width) : (size.width, size.height)
    }

    static func unreadable(_ reason: String, remedy: String = "Check the file, or save the picture anew.") -> LLMError {
        LLMError(
            .cannotReadPicture, "the picture cannot be read: \(reason)", context: ErrorContext(remedy: remedy),
            disposition: .usage)
    }
}

/// Pixels across and down.
struct ImageSize: Sendable, Hashable {
    var width: Int
    var height: Int
}

extension ImageFormat {
    /// The format whose files begin so.
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
    /// The number at a place that is known to exist, the byte of the highest worth first.
    func bigEndian(_ place: Int, _ count: Int) -> Int { self[place..<place + count].reduce(0) { $0 << 8 | Int($1) } }

    /// The number at a place that is known to exist, the byte of the lowest worth first.
    func littleEndian(_ place: Int, _ count: Int) -> Int {
        self[place..<place + count].reversed().reduce(0) { $0 << 8 | Int($1) }
    }
}
