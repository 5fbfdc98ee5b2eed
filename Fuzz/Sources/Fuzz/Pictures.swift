import Foundation

@testable import HearthBase
@testable import HearthInference

/// The readers of JPEG, PNG and BMP: what they let through is unpacked by a library that believes the header.
func fuzzPicture(_ data: Data) {
    // Small, so that no input is slow because it is large.
    var limits = ImageLimits()
    limits.maximumPixels = 1 << 20
    limits.maximumUnpackedBytes = 1 << 22
    let bytes = [UInt8](data)
    guard let header = typed({ try ImageHeader(bytes, limits: limits) }) else { return }
    precondition(header.width > 0 && header.height > 0, "an empty picture came through")
    precondition(header.width <= limits.maximumPixels / header.height, "a picture beyond the limit came through")
    let shown = limits.shown(width: header.width, height: header.height)
    precondition(
        (1...limits.longestSide).contains(shown.width) && (1...limits.longestSide).contains(shown.height),
        "a picture is shown too large")
    precondition(typed { try ImageHeader(bytes, limits: limits) } == header, "a header is read in two ways")
}
