import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthImport

/// Headers of safetensors files, good and hostile.
@Suite struct SafetensorsHeaderTests {
    @Test func aHeaderListsItsTensorsInTheOrderOfTheirPlaces() throws {
        var builder = SafetensorsBuilder()
        builder.add("b", [2, 3], as: "BF16", [1, 2, 3, 4, 5, 6])
        builder.add("a", [2], [1, 2])
        let header = try SafetensorsHeader(parsing: builder.data, name: "m", size: UInt64(builder.data.count))
        #expect(header.tensors.map(\.name) == ["b", "a"])
        #expect(header.tensors.map(\.type) == [.bfloat16, .float32])
        #expect(header.tensors[0].shape == [2, 3])
        #expect(header.tensors[0].range.count == 12)
        #expect(header.metadata == ["format": "mlx"])
        #expect(header.fileSize == UInt64(builder.data.count))
    }

    @Test func aHeaderMayBePaddedAndHaveUnknownTypes() throws {
        let data = SafetensorsBuilder.file(
            #"{"x":{"dtype":"F4_E9","shape":[64],"data_offsets":[0,3]}}     "#)
        let header = try SafetensorsHeader(parsing: data, name: "m")
        #expect(header.tensors[0].type == .other("F4_E9"))
        #expect(header.fileSize == UInt64(data.count + 3))
    }

    /// A tensor of one float with its members replaced.
    private static func tensor(
        type: String = #""F32""#, shape: String = "[1]", offsets: String = "[0,4]"
    ) -> String { #"{"x":{"dtype":\#(type),"shape":\#(shape),"data_offsets":\#(offsets)}}"# }

    @Test(arguments: [
        "", "null", "[]", "{", "\u{1}", #"{"x":1}"#, #"{"x":{}}"#, #"{"x":{"dtype":"F32"}}"#,
        #"{"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"x":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}"#,
        #"{"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"y":{"dtype":"F32","shape":[1],"data_offsets":[2,6]}}"#,
        #"{"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"y":{"dtype":"F32","shape":[1],"data_offsets":[5,9]}}"#,
        tensor(type: "1"), tensor(type: "\"\(String(repeating: "F", count: 100))\""), tensor(shape: "[-1]"),
        tensor(shape: "[NaN]"), tensor(shape: "[1.5]"), tensor(shape: "[1e3]"), tensor(shape: "1"),
        tensor(shape: "[18446744073709551615]"), tensor(shape: "[4294967296,4294967296,4294967296]"),
        tensor(shape: "[99999999999999999999999]"), tensor(shape: "[1,1,1,1,1,1,1,1,1]"), tensor(shape: "[2]"),
        tensor(offsets: "[4,0]"), tensor(offsets: "[0,-4]"), tensor(offsets: "[0]"), tensor(offsets: "[0,4,8]"),
        tensor(offsets: "[18446744073709551612,18446744073709551615]"), tensor(offsets: "[4,8]"),
        String(repeating: "[", count: 100),
        #"{"\#(String(repeating: "n", count: 2000))":{"dtype":"F32","shape":[],"data_offsets":[0,4]}}"#,
    ])
    func aHeaderThatContradictsItselfIsDamaged(_ header: String) {
        let error = #expect(throws: ImportError.self) {
            try SafetensorsHeader(parsing: SafetensorsBuilder.file(header) + Data(count: 4), name: "m")
        }
        #expect(error?.code == .damaged)
        #expect(error?.context.file == "m")
    }

    @Test(arguments: [0, 1, 7]) func aFileWithoutALengthIsDamaged(_ count: Int) {
        let error = #expect(throws: ImportError.self) {
            try SafetensorsHeader(parsing: Data(count: count), name: "m", size: UInt64(count))
        }
        #expect(error?.code == .damaged)
    }

    @Test(arguments: [100 << 20, 9 << 20, 1 << 62, UInt64.max]) func aHugeHeaderIsRefusedByItsLength(_ length: UInt64) {
        let error = #expect(throws: ImportError.self) {
            try SafetensorsHeader(parsing: SafetensorsBuilder.file("{}", length: length), name: "m")
        }
        #expect(error?.code == .damaged)
        #expect(error?.context.found == "\(length)")
    }

    @Test(arguments: [-5, -1, 1, 100]) func aFileOfAnotherLengthIsDamaged(_ difference: Int) throws {
        var builder = SafetensorsBuilder()
        builder.add("a", [3], [1, 2, 3])
        let size = UInt64(builder.data.count + difference)
        let error = #expect(throws: ImportError.self) {
            try SafetensorsHeader(parsing: builder.data, name: "m", size: size)
        }
        #expect(error?.code == .damaged)
        #expect(error?.context.found == "\(size)")
    }
}
