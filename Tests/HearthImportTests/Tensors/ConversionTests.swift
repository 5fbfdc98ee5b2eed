import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthImport

/// The conversions of rows against their definitions.
@Suite struct ConversionTests {
    /// Runs a conversion on buffers with these bytes.
    private static func run(
        _ conversion: Conversion, rows: Int, columns: Int, head: Int = 0, weights: Data, scales: Data = Data(),
        biases: Data = Data(), outputBytes: Int
    ) -> (bytes: [UInt8], losses: ConversionLosses)? {
        func copy(_ data: Data) -> UnsafeMutableRawBufferPointer {
            let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: max(1, data.count), alignment: 1)
            data.copyBytes(to: UnsafeMutableRawBufferPointer(rebasing: buffer[..<data.count]))
            return buffer
        }
        let buffers = RowBuffers(
            weights: copy(weights), scales: copy(scales), biases: copy(biases), output: copy(Data(count: outputBytes)))
        defer {
            for buffer in [buffers.weights, buffers.scales, buffers.biases, buffers.output] { buffer.deallocate() }
        }
        guard let losses = conversion.run(rows: rows, columns: columns, head: head, buffers) else { return nil }
        return ([UInt8](buffers.output[..<outputBytes]), losses)
    }

    private static func bytes(_ values: [Float16]) -> Data { values.withUnsafeBytes { Data($0) } }
    private static func bytes(_ values: [Float]) -> Data { values.withUnsafeBytes { Data($0) } }
    private static func half(_ bytes: ArraySlice<UInt8>) -> Float {
        let first = bytes.startIndex
        return Float(Float16(bitPattern: UInt16(bytes[first]) | UInt16(bytes[first + 1]) << 8))
    }

    /// The numbers of GGUF's blocks, by their definition in ggml-common.h.
    private static func numbers(_ bytes: [UInt8], _ storage: GGUFStorage) -> [Float] {
        stride(from: 0, to: bytes.count, by: Int(storage.block.bytes)).flatMap { start -> [Float] in
            let block = bytes[start..<start + Int(storage.block.bytes)]
            let scale = half(block)
            let rest = Array(block.dropFirst(storage == .q8_0 ? 2 : 4))
            if storage == .q8_0 { return rest.map { Float(Int8(bitPattern: $0)) * scale } }
            let bias = half(block.dropFirst(2))
            let fifth = storage == .q5_1 ? rest.prefix(4).reversed().reduce(0) { $0 << 8 | UInt32($1) } : 0
            let low = rest.dropFirst(storage == .q5_1 ? 4 : 0)
            return (0..<32).map { index in
                let byte = low[low.startIndex + index % 16]
                let value = UInt32(index < 16 ? byte & 15 : byte >> 4) | (fifth >> UInt32(index) & 1) << 4
                return Float(value) * scale + bias
            }
        }
    }

    /// Integers of `bits` in one stream for a row, least significant first.
    private static func pack(_ values: [Int], bits: Int) -> Data {
        var data = Data(count: values.count * bits / 8)
        for (index, value) in values.enumerated() {
            for bit in 0..<bits where value >> bit & 1 == 1 {
                data[(index * bits + bit) / 8] |= 1 << UInt8((index * bits + bit) % 8)
            }
        }
        return data
    }

    @Test(arguments: [2, 3, 4, 5, 6, 8], [32, 64, 128]) func groupsKeepTheirNumbers(_ bits: Int, _ group: Int) throws {
        var random = SeededGenerator(seed: UInt64(bits * 1000 + group))
        let (rows, columns) = (4, 256)
        let values = (0..<rows).map { _ in (0..<columns).map { _ in Int.random(in: 0..<1 << bits, using: &random) } }
        let count = rows * columns / group
        let scales = (0..<count).map { _ in Float16(Float.random(in: 0.001...0.1, using: &random)) }
        // As MLX chooses them: about a whole number of scales, so that zero stays zero.
        let biases = scales.map { Float16(-Float($0) * Float(1 << (bits - 1))) }
        let storage = Quantization.Form(mode: .affine, bits: bits, groupSize: group).storage
        let blocks = rows * columns / 32
        let result = try #require(
            Self.run(
                .affine(bits: bits, groupSize: group, scales: .float16, storage: storage), rows: rows, columns: columns,
                weights: values.reduce(Data()) { $0 + Self.pack($1, bits: bits) }, scales: Self.bytes(scales),
                biases: Self.bytes(biases), outputBytes: blocks * Int(storage.block.bytes)))
        let found = Self.numbers(result.bytes, storage)
        let wanted = (0..<rows * columns).map { index in
            Float(values[index / columns][index % columns]) * Float(scales[index / group])
                + Float(biases[index / group])
        }
        // The bias is a whole number of scales but for its own rounding.
        let tolerance: Float = storage == .q8_0 ? 1e-4 * 128 : 0
        #expect(zip(found, wanted).allSatisfy { abs($0 - $1) <= tolerance * abs($1) + (storage == .q8_0 ? 0.01 : 0) })
        if storage != .q8_0 { #expect(found == wanted) }
        #expect(result.losses.roundedScales == 0)
    }

    @Test func groupsOfEightBitsAroundTheirMiddleStayExact() throws {
        let values = (0..<32).map { $0 * 8 }
        let result = try #require(
            Self.run(
                .affine(bits: 8, groupSize: 32, scales: .float32, storage: .q8_0), rows: 1, columns: 32,
                weights: Self.pack(values, bits: 8), scales: Self.bytes([Float(0.25)]),
                biases: Self.bytes([Float(-32)]),
                outputBytes: 34))
        #expect(Self.numbers(result.bytes, .q8_0) == values.map { Float($0) * 0.25 - 32 })
        #expect(result.losses == ConversionLosses())
    }

    @Test func groupsOfEightBitsAreRoundedByLessThanAStep() throws {
        var random = SeededGenerator(seed: 9)
        for _ in 0..<200 {
            let values = (0..<32).map { _ in Int.random(in: 0...255, using: &random) }
            let scale = Float(Float16(Float.random(in: -0.1...0.1, using: &random)))
            let bias = Float(Float16(Float.random(in: -10...10, using: &random)))
            let result = try #require(
                Self.run(
                    .affine(bits: 8, groupSize: 32, scales: .float32, storage: .q8_0), rows: 1, columns: 32,
                    weights: Self.pack(values, bits: 8), scales: Self.bytes([scale]), biases: Self.bytes([bias]),
                    outputBytes: 34))
            let wanted = values.map { Float($0) * scale + bias }
            let largest = wanted.map(abs).max() ?? 0
            let worst = zip(Self.numbers(result.bytes, .q8_0), wanted).map { abs($0 - $1) }.max() ?? 0
            #expect(worst <= largest / 254 + largest / 2000)
        }
    }

    @Test func scalesThatAHalfCannotHoldAreCounted() throws {
        let scales: [Float] = [0.1, 0.5, 1e-6, 65504]
        let result = try #require(
            Self.run(
                .affine(bits: 4, groupSize: 32, scales: .float32, storage: .q4_1), rows: 4, columns: 32,
                weights: Data(count: 64), scales: Self.bytes(scales),
                biases: Self.bytes([Float](repeating: 0, count: 4)),
                outputBytes: 80))
        #expect(result.losses.roundedScales == 2)
    }

    @Test(arguments: [Float.nan, .infinity, -.infinity, 65505, -1e30], [true, false])
    func scalesThatAreNoNumbersAreRefused(_ number: Float, _ isBias: Bool) {
        let (bad, good) = (Self.bytes([number]), Self.bytes([Float(1)]))
        for storage in [GGUFStorage.q4_1, .q5_1, .q8_0] {
            let result = Self.run(
                .affine(bits: 4, groupSize: 32, scales: .float32, storage: storage), rows: 1, columns: 32,
                weights: Data(count: 16), scales: isBias ? good : bad, biases: isBias ? bad : good,
                outputBytes: Int(storage.block.bytes))
            #expect(result == nil)
        }
        #expect(
            Self.run(
                .round(.float32), rows: 1, columns: 32,
                weights: Self.bytes([number * 1e4] + [Float](repeating: 0, count: 31)), outputBytes: 34) == nil)
    }

    @Test func headsAreInterleavedInEveryForm() throws {
        // Rows of two heads of 6: 0 3 1 4 2 5, then 6 9 7 10 8 11.
        let order = [0, 3, 1, 4, 2, 5, 6, 9, 7, 10, 8, 11]
        let weights = Data((0..<12).flatMap { row in [UInt8](repeating: UInt8(row), count: 64) })
        let copied = Self.run(
            .copy(byteCount: 2), rows: 12, columns: 32, head: 6, weights: weights, outputBytes: 12 * 64)
        #expect(copied?.bytes.enumerated().filter { $0.offset % 64 == 0 }.map { Int($0.element) } == order)
        let floats = Self.run(
            .floats(.float32, shift: 1), rows: 12, columns: 1, head: 6, weights: Self.bytes((0..<12).map(Float.init)),
            outputBytes: 48)
        let numbers = floats?.bytes.withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
        #expect(numbers == order.map { Float($0) + 1 })
        let groups = Self.run(
            .affine(bits: 4, groupSize: 32, scales: .float16, storage: .q4_1), rows: 12, columns: 32, head: 6,
            weights: Data((0..<12).flatMap { row in [UInt8](repeating: UInt8(row) | UInt8(row) << 4, count: 16) }),
            scales: Self.bytes((0..<12).map { Float16($0) }), biases: Self.bytes((0..<12).map { Float16(-$0) }),
            outputBytes: 240)
        #expect(
            groups.map { Self.numbers($0.bytes, .q4_1) }
                == order.flatMap { row in
                    [Float](repeating: Float(row * row - row), count: 32)
                })
    }

    @Test func codesOfMXFP4KeepTheirOrder() throws {
        let codes = (0..<32).map { $0 % 16 }
        let result = try #require(
            Self.run(
                .mxfp4, rows: 1, columns: 32, weights: Self.pack(codes, bits: 4), scales: Data([130]), outputBytes: 17))
        #expect(result.bytes[0] == 130)
        #expect((0..<16).map { Int(result.bytes[1 + $0] & 15) } == Array(codes.prefix(16)))
        #expect((0..<16).map { Int(result.bytes[1 + $0] >> 4) } == Array(codes.suffix(16)))
    }

    @Test(arguments: [Conversion.Number.float32, .float16, .bfloat16]) func floatsAreRounded(
        _ number: Conversion.Number
    ) throws {
        let values = (0..<64).map { Float($0 - 32) }
        var builder = SafetensorsBuilder()
        let type = [Conversion.Number.float32: "F32", .float16: "F16", .bfloat16: "BF16"][number] ?? ""
        builder.add("x", [64], as: type, values)
        let result = try #require(
            Self.run(.round(number), rows: 1, columns: 64, weights: builder.tensors[0].bytes, outputBytes: 68))
        let found = Self.numbers(result.bytes, .q8_0)
        #expect(zip(found, values).allSatisfy { abs($0 - $1) <= 32.0 / 254 + 0.01 })
    }
}
