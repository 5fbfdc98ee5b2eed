import Foundation
import Testing

@testable import HearthBase

/// Written headers, read again by the reader of this package.
@Suite struct GGUFWriterTests {
    private static func read(_ writer: GGUFWriter) throws -> GGUFHeader {
        try GGUFHeader(data: Data(writer.header))
    }

    @Test func everyValueIsReadAgain() throws {
        let values: [(key: String, value: GGUFValue)] = [
            ("general.architecture", .string("llama")), ("a", .uint8(1)), ("b", .int8(-1)), ("c", .uint16(2)),
            ("d", .int16(-2)), ("e", .uint32(3)), ("f", .int32(-3)), ("g", .uint64(4)), ("h", .int64(-4)),
            ("i", .float32(0.5)), ("j", .float64(-0.25)), ("k", .bool(true)), ("l", .string("größer")),
            ("m", .texts(["a", "", "b c"])), ("n", .floats([1, -1])), ("o", .integers([7])),
            (
                "p",
                .array(GGUFArray(elementType: .array, count: 2, elements: [.integers([1]), .integers([])]))
            ),
        ]
        let header = try Self.read(try GGUFWriter(metadata: values, tensors: []))
        for (key, value) in values { #expect(header.metadata[key] == value, "\(key)") }
    }

    @Test func tensorsLieOneAfterAnother() throws {
        let tensors = [
            GGUFWriter.Tensor(name: "a", shape: [3], storage: .f32),
            GGUFWriter.Tensor(name: "b", shape: [64, 5], storage: .q4_1),
            GGUFWriter.Tensor(name: "c", shape: [32, 2], storage: .mxfp4),
        ]
        let writer = try GGUFWriter(metadata: [("general.architecture", .string("x"))], tensors: tensors)
        #expect(writer.byteCounts == [12, 200, 34])
        #expect(writer.offsets.map { $0 % 32 } == [0, 0, 0])
        #expect(writer.offsets[0] == UInt64(writer.header.count))
        #expect(writer.offsets.map { $0 - writer.offsets[0] } == [0, 32, 256])
        #expect(writer.fileSize == writer.offsets[2] + 64)
        let header = try Self.read(writer)
        #expect(header.tensors?.dataOffset == writer.offsets[0])
        #expect(header.tensors?.byteCount == 246)
        #expect(header.tensors?.parameterCount == 3 + 320 + 64)
    }

    @Test(arguments: GGUFStorage.allCases) func blocksAreThoseOfTheReader(_ storage: GGUFStorage) throws {
        let known = try #require(GGUFTensorType.table[storage.rawValue])
        #expect(known == storage.block)
    }

    @Test func valuesThatWereNotReadAreRefused() {
        for value in [
            GGUFValue.longString(byteCount: 3), .array(GGUFArray(elementType: .uint8, count: 1, elements: nil)),
            .array(GGUFArray(elementType: .uint8, count: 2, elements: [.uint8(1)])),
            .array(GGUFArray(elementType: .uint8, count: 1, elements: [.int8(1)])),
        ] {
            let error = #expect(throws: GGUFError.self) { try GGUFWriter(metadata: [("a", value)], tensors: []) }
            #expect(error?.code == .corrupt)
        }
    }

    @Test func namesThatAppearTwiceAreRefused() {
        let tensor = GGUFWriter.Tensor(name: "a", shape: [1], storage: .f32)
        #expect(throws: GGUFError.self) {
            try GGUFWriter(metadata: [("a", .bool(true)), ("a", .bool(true))], tensors: [])
        }
        #expect(throws: GGUFError.self) { try GGUFWriter(metadata: [], tensors: [tensor, tensor]) }
    }

    @Test(arguments: [[31], [33, 2], [1 << 40, 1 << 40], [UInt64.max]]) func impossibleShapesAreRefused(
        _ shape: [UInt64]
    ) {
        #expect(throws: GGUFError.self) {
            try GGUFWriter(
                metadata: [], tensors: [GGUFWriter.Tensor(name: "a", shape: shape, storage: .q4_1)])
        }
    }
}
