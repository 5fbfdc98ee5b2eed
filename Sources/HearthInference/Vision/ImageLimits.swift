import HearthBase

/// The limits of a picture's file, and its size for the model.
package struct ImageLimits: Sendable, Hashable {
    /// The most bytes of a file: 32 MiB.
    package var maximumBytes = 32 << 20
    /// The most pixels of a picture: 64 million (2^26), more than a phone's camera takes.
    package var maximumPixels = 1 << 26
    /// The most unpacked bytes: four for each of those pixels.
    package var maximumUnpackedBytes = 1 << 28
    /// The longest side of a picture for the model. Larger pictures are scaled down: the encoding cannot be
    /// interrupted, and its time grows with the pixels.
    package var longestSide = 2048
    /// The most scans of a JPEG file; a small file with many could take hours.
    package var maximumScans = 100

    /// The package's own limits.
    package init() {}

    /// The size of a picture for the model: its proportions are kept, and no side is below one pixel.
    package func shown(width: Int, height: Int) -> (width: Int, height: Int) {
        let longest = max(width, height)
        guard longest > longestSide else { return (width, height) }
        return (max(1, width * longestSide / longest), max(1, height * longestSide / longest))
    }

    /// Checks the size in a header.
    /// - Parameter bits: the bits of one pixel.
    /// - Throws: `cannot-read-picture` for a picture without pixels; `picture-too-large`.
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

    package static func tooLarge(_ reason: String, limit: String) -> LLMError {
        LLMError(
            .pictureTooLarge, "the picture is too large: \(reason)",
            context: ErrorContext(expected: limit, remedy: "Make it smaller first."), disposition: .usage)
    }
}
