import Foundation
import HearthBase

/// The header of a safetensors file: the tensors with their types, shapes and places.
///
/// The file begins with the length of the header in eight bytes, then JSON, then the numbers of the tensors without gaps
/// (<https://github.com/huggingface/safetensors>). The file may come from any publisher: all lengths are checked, and
/// the tensors must cover the rest of the file exactly.
package struct SafetensorsHeader: Sendable, Hashable {
    /// A tensor of the file.
    package struct Tensor: Sendable, Hashable {
        package let name: String
        package let type: SafetensorsType
        /// The numbers of elements, those of a row last.
        package let shape: [UInt64]
        /// The place of the numbers in the file.
        package let range: Range<UInt64>
    }

    /// The tensors in the order of their places.
    package let tensors: [Tensor]
    /// The texts under `__metadata__`, such as `format`.
    package let metadata: [String: String]
    /// The bytes of the whole file.
    package let fileSize: UInt64

    /// The most bytes of the JSON: a dense model of 126 layers has about half a million.
    package static let maximumByteCount: UInt64 = 8 << 20
    /// The most tensors of a file.
    package static let maximumTensorCount = 50_000

    /// The number of bytes to read for a header, from its first eight bytes.
    /// - Throws: ``ImportError`` with `damaged` if there are fewer than eight or the header is too large.
    package static func byteCount(of beginning: Data, name: String) throws(ImportError) -> UInt64 {
        guard beginning.count >= 8 else {
            throw .damaged("it has no header", file: name, expected: "at least 8 bytes", found: "\(beginning.count)")
        }
        let count = beginning.prefix(8).enumerated().reduce(0 as UInt64) { $0 | UInt64($1.element) << (8 * $1.offset) }
        guard count <= maximumByteCount else {
            throw .damaged(
                "its header is larger than a model's can be", file: name, expected: "at most \(maximumByteCount) bytes",
                found: "\(count)")
        }
        return 8 + count
    }

    /// Reads a header.
    /// - Parameters:
    ///   - data: the beginning of the file, at least the whole header.
    ///   - name: the file's name in messages.
    ///   - size: the bytes of the file; `nil` if only the header is known, as for a range from a server.
    /// - Throws: ``ImportError`` with `damaged`.
    package init(parsing data: Data, name: String, size: UInt64? = nil) throws(ImportError) {
        let end = try Self.byteCount(of: data, name: name)
        guard data.count >= end else {
            throw .damaged("its header is cut off", file: name, expected: "\(end) bytes", found: "\(data.count)")
        }
        let members: JSONMembers
        do {
            guard let object = try JSONValue(parsing: data.prefix(Int(end)).dropFirst(8)).members else {
                throw ImportError.damaged("its header is no object", file: name)
            }
            members = object
        } catch let error as ImportError {
            throw error
        } catch {
            throw .damaged("its header is no JSON", file: name, found: "\(error)")
        }
        guard members.count <= Self.maximumTensorCount else {
            throw .damaged(
                "it has too many tensors", file: name, expected: "at most \(Self.maximumTensorCount)",
                found: "\(members.count)")
        }
        var tensors: [Tensor] = []
        for (key, value) in members where key != "__metadata__" {
            tensors.append(try Tensor(name: key, value, dataOffset: end, file: name))
        }
        tensors.sort { ($0.range.lowerBound, $0.range.upperBound) < ($1.range.lowerBound, $1.range.upperBound) }
        var position = end
        for tensor in tensors {
            guard tensor.range.lowerBound == position else {
                throw .damaged(
                    tensor.range.lowerBound < position ? "two tensors overlap" : "a gap is before a tensor", file: name,
                    field: tensor.name, expected: "\(position)", found: "\(tensor.range.lowerBound)")
            }
            position = tensor.range.upperBound
        }
        guard size == nil || size == position else {
            throw .damaged(
                "its length is not what its header says", file: name, expected: "\(position) bytes",
                found: "\(size ?? 0)")
        }
        self.tensors = tensors
        fileSize = position
        metadata = (members["__metadata__"]?.members ?? JSONMembers()).mapValues { $0.string ?? "" }
    }
}

extension SafetensorsHeader.Tensor {
    init(name: String, _ value: JSONValue, dataOffset: UInt64, file: String) throws(ImportError) {
        func damaged(_ problem: String, found: JSONValue? = nil) -> ImportError {
            .damaged(problem, file: file, field: name, found: found?.kind)
        }
        guard name.utf8.count <= 1024 else { throw damaged("the name of a tensor is too long") }
        guard let typeName = value["dtype"]?.string, typeName.utf8.count <= 32 else {
            throw damaged("a tensor has no type", found: value["dtype"])
        }
        guard let lengths = value["shape"]?.items, lengths.count <= 8 else {
            throw damaged("a tensor has no shape of at most 8 lengths", found: value["shape"])
        }
        var (shape, elements): ([UInt64], UInt64) = ([], 1)
        for length in lengths {
            guard let number = length.unsigned else {
                throw damaged("a shape is no list of whole numbers", found: length)
            }
            let (product, overflows) = elements.multipliedReportingOverflow(by: number)
            guard !overflows, product < 1 << 56 else {
                throw damaged("a tensor is larger than any memory", found: length)
            }
            shape.append(number)
            elements = product
        }
        guard let offsets = value["data_offsets"]?.items, offsets.count == 2, let start = offsets[0].unsigned,
            let end = offsets[1].unsigned, start <= end, end < 1 << 60
        else { throw damaged("a tensor has no place", found: value["data_offsets"]) }
        let type = SafetensorsType(name: typeName)
        if let each = type.byteCount, elements * each != end - start {
            throw .damaged(
                "a tensor's length is not that of its shape", file: file, field: name, expected: "\(elements * each)",
                found: "\(end - start)")
        }
        self.init(name: name, type: type, shape: shape, range: dataOffset + start..<dataOffset + end)
    }
}

extension JSONValue {
    /// A whole number without a sign, exponent or fraction.
    var unsigned: UInt64? { if case .number(let digits) = self { UInt64(digits) } else { nil } }
}
