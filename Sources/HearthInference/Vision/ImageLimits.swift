import HearthBase

/// The limits of a picture's file, and its size for the model.
package struct ImageLimits: Sendable, Hashable {
    /// The bytes of a file: 32 MiB.
    package var maximumBytes = 32 << 20
    /// The pixels of a picture: 64 million (2^26), more than a telephone takes.
    package var maximumPixels = 1 << 26
    /// The bytes it unpacks to: four for each of those pixels.
    package var maximumUnpackedBytes = 1 << 28
    /// A picture with a longer side is made smaller before the model sees it: encoding one cannot be interrupted, and takes
    /// time with its pixels.
    package var longestSide = 2048
    /// The times a JPEG file may go over its picture; a file of few bytes could else take hours.
    package var maximumScans = 100

    /// The package's own limits.
    package init() {}

    /// The size at which a picture is seen: its proportions are kept, no side is less than one pixel.
    package func shown(width: Int, height: Int) -> (width: Int, height: Int) {
        let longest = max(width, height)
        guard longest > longestSide else { return (width, height) }
        return (max(1, width * longestSide / longest), max(1, height * longestSide / longest))
    }

    /// Checks the size in a header.
    /// - Parameter bits: of one pixel.
    /// - Throws: `cannot-read-picture` for nothing to see; `picture-too-large`.
    func check(_ size: ImageSize, bits: Int) throws {
        guard size.width > 0, size.height > 0 else {
            throw ImageHeader.unreadable("it is \(size.width) × \(size.height) pixels large")
        }
        let (pixels, overflow) = size.width.multipliedReportingOverflow(by: size.height)
        guard !overflow, pixels <= maximumPixels, pixels / 8 * bits <= maximumUnpackedBytes else {
            throw Self.tooLarge(
                "it is \(size.width) × \(size.height) pixels large",
                limit: "at most \(maximumPixels) pixels and \(maximumUnpackedBytes >> 20) MiB unpacked")
        }
    }

    static func tooLarge(_ reason: String, limit: String) -> LLMError {
        LLMError(
            .pictureTooLarge, "the picture is too large: \(reason)",
            context: ErrorContext(expected: limit, remedy: "Make it smaller first."), disposition: .usage)
    }
}
