/// Regular expressions (`pattern`) of a JSON schema, as far as llama.cpp makes a grammar of them: between `^` and `$`, with
/// groups, alternatives, classes, `.`, repetitions and few escapes.
///
/// llama.cpp takes any other for any string, and reports that on the process's standard error only. Such a schema is
/// refused before it reaches llama.cpp.
enum SchemaPattern {
    /// The reason why patterns of a schema cannot be followed; `nil` if all can, or if llama.cpp refuses them itself.
    /// - Parameter schema: a JSON object of bounded depth.
    static func flaw(inSchema schema: [String: Any]) -> String? {
        for (key, value) in schema.sorted(by: { $0.key < $1.key }) {
            let flaw: String? =
                switch (key, value) {
                case ("pattern", let pattern as String):
                    pattern.isEmpty ? nil : flaw(of: pattern).map { "the pattern \(pattern) \($0)" }
                // Values, however they look.
                case ("const", _), ("default", _), ("enum", _), ("examples", _): nil
                case ("properties", let named as [String: Any]), ("$defs", let named as [String: Any]),
                    ("definitions", let named as [String: Any]):
                    self.flaw(inList: named.sorted { $0.key < $1.key }.map(\.value))
                case (_, let list as [Any]): self.flaw(inList: list)
                default: self.flaw(inList: [value])
                }
            if let flaw { return flaw }
        }
        return nil
    }

    private static func flaw(inList values: [Any]) -> String? {
        for case let schema as [String: Any] in values {
            if let flaw = flaw(inSchema: schema) { return flaw }
        }
        return nil
    }

    /// The part of a pattern that llama.cpp cannot follow; llama.cpp itself reports a broken regular expression.
    static func flaw(of pattern: String) -> String? {
        var bytes = pattern.utf8[...]
        guard bytes.count >= 2, bytes.popFirst() == UInt8(ascii: "^"), bytes.popLast() == UInt8(ascii: "$") else {
            return "does not begin with ^ and end with $"
        }
        while let byte = bytes.popFirst() {
            switch byte {
            case UInt8(ascii: "("):
                guard bytes.first == UInt8(ascii: "?") else { break }
                guard bytes.starts(with: "?:".utf8) else { return "has a group that is neither (…) nor (?:…)" }
                bytes = bytes.dropFirst(2)
            case UInt8(ascii: "^"), UInt8(ascii: "$"): return "has ^ or $ in its middle"
            case UInt8(ascii: "]"), UInt8(ascii: "}"): return "has a bracket that closes nothing"
            case UInt8(ascii: "["):
                while let byte = bytes.popFirst(), byte != UInt8(ascii: "]") {
                    if byte == UInt8(ascii: "\\"), let flaw = escape(&bytes, besides: "") { return flaw }
                }
            case UInt8(ascii: "{"):
                guard let end = bytes.firstIndex(of: UInt8(ascii: "}")), isRepetition(bytes[..<end]) else {
                    return "has a repetition that is none of {n}, {n,} and {n,m}"
                }
                bytes = bytes[bytes.index(after: end)...]
            case UInt8(ascii: "\\"):
                if let flaw = escape(&bytes, besides: "^$.()|{}*+?") { return flaw }
            default: break
            }
        }
        return nil
    }

    /// Takes the rest of an escape.
    private static func escape(_ bytes: inout Substring.UTF8View, besides others: String) -> String? {
        guard let byte = bytes.popFirst() else { return "ends in the middle of an escape" }
        let digits: [UInt8: Int] = [UInt8(ascii: "x"): 2, UInt8(ascii: "u"): 4, UInt8(ascii: "U"): 8]
        if let count = digits[byte] {
            guard bytes.count >= count, bytes.prefix(count).allSatisfy({ Character(UnicodeScalar($0)).isHexDigit })
            else {
                return "has an escape without its \(count) digits"
            }
            bytes = bytes.dropFirst(count)
            return nil
        }
        guard #"trn\"[]-"#.utf8.contains(byte) || others.utf8.contains(byte) else {
            return
                "has \\\(Character(UnicodeScalar(byte))), which is not known here; write out what it stands for, as [0-9]"
        }
        return nil
    }

    /// `n`, `n,` or `n,m`, with small numbers.
    private static func isRepetition(_ text: Substring.UTF8View) -> Bool {
        let numbers = text.split(separator: UInt8(ascii: ","), maxSplits: 1, omittingEmptySubsequences: false)
        func isNumber(_ digits: Substring.UTF8View) -> Bool {
            (1...9).contains(digits.count) && digits.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        }
        return isNumber(numbers[0]) && (numbers.count == 1 || numbers[1].isEmpty || isNumber(numbers[1]))
    }
}
