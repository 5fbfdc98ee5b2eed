import Foundation

/// Builds safetensors files in memory.
package struct SafetensorsBuilder {
    /// A tensor with its bytes.
    package struct Tensor {
        package var name: String
        package var type: String
        package var shape: [Int]
        package var bytes: Data
    }

    package var tensors: [Tensor] = []
    package var format: String? = "mlx"

    package init() {}

    /// Adds a tensor of 32-bit floats that are stored in a type.
    package mutating func add(_ name: String, _ shape: [Int], as type: String = "F32", _ numbers: [Float]) {
        var bytes = Data()
        for number in numbers {
            switch type {
            case "F16": withUnsafeBytes(of: Float16(number)) { bytes.append(contentsOf: $0) }
            case "BF16": withUnsafeBytes(of: UInt16(number.bitPattern >> 16)) { bytes.append(contentsOf: $0) }
            default: withUnsafeBytes(of: number) { bytes.append(contentsOf: $0) }
            }
        }
        tensors.append(Tensor(name: name, type: type, shape: shape, bytes: bytes))
    }

    /// Adds a tensor of bytes.
    package mutating func add(_ name: String, _ shape: [Int], type: String, _ bytes: some Sequence<UInt8>) {
        tensors.append(Tensor(name: name, type: type, shape: shape, bytes: Data(bytes)))
    }

    /// The file.
    package var data: Data {
        var (members, offset): ([String], Int) = ([], 0)
        if let format { members.append("\"__metadata__\":{\"format\":\"\(format)\"}") }
        for tensor in tensors {
            let end = offset + tensor.bytes.count
            members.append(
                "\"\(tensor.name)\":{\"dtype\":\"\(tensor.type)\",\"shape\":\(tensor.shape),\"data_offsets\":[\(offset),\(end)]}"
            )
            offset = end
        }
        return Self.file("{\(members.joined(separator: ","))}") + tensors.reduce(Data()) { $0 + $1.bytes }
    }

    /// The length of a header and the header.
    package static func file(_ header: String, length: UInt64? = nil) -> Data {
        var data = Data()
        withUnsafeBytes(of: (length ?? UInt64(header.utf8.count)).littleEndian) { data.append(contentsOf: $0) }
        return data + Data(header.utf8)
    }
}
