/// Writes the numbers, texts and values of a GGUF header, little endian.
struct GGUFEncoder {
    private(set) var bytes: [UInt8] = []

    mutating func append(_ value: some FixedWidthInteger) {
        withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
    }

    mutating func append(_ text: String) {
        append(UInt64(text.utf8.count))
        bytes.append(contentsOf: text.utf8)
    }

    /// Appends a value without its type.
    mutating func append(_ value: GGUFValue, of key: String) throws(GGUFError) {
        switch value {
        case .uint8(let number): append(number)
        case .int8(let number): append(number)
        case .uint16(let number): append(number)
        case .int16(let number): append(number)
        case .uint32(let number): append(number)
        case .int32(let number): append(number)
        case .uint64(let number): append(number)
        case .int64(let number): append(number)
        case .float32(let number): append(number.bitPattern)
        case .float64(let number): append(number.bitPattern)
        case .bool(let flag): append(UInt8(flag ? 1 : 0))
        case .string(let text): append(text)
        case .longString: throw GGUFWriter.error("a text was not read", key)
        case .array(let array):
            guard let elements = array.elements, elements.count == array.count else {
                throw GGUFWriter.error("a list was not read", key)
            }
            append(array.elementType.rawValue)
            append(array.count)
            for element in elements {
                guard element.type == array.elementType else { throw GGUFWriter.error("a list has two types", key) }
                try append(element, of: key)
            }
        }
    }

    /// Appends zeros up to a multiple of `alignment`.
    mutating func pad(to alignment: Int) {
        while !bytes.count.isMultiple(of: alignment) { bytes.append(0) }
    }
}

extension GGUFValue {
    /// The type of the value in a file.
    var type: GGUFType {
        switch self {
        case .uint8: .uint8
        case .int8: .int8
        case .uint16: .uint16
        case .int16: .int16
        case .uint32: .uint32
        case .int32: .int32
        case .uint64: .uint64
        case .int64: .int64
        case .float32: .float32
        case .float64: .float64
        case .bool: .bool
        case .string, .longString: .string
        case .array: .array
        }
    }

    /// A list of texts.
    package static func texts(_ texts: [String]) -> GGUFValue {
        .array(GGUFArray(elementType: .string, count: UInt64(texts.count), elements: texts.map { .string($0) }))
    }

    /// A list of 32-bit floats.
    package static func floats(_ numbers: [Float]) -> GGUFValue {
        .array(GGUFArray(elementType: .float32, count: UInt64(numbers.count), elements: numbers.map { .float32($0) }))
    }

    /// A list of 32-bit integers.
    package static func integers(_ numbers: [Int32]) -> GGUFValue {
        .array(GGUFArray(elementType: .int32, count: UInt64(numbers.count), elements: numbers.map { .int32($0) }))
    }
}
