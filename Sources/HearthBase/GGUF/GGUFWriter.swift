/// The header of a GGUF file to write, version 3, and the place of each tensor's bytes.
///
/// ```swift
/// let writer = try GGUFWriter(metadata: [("general.architecture", .string("llama"))], tensors: tensors)
/// // Write `writer.header` at 0 and the bytes of `tensors[index]` at `writer.offsets[index]`.
/// ```
package struct GGUFWriter: Sendable {
    /// A tensor by its name, shape and type.
    package struct Tensor: Sendable, Hashable {
        package let name: String
        /// The numbers of elements, those of a row first.
        package let shape: [UInt64]
        package let storage: GGUFStorage

        /// Describes a tensor.
        package init(name: String, shape: [UInt64], storage: GGUFStorage) {
            self.name = name
            self.shape = shape
            self.storage = storage
        }
    }

    /// The bytes before the tensors, with the padding.
    package let header: [UInt8]
    /// The place of each tensor's first byte in the file, in the order of the tensors.
    package let offsets: [UInt64]
    /// The bytes of each tensor, without padding.
    package let byteCounts: [UInt64]
    /// The bytes of the whole file.
    package let fileSize: UInt64

    /// Lays out a file.
    /// - Parameters:
    ///   - metadata: the entries in their order; the alignment stays 32, so `general.alignment` is not among them.
    ///   - tensors: the tensors in their order.
    /// - Throws: ``GGUFError`` with `gguf-corrupt` for two entries or tensors of one name, a tensor whose rows are not
    ///   whole blocks, a value that was not kept (``GGUFValue/longString(byteCount:)``), a list whose elements have
    ///   another type, or a size past 2^63.
    package init(metadata: [(key: String, value: GGUFValue)], tensors: [Tensor]) throws(GGUFError) {
        var encoder = GGUFEncoder()
        encoder.append(0x4655_4747 as UInt32)
        encoder.append(3 as UInt32)
        encoder.append(UInt64(tensors.count))
        encoder.append(UInt64(metadata.count))
        var names: Set<String> = []
        for (key, value) in metadata {
            guard names.insert(key).inserted else { throw Self.error("a key appears twice", key) }
            encoder.append(key)
            encoder.append(value.type.rawValue)
            try encoder.append(value, of: key)
        }
        names = []
        var (offsets, byteCounts, end): ([UInt64], [UInt64], UInt64) = ([], [], 0)
        for tensor in tensors {
            guard names.insert(tensor.name).inserted else { throw Self.error("a tensor appears twice", tensor.name) }
            let size = try tensor.byteCount()
            encoder.append(tensor.name)
            encoder.append(UInt32(tensor.shape.count))
            for length in tensor.shape { encoder.append(length) }
            encoder.append(tensor.storage.rawValue)
            encoder.append(end)
            offsets.append(end)
            byteCounts.append(size)
            let (next, overflows) = end.addingReportingOverflow((size + Self.alignment - 1) & ~(Self.alignment - 1))
            guard !overflows, next <= Int64.max else { throw Self.error("the tensors are too large", tensor.name) }
            end = next
        }
        encoder.pad(to: Int(Self.alignment))
        let start = UInt64(encoder.bytes.count)
        let (size, overflows) = start.addingReportingOverflow(end)
        guard !overflows, size <= Int64.max else { throw Self.error("the tensors are too large", "") }
        header = encoder.bytes
        self.offsets = offsets.map { start + $0 }
        self.byteCounts = byteCounts
        fileSize = size
    }

    /// The default of `general.alignment`.
    static let alignment: UInt64 = 32

    static func error(_ problem: String, _ field: String) -> GGUFError {
        GGUFError(.corrupt, "cannot write a GGUF header: \(problem)", context: ErrorContext(field: field))
    }
}

extension GGUFWriter.Tensor {
    /// The bytes of the tensor, without padding.
    /// - Throws: ``GGUFError`` with `gguf-corrupt` for rows that are not whole blocks, and for a size past 2^62.
    package func byteCount() throws(GGUFError) -> UInt64 {
        let elements = shape.reduce(UInt64?(1)) { product, length in
            guard let (value, overflows) = product?.multipliedReportingOverflow(by: length) else { return nil }
            return overflows ? nil : value
        }
        guard let elements, elements < 1 << 59 else { throw GGUFWriter.error("a tensor is too large", name) }
        let block = storage.block
        guard (shape.first ?? 1).isMultiple(of: block.length) else {
            throw GGUFWriter.error("a tensor's rows are not whole blocks", name)
        }
        return elements / block.length * block.bytes
    }
}

/// The types of tensors that this package writes, with their numbers in the file (`ggml_type` in ggml.h).
package enum GGUFStorage: UInt32, Sendable, Hashable, CaseIterable {
    case f32 = 0
    case f16 = 1
    case q4_1 = 3
    case q5_1 = 7
    case q8_0 = 8
    case bf16 = 30
    case mxfp4 = 39

    /// The weights and the bytes of one block.
    package var block: (length: UInt64, bytes: UInt64) {
        switch self {
        case .f32: (1, 4)
        case .f16, .bf16: (1, 2)
        case .q4_1: (32, 20)
        case .q5_1: (32, 24)
        case .q8_0: (32, 34)
        case .mxfp4: (32, 17)
        }
    }

    /// The number of files that consist mostly of this type (`llama_ftype` in llama.h).
    package var fileType: UInt32 {
        switch self {
        case .f32: 0
        case .f16: 1
        case .q4_1: 3
        case .q8_0: 7
        case .q5_1: 9
        case .bf16: 32
        case .mxfp4: 38
        }
    }
}
