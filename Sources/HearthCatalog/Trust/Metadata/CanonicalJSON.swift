import Foundation
import HearthBase

/// Canonical JSON as the update framework signs it (OLPC): no spaces, keys in the order of their bytes, whole numbers
/// only, and in texts only quotation marks and backslashes escaped.
enum CanonicalJSON {
    /// The bytes that are signed; `nil` if the value has a number that is not whole.
    static func data(_ value: JSONValue) -> Data? {
        var bytes: [UInt8] = []
        return write(value, to: &bytes) ? Data(bytes) : nil
    }

    private static func write(_ value: JSONValue, to bytes: inout [UInt8]) -> Bool {
        switch value {
        case .null: bytes += "null".utf8
        case .boolean(let flag): bytes += (flag ? "true" : "false").utf8
        case .number(let digits):
            guard isWhole(digits) else { return false }
            bytes += digits.utf8
        case .string(let text): write(text, to: &bytes)
        case .array(let items):
            bytes.append(UInt8(ascii: "["))
            for (index, item) in items.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                guard write(item, to: &bytes) else { return false }
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let members):
            bytes.append(UInt8(ascii: "{"))
            let sorted = members.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
            for (index, member) in sorted.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                write(member.key, to: &bytes)
                bytes.append(UInt8(ascii: ":"))
                guard write(member.value, to: &bytes) else { return false }
            }
            bytes.append(UInt8(ascii: "}"))
        }
        return true
    }

    private static func write(_ text: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { bytes.append(UInt8(ascii: "\\")) }
            bytes.append(byte)
        }
        bytes.append(UInt8(ascii: "\""))
    }

    /// Whether a number has only one form: `-0` and `1e2` have others.
    private static func isWhole(_ digits: String) -> Bool {
        digits != "-0" && digits.utf8.allSatisfy { (48...57).contains($0) || $0 == UInt8(ascii: "-") }
    }
}
