import Foundation
import HearthBase

/// A GGUF file in memory whose values can be changed: a model that loads and computes something else.
package struct AlteredModel {
    package var data: Data
    /// The places of the tensors' bytes, with the padding behind them.
    private var tensors: [String: Range<Int>] = [:]
    /// The places of the elements of arrays of 32-bit numbers in the metadata.
    private var arrays: [String: Range<Int>] = [:]

    package init(_ path: Path) throws {
        data = try Data(contentsOf: URL(fileURLWithPath: path.string))
        var reader = Reader(data: data, position: 8)
        let (tensorCount, factCount) = (reader.count(), reader.count())
        for _ in 0..<factCount {
            let key = reader.text()
            let type = reader.number()
            let begin = reader.position
            reader.skip(type)
            if type == 9 { arrays[key] = begin + 12..<reader.position }
        }
        var places: [(name: String, offset: Int)] = []
        for _ in 0..<tensorCount {
            let name = reader.text()
            reader.position += 8 * Int(reader.number()) + 4
            places.append((name, reader.count()))
        }
        let start = (reader.position + 31) / 32 * 32
        for (index, place) in places.enumerated() {
            let end = index + 1 < places.count ? start + places[index + 1].offset : data.count
            tensors[place.name] = start + place.offset..<end
        }
    }

    /// Gives all values of a tensor of 32-bit numbers one value.
    package mutating func fill(_ tensor: String, _ value: Float) throws {
        try set(place(of: tensor), to: value.bitPattern)
    }

    /// Gives all elements of an array of 32-bit numbers in the metadata one value.
    package mutating func fill(array key: String, _ value: UInt32) throws { try set(required(arrays[key]), to: value) }

    /// Changes one byte of a tensor.
    package mutating func change(_ tensor: String, at offset: Int = 0, _ change: (UInt8) -> UInt8) throws {
        let index = try place(of: tensor).lowerBound + offset
        data[index] = change(data[index])
    }

    /// Makes the scale of one block, which comes first in it, NaN.
    package mutating func spoil(_ tensor: String, block: Int, of size: Int) throws {
        try change(tensor, at: block * size) { _ in 0 }
        try change(tensor, at: block * size + 1) { _ in 0x7E }
    }

    /// Takes the model's layers their effect, and gives all tokens the vector of one, which it has twice: the model writes that
    /// token for ever.
    /// - Parameter row: the bytes of a token's vector, in blocks of 34 bytes (Q8_0).
    package mutating func loop(row: Int, token: Int) throws {
        for (name, place) in tensors where name.hasSuffix("attn_output.weight") || name.hasSuffix("ffn_down.weight") {
            data.replaceSubrange(place, with: Data(count: place.count))
        }
        try fill("output_norm.weight", 1)
        let table = try place(of: "token_embd.weight")
        let start = table.lowerBound + token * row
        let vector = Data(data[start..<start + row])
        var all = Data(capacity: table.count)
        for _ in 0..<table.count / row { all.append(vector) }
        data.replaceSubrange(table, with: all)
        // One more in the exponent of a half-precision number doubles it.
        for block in stride(from: 0, to: row, by: 34) { data[start + block + 1] += 4 }
    }

    private func place(of tensor: String) throws -> Range<Int> { try required(tensors[tensor]) }

    private mutating func set(_ place: Range<Int>, to value: UInt32) {
        let bytes = Swift.withUnsafeBytes(of: value.littleEndian) { Data($0) }
        var all = Data(capacity: place.count)
        for _ in 0..<place.count / 4 { all.append(bytes) }
        data.replaceSubrange(place.lowerBound..<place.lowerBound + all.count, with: all)
    }

    /// Reads a header that is known to be whole.
    private struct Reader {
        let data: Data
        var position: Int

        mutating func count() -> Int { Int(take(UInt64.self)) }
        mutating func number() -> UInt32 { take(UInt32.self) }

        mutating func text() -> String {
            let length = count()
            defer { position += length }
            return String(decoding: data[position..<position + length], as: UTF8.self)
        }

        mutating func skip(_ type: UInt32) {
            switch type {
            case 0, 1, 7: position += 1
            case 2, 3: position += 2
            case 4, 5, 6: position += 4
            case 8: _ = text()
            case 9:
                let element = number()
                for _ in 0..<count() { skip(element) }
            default: position += 8
            }
        }

        private mutating func take<Number: FixedWidthInteger>(_ type: Number.Type) -> Number {
            defer { position += MemoryLayout<Number>.size }
            return data.withUnsafeBytes {
                Number(littleEndian: $0.loadUnaligned(fromByteOffset: position, as: Number.self))
            }
        }
    }
}
