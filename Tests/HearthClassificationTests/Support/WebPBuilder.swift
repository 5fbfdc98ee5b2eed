/// Writes lossless WebP files (RFC 9649, section 3) of colours whose parts are 0 or 255.
struct WebPBuilder {
    let width: Int
    let height: Int
    /// Red, green and blue of each pixel.
    let pixels: [[UInt8]]
    /// The content of the chunk behind the frame; `nil` for a file without the extended header.
    var exif: [UInt8]?
    /// The flags of the extended header besides Exif's; 2 is an animation.
    var flags: UInt8 = 0
    /// Replaces the width in the extended header.
    var canvasWidth: Int?

    var bytes: [UInt8] {
        var chunks: [UInt8] = []
        if let exif {
            let header = [flags | 8, 0, 0, 0] + little((canvasWidth ?? width) - 1, 3) + little(height - 1, 3)
            chunks += chunk("VP8X", header) + chunk("VP8L", frame) + chunk("EXIF", exif)
        } else {
            chunks = chunk("VP8L", frame)
        }
        let body = Array("WEBP".utf8) + chunks
        return Array("RIFF".utf8) + little(body.count, 4) + body
    }

    private var frame: [UInt8] {
        var bits: [Bool] = []
        func put(_ value: Int, _ count: Int) { for index in 0..<count { bits.append(value >> index & 1 == 1) } }
        put(width - 1, 14)
        put(height - 1, 14)
        // No transparency, version 0; no transform, no cache of colours, one group of codes.
        put(0, 1)
        put(0, 3)
        put(0, 3)
        for _ in ["green", "red", "blue"] {
            // A simple code of two symbols: 0 in one bit, 255 in eight.
            put(0b11, 2)
            put(0b0, 1)
            put(0, 1)
            put(255, 8)
        }
        // Codes of one symbol need no bits: opaque, and no distances.
        put(0b01, 2)
        put(1, 1)
        put(255, 8)
        put(0b01, 2)
        put(0, 1)
        put(0, 1)
        for pixel in pixels { for part in [1, 0, 2] { put(pixel[part] == 255 ? 1 : 0, 1) } }
        var bytes: [UInt8] = [0x2F]
        for start in stride(from: 0, to: bits.count, by: 8) {
            bytes.append(
                bits[start..<min(start + 8, bits.count)].enumerated().reduce(0) {
                    $0 | ($1.element ? 1 << $1.offset : 0)
                })
        }
        return bytes
    }

    private func chunk(_ kind: String, _ content: [UInt8]) -> [UInt8] {
        Array(kind.utf8) + little(content.count, 4) + content + [UInt8](repeating: 0, count: content.count % 2)
    }

    private func little(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }
}
