/// Reads the markers of a JPEG file.
enum JPEGReader {
    /// The size in the frame, and the Exif orientation (1...8).
    static func read(_ bytes: [UInt8], limits: ImageLimits) throws -> (size: ImageSize, orientation: Int) {
        let cutOff = ImageHeader.unreadable("it ends in the middle")
        var place = 2
        var found: ImageSize?
        var orientation: Int?
        while true {
            guard place + 1 < bytes.count else { throw cutOff }
            guard bytes[place] == 0xFF else { throw ImageHeader.unreadable("its parts do not follow each other") }
            let marker = bytes[place + 1]
            place += 1
            // Any number of these may stand before a marker.
            if marker == 0xFF { continue }
            place += 1
            if marker == 0x01 || (0xD0...0xD7).contains(marker) { continue }
            if marker == 0xD9 { throw ImageHeader.unreadable("it ends before it shows anything") }
            guard place + 2 <= bytes.count else { throw cutOff }
            let length = bytes.bigEndian(place, 2)
            guard length >= 2 else { throw ImageHeader.unreadable("one of its parts has no length") }
            guard place + length <= bytes.count else { throw cutOff }
            switch marker {
            case 0xE1:
                orientation =
                    orientation
                    ?? ExifOrientation.read(
                        bytes, in: place + 2..<place + length, isMarked: true)
            case 0xC0...0xC2:
                guard found == nil else { throw ImageHeader.unreadable("it has two frames") }
                found = try frame(bytes, place, length, limits)
            case 0xC3, 0xC5...0xC7, 0xC9...0xCB, 0xCD...0xCF:
                throw ImageHeader.unreadable("it is stored in one of JPEG's rare ways (lossless or arithmetic)")
            case 0xDA:
                guard let found else { throw ImageHeader.unreadable("it begins before it says how large it is") }
                let (scans, isEnded) = scans(bytes[(place + length)...])
                guard scans <= limits.maximumScans else {
                    throw ImageLimits.tooLarge(
                        "it goes over its pixels more than \(limits.maximumScans) times",
                        limit: "\(limits.maximumScans) scans")
                }
                guard isEnded else { throw cutOff }
                return (found, orientation ?? 1)
            default: break
            }
            place += length
        }
    }

    private static func frame(_ bytes: [UInt8], _ place: Int, _ length: Int, _ limits: ImageLimits) throws -> ImageSize
    {
        guard length >= 8 else { throw ImageHeader.unreadable("its frame is too short") }
        let components = Int(bytes[place + 7])
        guard [1, 3, 4].contains(components), length == 8 + 3 * components else {
            throw ImageHeader.unreadable("it has \(components) colours")
        }
        guard bytes[place + 2] == 8 else { throw ImageHeader.unreadable("its colours are not of 8 bits") }
        let size = ImageSize(width: bytes.bigEndian(place + 5, 2), height: bytes.bigEndian(place + 3, 2))
        try limits.check(size, bits: 8 * components)
        return size
    }

    /// Counts the scans, the first one included, and searches for the end of the picture. Scans are not distinguished
    /// from the tables between them, so the number may be too large, but never too small.
    private static func scans(_ bytes: ArraySlice<UInt8>) -> (count: Int, isEnded: Bool) {
        var count = 1
        var isEnded = false
        var isMarker = false
        for byte in bytes {
            if isMarker, byte == 0xDA { count += 1 }
            if isMarker, byte == 0xD9 { isEnded = true }
            isMarker = byte == 0xFF
        }
        return (count, isEnded)
    }
}
