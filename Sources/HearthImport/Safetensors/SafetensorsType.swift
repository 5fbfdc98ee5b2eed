/// The type of a tensor's numbers in a safetensors file.
package enum SafetensorsType: Sendable, Hashable {
    case float64, float32, float16, bfloat16
    case int64, int32, int16, int8
    case uint64, uint32, uint16, uint8
    case bool
    /// A type by a name that this version does not convert.
    case other(String)

    /// The type of a name in a header.
    init(name: String) { self = Self.names[name] ?? .other(name) }

    /// The bytes of a number, `nil` if this version does not know them.
    var byteCount: UInt64? {
        switch self {
        case .float64, .int64, .uint64: 8
        case .float32, .int32, .uint32: 4
        case .float16, .bfloat16, .int16, .uint16: 2
        case .int8, .uint8, .bool: 1
        case .other: nil
        }
    }

    /// The name in a header.
    package var name: String {
        if case .other(let name) = self { return name }
        return Self.names.first { $0.value == self }?.key ?? ""
    }

    private static let names: [String: Self] = [
        "F64": .float64, "F32": .float32, "F16": .float16, "BF16": .bfloat16, "I64": .int64, "I32": .int32,
        "I16": .int16, "I8": .int8, "U64": .uint64, "U32": .uint32, "U16": .uint16, "U8": .uint8, "BOOL": .bool,
    ]
}
