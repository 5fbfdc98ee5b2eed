import HearthBase

/// A name that follows the rules of its type; encoded as its text, and checked when it is decoded.
package protocol CheckedName: CodedAsText {
    /// The name as text.
    var name: String { get }
}

extension CheckedName {
    public var description: String { name }

    public static func < (left: Self, right: Self) -> Bool { left.name < right.name }
}

extension UInt8 {
    var isLowerCaseHexadecimal: Bool { (48...57).contains(self) || (97...102).contains(self) }
    var isLowerCaseAlphanumeric: Bool { (97...122).contains(self) || (48...57).contains(self) }
    var isAlphanumeric: Bool { isLowerCaseAlphanumeric || (65...90).contains(self) }
}

extension StringProtocol {
    /// The text with each character replaced that is no ASCII letter or digit and not among the allowed ones.
    package func withCharacters(allowed: String, others replacement: Character) -> String {
        String(map { $0.isASCII && ($0.isLetter || $0.isNumber || allowed.contains($0)) ? $0 : replacement })
    }
}
