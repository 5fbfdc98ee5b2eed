/// Reads the chunks of a PNG file and measures their unpacked length.
enum PNGReader {
    static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

    /// The size in the header, and the Exif orientation (1...8), which may stand before or behind the pixels.
    static func read(_ bytes: [UInt8], limits: ImageLimits) throws -> (size: ImageSize, orientation: Int) {
        let cutOff = ImageHeader.unreadable("it ends in the middle")
        var place = signature.count
        var shape: Shape?
        var data: [UInt8] = []
        var orientation: Int?
        while true {
            guard place + 12 <= bytes.count else { throw cutOff }
            let length = bytes.bigEndian(place, 4)
            let kind = bytes.bigEndian(place + 4, 4)
            guard length <= bytes.count - place - 12 else { throw cutOff }
            let content = place + 8
            switch kind {
            case header:
                guard shape == nil, length == 13, let read = Shape(bytes, content) else {
                    throw ImageHeader.unreadable("its header is wrong")
                }
                try limits.check(read.size, bits: read.bits)
                shape = read
            case _ where shape == nil: throw ImageHeader.unreadable("its header does not come first")
            case pixels: data += bytes[content..<content + length]
            case exif:
                orientation =
                    orientation
                    ?? ExifOrientation.read(bytes, in: content..<content + length, isMarked: false)
            case end:
                guard let shape else { throw cutOff }
                let expected = shape.unpackedBytes
                // A few bytes of zlib can stand for a thousand zeros each, so the data is measured before it is
                // unpacked.
                guard InflatedLength.measure(data, limit: expected) == expected else {
                    throw ImageHeader.unreadable("what it unpacks to is not what its header says")
                }
                return (shape.size, orientation ?? 1)
            default: break
            }
            place = content + length + 4
        }
    }

    private static let header = 0x4948_4452
    private static let pixels = 0x4944_4154
    private static let end = 0x4945_4E44
    private static let exif = 0x6558_4966

    /// The facts of the header.
    private struct Shape {
        let size: ImageSize
        /// The bits of a stored pixel.
        let bits: Int
        let isInterlaced: Bool

        init?(_ bytes: [UInt8], _ place: Int) {
            size = ImageSize(width: bytes.bigEndian(place, 4), height: bytes.bigEndian(place + 4, 4))
            let depth = Int(bytes[place + 8])
            let colour = bytes[place + 9]
            let channels: [UInt8: Int] = [0: 1, 2: 3, 3: 1, 4: 2, 6: 4]
            let depths = colour == 0 ? [1, 2, 4, 8, 16] : colour == 3 ? [1, 2, 4, 8] : [8, 16]
            guard let count = channels[colour], depths.contains(depth), bytes[place + 10] == 0, bytes[place + 11] == 0,
                bytes[place + 12] <= 1
            else { return nil }
            bits = depth * count
            isInterlaced = bytes[place + 12] == 1
        }

        /// The bytes of all lines, each with its filter byte.
        var unpackedBytes: Int {
            guard isInterlaced else { return Self.bytes(size.width, size.height, bits) }
            let passes = [
                (0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2),
            ]
            return passes.reduce(0) { sum, pass in
                let (x, y, across, down) = pass
                let width = (size.width - x + across - 1) / across
                let height = (size.height - y + down - 1) / down
                return sum + Self.bytes(width, height, bits)
            }
        }

        private static func bytes(_ width: Int, _ height: Int, _ bits: Int) -> Int {
            width > 0 && height > 0 ? height * (1 + (width * bits + 7) / 8) : 0
        }
    }
}
