import Foundation
import HearthBase

/// Builds valid and invalid GGUF files in memory.
package struct GGUFBuilder: Sendable {
    /// The description of a tensor.
    package struct Tensor: Sendable {
        package var name: String
        package var dimensions: [UInt64]
        package var type: UInt32
        package var offset: UInt64

        package init(name: String, dimensions: [UInt64], type: UInt32 = 0, offset: UInt64 = 0) {
            self.name = name
            self.dimensions = dimensions
            self.type = type
            self.offset = offset
        }
    }

    package var version: UInt32 = 3
    package var entries: [(key: String, value: GGUFValue)] = []
    package var tensors: [Tensor] = []
    /// The number of entries in the header, if it is to be wrong.
    package var claimedEntries: UInt64?
    package var claimedTensors: UInt64?

    package init(version: UInt32 = 3, entries: [(key: String, value: GGUFValue)] = [], tensors: [Tensor] = []) {
        self.version = version
        self.entries = entries
        self.tensors = tensors
    }

    /// The header of a small model: enough for every fact of ``GGUFHeader``.
    package static var small: GGUFBuilder {
        GGUFBuilder(
            entries: [
                ("general.architecture", .string("llama")), ("general.name", .string("Small Test")),
                ("general.license", .string("apache-2.0")), ("general.file_type", .uint32(3)),
                ("llama.context_length", .uint32(2048)), ("llama.block_count", .uint32(2)),
                ("llama.embedding_length", .uint32(64)), ("llama.attention.head_count", .uint32(4)),
                ("llama.attention.head_count_kv", .uint32(2)), ("llama.rope.freq_base", .float32(10000)),
                ("tokenizer.chat_template", .string("{{ messages }}")),
                (
                    "tokenizer.ggml.tokens",
                    .array(GGUFArray(elementType: .string, count: 3, elements: ["a", "b", "é"].map { .string($0) }))
                ),
            ],
            tensors: [
                Tensor(name: "token_embd.weight", dimensions: [64, 3], type: 3, offset: 0),
                Tensor(name: "output_norm.weight", dimensions: [64], type: 0, offset: 128),
            ])
    }

    /// The header without padding and tensor data.
    package func header() -> Data {
        var data = Data("GGUF".utf8)
        data.appendLittleEndian(version)
        data.appendLittleEndian(claimedTensors ?? UInt64(tensors.count))
        data.appendLittleEndian(claimedEntries ?? UInt64(entries.count))
        for (key, value) in entries {
            data.appendText(key)
            data.appendLittleEndian(value.type.rawValue)
            data.append(value)
        }
        for tensor in tensors {
            data.appendText(tensor.name)
            data.appendLittleEndian(UInt32(tensor.dimensions.count))
            for length in tensor.dimensions { data.appendLittleEndian(length) }
            data.appendLittleEndian(tensor.type)
            data.appendLittleEndian(tensor.offset)
        }
        return data
    }
}

extension Data {
    fileprivate mutating func appendLittleEndian(_ value: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: value.littleEndian) { append(contentsOf: $0) }
    }

    fileprivate mutating func appendText(_ text: String) {
        appendLittleEndian(UInt64(text.utf8.count))
        append(contentsOf: text.utf8)
    }

    fileprivate mutating func append(_ value: GGUFValue) {
        switch value {
        case .uint8(let value): appendLittleEndian(value)
        case .int8(let value): appendLittleEndian(value)
        case .uint16(let value): appendLittleEndian(value)
        case .int16(let value): appendLittleEndian(value)
        case .uint32(let value): appendLittleEndian(value)
        case .int32(let value): appendLittleEndian(value)
        case .uint64(let value): appendLittleEndian(value)
        case .int64(let value): appendLittleEndian(value)
        case .float32(let value): appendLittleEndian(value.bitPattern)
        case .float64(let value): appendLittleEndian(value.bitPattern)
        case .bool(let value): append(value ? 1 : 0)
        case .string(let value): appendText(value)
        // Only the length is written, for headers that end there.
        case .longString(let count): appendLittleEndian(count)
        case .array(let array):
            appendLittleEndian(array.elementType.rawValue)
            appendLittleEndian(array.count)
            for element in array.elements ?? [] { append(element) }
        }
    }
}

extension GGUFValue {
    /// The type in the file.
    fileprivate var type: GGUFType {
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
}
