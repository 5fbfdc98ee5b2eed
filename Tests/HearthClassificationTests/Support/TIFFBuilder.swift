/// Writes TIFF files of grey pages without compression.
struct TIFFBuilder {
    struct Page {
        var width: Int
        var height: Int
        var pixels: [UInt8]
    }

    var pages: [Page] = []
    /// The place that the last directory leads to; 0 ends the file.
    var end = 0
    /// Replaces the width in the directory of every page.
    var declaredWidth: Int?

    /// The file, little endian.
    var bytes: [UInt8] {
        var bytes: [UInt8] = [0x49, 0x49, 42, 0, 0, 0, 0, 0]
        var link = 4
        for page in pages {
            let data = bytes.count
            bytes += page.pixels
            if bytes.count % 2 == 1 { bytes.append(0) }
            Self.put(bytes.count, 4, at: link, &bytes)
            let entries: [(tag: Int, type: Int, value: Int)] = [
                (256, 4, declaredWidth ?? page.width), (257, 4, page.height), (258, 3, 8), (259, 3, 1), (262, 3, 1),
                (273, 4, data), (277, 3, 1), (278, 4, page.height), (279, 4, page.pixels.count),
            ]
            bytes += Self.little(entries.count, 2)
            for entry in entries {
                bytes += Self.little(entry.tag, 2) + Self.little(entry.type, 2) + Self.little(1, 4)
                bytes += Self.little(entry.value, 4)
            }
            link = bytes.count
            bytes += [0, 0, 0, 0]
        }
        Self.put(end, 4, at: link, &bytes)
        return bytes
    }

    private static func little(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    private static func put(_ value: Int, _ count: Int, at place: Int, _ bytes: inout [UInt8]) {
        bytes.replaceSubrange(place..<place + count, with: little(value, count))
    }
}
