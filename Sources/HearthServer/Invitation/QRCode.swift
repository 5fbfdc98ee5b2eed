#if Server
import CQRCode
#endif

/// A QR code of a text (ISO/IEC 18004), as rows of dark and light squares without a margin.
package struct QRCode: Sendable, Hashable {
    /// The rows from the top; `true` is dark.
    package let rows: [[Bool]]

    /// Makes the smallest code of a text; `nil` for one of more than 2,953 bytes, and in a build without the trait `Server`.
    package init?(_ text: String) {
        #if Server
        // A bit for each square of the largest code, and a byte for its size.
        let side = Int(qrcodegen_VERSION_MAX) * 4 + 17
        let length = (side * side + 7) / 8 + 1
        var (scratch, code) = ([UInt8](repeating: 0, count: length), [UInt8](repeating: 0, count: length))
        let isMade = text.withCString { text in
            qrcodegen_encodeText(
                text, &scratch, &code, qrcodegen_Ecc_LOW, qrcodegen_VERSION_MIN, qrcodegen_VERSION_MAX,
                qrcodegen_Mask_AUTO, true)
        }
        guard isMade, !text.utf8.contains(0) else { return nil }
        let size = qrcodegen_getSize(code)
        rows = (0..<size).map { y in (0..<size).map { x in qrcodegen_getModule(code, x, y) } }
        #else
        return nil
        #endif
    }

    /// The number of squares of a side.
    package var size: Int { rows.count }

    /// The code as lines of half blocks with a margin: two rows of squares in a line of text.
    ///
    /// Readers want dark squares on a light ground, and do not know the colours of a terminal.
    /// - Parameters:
    ///   - margin: the light squares around the code.
    ///   - hasColor: whether escape sequences set black on white; without, light squares are painted, as for a terminal with
    ///     a dark ground.
    package func halfBlocks(margin: Int = 2, hasColor: Bool) -> [String] {
        let all = size + 2 * margin
        func isDark(_ x: Int, _ y: Int) -> Bool {
            let (x, y) = (x - margin, y - margin)
            return rows.indices.contains(y) && rows[y].indices.contains(x) && rows[y][x]
        }
        return stride(from: 0, to: all, by: 2).map { y in
            let line = (0..<all).map { x -> Character in
                // A line below the last row is light.
                switch (isDark(x, y) == hasColor, y + 1 < all ? isDark(x, y + 1) == hasColor : !hasColor) {
                case (true, true): "█"
                case (true, false): "▀"
                case (false, true): "▄"
                case (false, false): " "
                }
            }
            let text = String(line)
            return hasColor ? "\u{1B}[38;5;16;48;5;231m\(text)\u{1B}[0m" : text
        }
    }
}
