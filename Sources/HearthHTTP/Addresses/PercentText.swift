import Foundation
import HearthBase

/// Percent-encoding as AWS requires it: everything but `A-Z a-z 0-9 - . _ ~` is encoded, with capital digits.
package enum PercentText {
    /// Encodes a text.
    /// - Parameter keepsSlashes: `true` for a path, `false` for a name or a value of a query.
    package static func encoded(_ text: some StringProtocol, keepsSlashes: Bool = false) -> String {
        encoded(Array(text.utf8), keepsSlashes: keepsSlashes)
    }

    static func encoded(_ bytes: [UInt8], keepsSlashes: Bool) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        for byte in bytes {
            if isUnreserved(byte) || (keepsSlashes && byte == UInt8(ascii: "/")) {
                result.append(byte)
            } else {
                result += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// The bytes of an encoded text. A percent sign that no two digits follow stands for itself.
    package static func decoded(_ text: some StringProtocol) -> [UInt8] {
        let bytes = Array(text.utf8)
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var index = 0
        while index < bytes.count {
            if bytes[index] == UInt8(ascii: "%"), index + 2 < bytes.count,
                let byte = [UInt8](hexadecimal: String(decoding: bytes[index + 1...index + 2], as: UTF8.self))
            {
                result += byte
                index += 3
            } else {
                result.append(bytes[index])
                index += 1
            }
        }
        return result
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            true
        default: false
        }
    }
}
