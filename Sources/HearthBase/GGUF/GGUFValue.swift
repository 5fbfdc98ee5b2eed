/// The types of metadata values, with their numbers in the file (`gguf_type` in ggml's gguf.h).
package enum GGUFType: UInt32, Sendable, Hashable, CaseIterable {
    case uint8 = 0
    case int8, uint16, int16, uint32, int32, float32, bool, string, array, uint64, int64, float64

    /// The bytes of a value, `nil` for strings and arrays.
    var byteCount: Int? {
        switch self {
        case .uint8, .int8, .bool: 1
        case .uint16, .int16: 2
        case .uint32, .int32, .float32: 4
        case .uint64, .int64, .float64: 8
        case .string, .array: nil
        }
    }

    /// The fewest bytes of a value: an empty string is its length, an empty array its type and length.
    var minimumByteCount: Int { byteCount ?? (self == .string ? 8 : 12) }
}

/// A metadata value with its type in the file.
package enum GGUFValue: Sendable, Hashable {
    case uint8(UInt8)
    case int8(Int8)
    case uint16(UInt16)
    case int16(Int16)
    case uint32(UInt32)
    case int32(Int32)
    case uint64(UInt64)
    case int64(Int64)
    case float32(Float)
    case float64(Double)
    case bool(Bool)
    /// Text; invalid UTF-8 becomes U+FFFD.
    case string(String)
    /// Text longer than ``GGUFHeader/Limits/keptStringBytes`` or past ``GGUFHeader/Limits/keptStringBytesInAll``, which
    /// is skipped.
    case longString(byteCount: UInt64)
    case array(GGUFArray)

    /// The number, if the value is an integer that fits.
    package var integer: Int? {
        switch self {
        case .uint8(let value): Int(value)
        case .int8(let value): Int(value)
        case .uint16(let value): Int(value)
        case .int16(let value): Int(value)
        case .uint32(let value): Int(exactly: value)
        case .int32(let value): Int(exactly: value)
        case .uint64(let value): Int(exactly: value)
        case .int64(let value): Int(exactly: value)
        case .float32, .float64, .bool, .string, .longString, .array: nil
        }
    }

    /// The text, if the value is a kept text.
    package var text: String? {
        if case .string(let text) = self { text } else { nil }
    }
}

/// A metadata array. Long ones, such as a vocabulary, are skipped and only counted.
package struct GGUFArray: Sendable, Hashable {
    package let elementType: GGUFType
    /// The number of elements in the file.
    package let count: UInt64
    /// The elements, `nil` if they were skipped.
    package let elements: [GGUFValue]?

    /// An array of the given facts.
    package init(elementType: GGUFType, count: UInt64, elements: [GGUFValue]?) {
        self.elementType = elementType
        self.count = count
        self.elements = elements
    }
}
