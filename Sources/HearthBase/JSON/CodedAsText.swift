/// A value that is encoded as its description, and checked when it is decoded.
package protocol CodedAsText: Codable, CustomStringConvertible {
    /// The value of that text, `nil` if the text is not allowed.
    init?(_ text: String)
}

extension CodedAsText {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let value = Self(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not an allowed text")
        }
        self = value
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
