/// Git's name of a file's contents: the SHA-1 of `blob <length>`, a NUL and the bytes, written as 40 lower-case
/// hexadecimal digits.
///
/// SHA-1 detects accidents. It detects an attack only as far as the source of the name is trusted. Hearth uses it if a
/// hub gives no better digest, and never in place of a SHA-256.
package struct GitBlobID: Sendable, Hashable, CustomStringConvertible {
    /// The number of bytes in the name.
    package static let byteCount = 20

    /// The 20 bytes.
    package let bytes: [UInt8]

    /// Reads 40 hexadecimal digits in either case, `nil` for other text.
    package init?(hex: some StringProtocol) {
        guard let bytes = [UInt8](hexadecimal: hex), bytes.count == Self.byteCount else { return nil }
        self.bytes = bytes
    }

    init(finishing bytes: [UInt8]) { self.bytes = bytes }

    /// The 40 lower-case digits.
    package var hex: String { bytes.hexadecimal }

    package var description: String { hex }
}
