import Foundation

/// Documents made by hand for tests.
enum MadeDocuments {
    // MARK: PDF

    /// A PDF file with one line of text on each page; an empty line makes a page without text.
    /// - Parameter isLocked: whether it needs a password that nothing knows.
    static func pdf(_ pages: [String], isLocked: Bool = false) -> Data {
        let kids = pages.indices.map { "\(4 + 2 * $0) 0 R" }.joined(separator: " ")
        var objects = [
            "<< /Type /Catalog /Pages 2 0 R >>",
            "<< /Type /Pages /Count \(pages.count) /Kids [\(kids)] >>",
            "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        ]
        for (index, line) in pages.enumerated() {
            let content = line.isEmpty ? "0 0 100 100 re f" : "BT /F1 12 Tf 20 100 Td (\(line)) Tj ET"
            objects.append(
                "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 200] /Resources << /Font << /F1 3 0 R >> >> "
                    + "/Contents \(5 + 2 * index) 0 R >>")
            objects.append("<< /Length \(content.utf8.count) >>\nstream\n\(content)\nendstream")
        }
        var file = "%PDF-1.4\n"
        var places: [Int] = []
        for (index, object) in objects.enumerated() {
            places.append(file.utf8.count)
            file += "\(index + 1) 0 obj\n\(object)\nendobj\n"
        }
        let start = file.utf8.count
        file += "xref\n0 \(objects.count + 1)\n0000000000 65535 f \n"
        for place in places { file += String(format: "%010d 00000 n \n", place) }
        let id = "<00112233445566778899aabbccddeeff>"
        let key = String(repeating: "ab", count: 32)
        let lock =
            isLocked
            ? " /Encrypt << /Filter /Standard /V 1 /R 2 /O <\(key)> /U <\(key)> /P -4 >> /ID [\(id) \(id)]" : ""
        file += "trailer\n<< /Size \(objects.count + 1) /Root 1 0 R\(lock) >>\nstartxref\n\(start)\n%%EOF\n"
        return Data(file.utf8)
    }

    // MARK: Archives

    struct Entry {
        var name: String
        var bytes: Data
        /// A stream of DEFLATE, and the bytes that it unpacks to.
        var packed: (bytes: Data, unpacked: Int)?

        init(_ name: String, _ text: String) {
            self.name = name
            bytes = Data(text.utf8)
        }

        /// An entry of so many letters.
        init(_ name: String, letters: Int) {
            self.name = name
            bytes = Data()
            packed = MadeDocuments.letters(letters)
        }
    }

    static func zip(_ entries: [Entry]) -> Data {
        var (file, directory) = (Data(), Data())
        for entry in entries {
            let bytes = entry.packed?.bytes ?? entry.bytes
            let unpacked = entry.packed?.unpacked ?? entry.bytes.count
            let method: UInt16 = entry.packed == nil ? 0 : 8
            var facts = Data()
            for value in [20, 0, method, 0, 0] as [UInt16] { facts.append(value) }
            for value in [crc(entry.bytes), UInt32(bytes.count), UInt32(unpacked)] { facts.append(value) }
            facts.append(UInt16(entry.name.utf8.count))
            facts.append(UInt16(0))
            let place = UInt32(file.count)
            file.append(UInt32(0x0403_4B50))
            file += facts + Data(entry.name.utf8) + bytes
            directory.append(UInt32(0x0201_4B50))
            directory.append(UInt16(20))
            directory += facts
            for value in [0, 0, 0] as [UInt16] { directory.append(value) }
            directory.append(UInt32(0))
            directory.append(place)
            directory += Data(entry.name.utf8)
        }
        let place = UInt32(file.count)
        file += directory
        file.append(UInt32(0x0605_4B50))
        for value in [0, 0, UInt16(entries.count), UInt16(entries.count)] { file.append(value) }
        file.append(UInt32(directory.count))
        file.append(place)
        file.append(UInt16(0))
        return file
    }

    /// A .docx file with this body of `word/document.xml`.
    static func word(_ body: String, styles: String? = nil, head: String = "") -> Data {
        let space = "xmlns:w=\"http://schemas.openxmlformats.org/wordprocessingml/2006/main\""
        var entries = [
            Entry("[Content_Types].xml", "<Types/>"),
            Entry(
                "word/document.xml",
                "<?xml version=\"1.0\"?>\(head)<w:document \(space)><w:body>\(body)</w:body></w:document>"),
        ]
        if let styles {
            entries.append(Entry("word/styles.xml", "<w:styles \(space)>\(styles)</w:styles>"))
        }
        return zip(entries)
    }

    /// A stream of DEFLATE that unpacks to so many letters, more than a thousand from each of its bytes.
    private static func letters(_ count: Int) -> (bytes: Data, unpacked: Int) {
        var bytes = Data()
        var (bits, filled) = (UInt8(0), 0)
        func bit(_ value: Int) {
            bits |= UInt8(value) << filled
            filled += 1
            if filled == 8 {
                bytes.append(bits)
                (bits, filled) = (0, 0)
            }
        }
        func code(_ value: Int, _ length: Int) {
            for place in (0..<length).reversed() { bit(value >> place & 1) }
        }
        // A last block with the fixed codes: the letter, then copies of 258 letters from one letter before.
        for value in [1, 1, 0] { bit(value) }
        code(0x30 + 0x61, 8)
        for _ in 0..<(count / 258) {
            code(0b1100_0101, 8)
            code(0, 5)
        }
        code(0, 7)
        while filled > 0 { bit(0) }
        return (bytes, 1 + count / 258 * 258)
    }

    private static func crc(_ data: Data) -> UInt32 {
        var value = UInt32.max
        for byte in data {
            value ^= UInt32(byte)
            for _ in 0..<8 { value = value >> 1 ^ (value & 1 == 1 ? 0xEDB8_8320 : 0) }
        }
        return ~value
    }
}

extension Data {
    fileprivate mutating func append(_ value: some FixedWidthInteger) {
        var value = value.littleEndian
        Swift.withUnsafeBytes(of: &value) { append(contentsOf: $0) }
    }
}
