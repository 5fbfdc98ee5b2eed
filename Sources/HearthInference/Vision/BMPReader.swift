/// Reads the header of a BMP file.
enum BMPReader {
    /// The size in the header.
    static func size(of bytes: [UInt8], limits: ImageLimits) throws -> ImageSize {
        let cutOff = ImageHeader.unreadable("it ends in the middle")
        guard bytes.count >= 26 else { throw cutOff }
        let offset = bytes.littleEndian(10, 4)
        let header = bytes.littleEndian(14, 4)
        guard [12, 40, 56, 108, 124].contains(header) else {
            throw ImageHeader.unreadable("its header is of an unknown kind")
        }
        guard bytes.count >= 14 + header else { throw cutOff }
        let isOld = header == 12
        let width = isOld ? bytes.littleEndian(18, 2) : Int(Int32(truncatingIfNeeded: bytes.littleEndian(18, 4)))
        // Negative if the first line is the top line.
        let height = abs(isOld ? bytes.littleEndian(20, 2) : Int(Int32(truncatingIfNeeded: bytes.littleEndian(22, 4))))
        let bits = bytes.littleEndian(isOld ? 24 : 28, 2)
        let compression = isOld ? 0 : bytes.littleEndian(30, 4)
        guard [1, 4, 8, 16, 24, 32].contains(bits) else { throw ImageHeader.unreadable("its pixels have \(bits) bits") }
        guard compression == 0 || (compression == 3 && (bits == 16 || bits == 32)) else {
            throw ImageHeader.unreadable("it is a compressed BMP file")
        }
        let size = ImageSize(width: width, height: height)
        try limits.check(size, bits: max(bits, 32))
        let line = (width * bits + 31) / 32 * 4
        guard offset >= 14 + header, offset <= bytes.count, line * height <= bytes.count - offset else { throw cutOff }
        return size
    }
}
