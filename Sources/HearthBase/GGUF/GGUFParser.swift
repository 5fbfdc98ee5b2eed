/// Parses a header with a ``GGUFCursor``.
struct GGUFParser {
    var cursor: GGUFCursor
    let limits: GGUFHeader.Limits
    /// The number of array elements that may still be kept.
    private var elementsLeft: UInt64
    /// The number of string bytes that may still be kept.
    private var stringBytesLeft: UInt64

    init(cursor: GGUFCursor, limits: GGUFHeader.Limits) {
        self.cursor = cursor
        self.limits = limits
        elementsLeft = limits.keptElementsInAll
        stringBytesLeft = limits.keptStringBytesInAll
    }

    // MARK: - Preamble

    mutating func readPreamble() throws -> (version: UInt32, tensors: UInt64, entries: UInt64) {
        let magic: UInt32?
        do {
            magic = try cursor.readInteger()
        } catch let error as GGUFError where error.code == .truncated {
            magic = nil  // A file of fewer than four bytes is not GGUF either.
        }
        guard magic == Self.magic else {
            let kind = FileKind(beginning: try cursor.beginning(FileKind.prefixLength))
            throw cursor.error(
                .notGGUF, "\(cursor.name) is not a GGUF file" + (kind.map { ": it is \($0.name)" } ?? ""),
                expected: "a file that begins with GGUF",
                found: magic.map { "\(String($0.byteSwapped, radix: 16)) (hexadecimal)" } ?? "fewer than 4 bytes",
                remedy: kind?.remedy ?? "Check that it is a model for llama.cpp, and not a page or an archive.")
        }
        let version = try cursor.readInteger(UInt32.self)
        guard version == 2 || version == 3 else {
            let isSwapped = version.byteSwapped == 2 || version.byteSwapped == 3
            throw cursor.error(
                .unsupportedVersion,
                isSwapped
                    ? "\(cursor.name) is in the big-endian form of GGUF"
                    : "\(cursor.name) is of a GGUF version that cannot be read",
                expected: "version 2 or 3, little endian", found: isSwapped ? "big endian" : "version \(version)",
                remedy: "Convert the model again with a current llama.cpp.")
        }
        let tensors = try cursor.readInteger(UInt64.self)
        let entries = try cursor.readInteger(UInt64.self)
        guard tensors <= limits.tensors else {
            throw cursor.corrupt("too many tensors", expected: "at most \(limits.tensors)", found: "\(tensors)")
        }
        guard entries <= limits.entries else {
            throw cursor.corrupt("too much metadata", expected: "at most \(limits.entries)", found: "\(entries)")
        }
        // The smallest entry is the length of its key, a type and a byte; the smallest tensor is two lengths, a type
        // and an offset.
        try cursor.require(entries, each: 13)
        try cursor.require(tensors, each: 24)
        return (version, tensors, entries)
    }

    // MARK: - Metadata

    mutating func readMetadata(count: UInt64) throws -> [String: GGUFValue] {
        var metadata: [String: GGUFValue] = [:]
        for _ in 0..<count {
            let key = try readName("a metadata key")
            let type = try readType(of: key)
            let value = try readValue(type, of: key, depth: 0)
            guard metadata.updateValue(value, forKey: key) == nil else {
                throw cursor.corrupt("a key appears twice", field: key)
            }
        }
        return metadata
    }

    private mutating func readType(of key: String) throws -> GGUFType {
        let number = try cursor.readInteger(UInt32.self)
        guard let type = GGUFType(rawValue: number) else {
            throw cursor.corrupt("a value has no known type", field: key, expected: "0 to 12", found: "\(number)")
        }
        return type
    }

    private mutating func readValue(_ type: GGUFType, of key: String, depth: Int) throws -> GGUFValue {
        switch type {
        case .uint8: .uint8(try cursor.readInteger())
        case .int8: .int8(try cursor.readInteger())
        case .uint16: .uint16(try cursor.readInteger())
        case .int16: .int16(try cursor.readInteger())
        case .uint32: .uint32(try cursor.readInteger())
        case .int32: .int32(try cursor.readInteger())
        case .uint64: .uint64(try cursor.readInteger())
        case .int64: .int64(try cursor.readInteger())
        case .float32: .float32(Float(bitPattern: try cursor.readInteger()))
        case .float64: .float64(Double(bitPattern: try cursor.readInteger()))
        // The engine reads any nonzero byte as true, so a file with one is accepted.
        case .bool: .bool(try cursor.readInteger(UInt8.self) != 0)
        case .string: try readString()
        case .array: .array(try readArray(of: key, depth: depth + 1))
        }
    }

    private mutating func readString() throws -> GGUFValue {
        let count = try cursor.readInteger(UInt64.self)
        guard count <= limits.keptStringBytes, count <= stringBytesLeft else {
            try cursor.skip(count)
            return .longString(byteCount: count)
        }
        stringBytesLeft -= count
        return .string(try cursor.readText(Int(count)))
    }

    private mutating func readArray(of key: String, depth: Int) throws -> GGUFArray {
        guard depth <= limits.depth else {
            throw cursor.corrupt("arrays lie too deep", field: key, expected: "at most \(limits.depth) levels")
        }
        let type = try readType(of: key)
        let count = try cursor.readInteger(UInt64.self)
        try cursor.require(count, each: type.minimumByteCount)
        guard count <= limits.keptElements, count <= elementsLeft else {
            try skip(count, type, of: key, depth: depth)
            return GGUFArray(elementType: type, count: count, elements: nil)
        }
        elementsLeft -= count
        var elements: [GGUFValue] = []
        elements.reserveCapacity(Int(count))
        for _ in 0..<count { elements.append(try readValue(type, of: key, depth: depth)) }
        return GGUFArray(elementType: type, count: count, elements: elements)
    }

    /// Skips the elements of an array; `require` has shown that their number fits the header.
    private mutating func skip(_ count: UInt64, _ type: GGUFType, of key: String, depth: Int) throws {
        if let each = type.byteCount { return try cursor.skip(count * UInt64(each)) }
        if type == .string { return try cursor.skipStrings(count) }
        for _ in 0..<count {
            guard depth < limits.depth else {
                throw cursor.corrupt("arrays lie too deep", field: key, expected: "at most \(limits.depth) levels")
            }
            let inner = try readType(of: key)
            let innerCount = try cursor.readInteger(UInt64.self)
            try cursor.require(innerCount, each: inner.minimumByteCount)
            try skip(innerCount, inner, of: key, depth: depth + 1)
        }
    }

    private mutating func readName(_ what: String) throws -> String {
        let count = try cursor.readInteger(UInt64.self)
        guard (1...limits.nameBytes).contains(count) else {
            throw cursor.corrupt(
                "\(what) has an impossible length", expected: "1 to \(limits.nameBytes) bytes", found: "\(count)")
        }
        let name = try cursor.readText(Int(count))
        guard !name.unicodeScalars.contains("\u{FFFD}") else { throw cursor.corrupt("\(what) is no text") }
        return name
    }

    // MARK: - Tensors

    mutating func readTensors(count: UInt64, metadata: [String: GGUFValue]) throws -> GGUFHeader.Tensors {
        let alignment = try alignment(metadata)
        var parameters: UInt64 = 0
        var bytes: UInt64? = 0
        var dataEnd: UInt64 = 0
        for _ in 0..<count {
            let tensor = try readTensor(alignment: alignment)
            parameters = try add(parameters, tensor.elements, of: tensor.name)
            guard let size = tensor.byteCount else {
                bytes = nil
                continue
            }
            bytes = try bytes.map { try add($0, size, of: tensor.name) }
            dataEnd = max(dataEnd, try add(tensor.offset, size, of: tensor.name))
        }
        // The position is at most the header's limit, and the alignment fits in 32 bits: no overflow.
        let dataOffset = (cursor.position + alignment - 1) / alignment * alignment
        // A file without tensor data may have no padding.
        let fileEnd = try add(dataOffset, dataEnd, of: "the tensor data")
        let rest = fileEnd % alignment
        let padded = rest == 0 ? fileEnd : try add(fileEnd - rest, alignment, of: "the tensor data")
        return GGUFHeader.Tensors(
            dataOffset: dataOffset, parameterCount: parameters, byteCount: bytes,
            minimumFileSize: bytes == nil ? nil : dataEnd == 0 ? cursor.position : fileEnd,
            maximumFileSize: bytes == nil ? nil : padded)
    }

    private mutating func readTensor(alignment: UInt64) throws -> (
        name: String, elements: UInt64, byteCount: UInt64?, offset: UInt64
    ) {
        let name = try readName("a tensor's name")
        let dimensions = try cursor.readInteger(UInt32.self)
        guard dimensions <= 8 else {
            throw cursor.corrupt("a tensor has too many dimensions", field: name, found: "\(dimensions)")
        }
        var elements: UInt64 = 1
        var rowLength: UInt64 = 1
        for index in 0..<dimensions {
            let length = try cursor.readInteger(UInt64.self)
            let (product, overflows) = elements.multipliedReportingOverflow(by: length)
            guard !overflows, product <= Int64.max else {
                throw cursor.corrupt("a tensor is larger than any memory", field: name, found: "\(length)")
            }
            elements = product
            if index == 0 { rowLength = length }
        }
        let type = GGUFTensorType.table[try cursor.readInteger(UInt32.self)]
        let offset = try cursor.readInteger(UInt64.self)
        guard offset.isMultiple(of: alignment) else {
            throw cursor.corrupt(
                "a tensor is not aligned", field: name, expected: "a multiple of \(alignment)", found: "\(offset)")
        }
        guard let type else { return (name, elements, nil, offset) }
        guard rowLength.isMultiple(of: type.blockLength) else {
            throw cursor.corrupt(
                "a tensor's rows are not whole blocks", field: name, expected: "a multiple of \(type.blockLength)",
                found: "\(rowLength)")
        }
        let (size, overflows) = (elements / type.blockLength).multipliedReportingOverflow(by: type.blockBytes)
        guard !overflows else { throw cursor.corrupt("a tensor is larger than any memory", field: name) }
        return (name, elements, size, offset)
    }

    private func add(_ sum: UInt64, _ part: UInt64, of name: String) throws -> UInt64 {
        let (result, overflows) = sum.addingReportingOverflow(part)
        guard !overflows else { throw cursor.corrupt("the tensors are larger than any disk", field: name) }
        return result
    }

    private func alignment(_ metadata: [String: GGUFValue]) throws -> UInt64 {
        guard let value = metadata["general.alignment"] else { return 32 }
        guard case .uint32(let number) = value, number > 0, number.nonzeroBitCount == 1 else {
            throw cursor.corrupt(
                "the alignment is no power of two", field: "general.alignment", expected: "a 32-bit power of two",
                found: value.integer.map(String.init))
        }
        return UInt64(number)
    }

    /// `GGUF`, read as a little-endian number.
    private static let magic: UInt32 = 0x4655_4747
}
