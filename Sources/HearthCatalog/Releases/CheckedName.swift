/// A name that follows the rules of its type; encoded as its text, and checked when it is decoded.
package protocol CheckedName: Codable, CustomStringConvertible {
    /// The name as text.
    var name: String { get }
    /// The value of exactly that name, `nil` if the name is not allowed.
    init?(_ name: String)
}

extension CheckedName {
    public var description: String { name }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let value = Self(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not an allowed name")
        }
        self = value
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(name)
    }
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
