/// Writes TIFF files without compression; their pages are grey of 8 bits by default.
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
    /// The orientation of every page; `nil` for none.
    var orientation: Int?
    /// The bits of a colour, 8 or 16, little endian.
    var depth = 8
    /// The colours of a pixel, 1 or 3.
    var colours = 1

    /// The file, little endian.
    var bytes: [UInt8] {
        var bytes: [UInt8] = [0x49, 0x49, 42, 0, 0, 0, 0, 0]
        var link = 4
        for page in pages {
            let data = bytes.count
            bytes += page.pixels
            if bytes.count % 2 == 1 { bytes.append(0) }
            Self.put(bytes.count, 4, at: link, &bytes)
            // The bits of three colours stand behind the directory.
            let count = 9 + (orientation == nil ? 0 : 1)
            let depths = bytes.count + 2 + 12 * count + 4
            let entries: [(tag: Int, type: Int, count: Int, value: Int)] =
                [
                    (256, 4, 1, declaredWidth ?? page.width), (257, 4, 1, page.height),
                    (258, 3, colours, colours == 1 ? depth : depths), (259, 3, 1, 1), (262, 3, 1, colours == 1 ? 1 : 2),
                    (273, 4, 1, data),
                ] + (orientation.map { [(274, 3, 1, $0)] } ?? []) + [
                    (277, 3, 1, colours), (278, 4, 1, page.height), (279, 4, 1, page.pixels.count),
                ]
            bytes += Self.little(entries.count, 2)
            for entry in entries {
                bytes += Self.little(entry.tag, 2) + Self.little(entry.type, 2) + Self.little(entry.count, 4)
                bytes += Self.little(entry.value, 4)
            }
            link = bytes.count
            bytes += [0, 0, 0, 0]
            if colours == 3 { for _ in 0..<3 { bytes += Self.little(depth, 2) } }
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
