import Foundation
import HearthBase

/// The strings with escapes in a JSON text.
enum EscapedStrings {
    /// Applies a change to each string and key that contains an escape. All other bytes stay: another order or
    /// notation would be another prompt than the one already computed. Text that is not JSON is accepted.
    static func mapped(in json: String, _ change: (String) throws -> String) throws -> String {
        let bytes = Array(json.utf8)
        var result: [UInt8] = []
        var copied = 0
        var index = 0
        while index < bytes.count {
            defer { index += 1 }
            guard bytes[index] == UInt8(ascii: "\"") else { continue }
            let start = index
            var hasEscape = false
            index += 1
            while index < bytes.count, bytes[index] != UInt8(ascii: "\"") {
                if bytes[index] == UInt8(ascii: "\\") {
                    hasEscape = true
                    index += 1
                }
                index += 1
            }
            guard hasEscape, index < bytes.count, let meant = decoded(bytes[start...index]) else { continue }
            let changed = try change(meant)
            guard changed != meant else { continue }
            result += bytes[copied..<start]
            result += JSONValue.string(changed).bytes
            copied = index + 1
        }
        return copied == 0 ? json : String(decoding: result + bytes[copied...], as: UTF8.self)
    }

    /// The text of a literal; `nil` if neither this package nor llama.cpp can read it.
    private static func decoded(_ literal: ArraySlice<UInt8>) -> String? {
        try? JSON.value([String].self, Data("[".utf8) + literal + Data("]".utf8)).first
    }

}
