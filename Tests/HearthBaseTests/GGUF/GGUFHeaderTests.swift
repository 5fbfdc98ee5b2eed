import Foundation
import HearthBase
import HearthTestSupport
import Testing

struct GGUFHeaderTests {
    @Test func readsTheDefaultModel() throws {
        let header = try GGUFHeader(file: TestModel.path)
        #expect(header.version == 3)
        #expect(header.architecture == "llama")
        #expect(header.contextLength == 8192)
        #expect(header.fileType == 3 && header.quantization == "q4_1")
        #expect(header.hasChatTemplate)
        #expect(header.splitCount == 1)
        #expect(header.tensorCount == 272)
        guard case .array(let tokens) = header.metadata["tokenizer.ggml.tokens"] else {
            Issue.record("the vocabulary is missing")
            return
        }
        #expect(tokens.count == 49_152 && tokens.elements == nil && tokens.elementType == .string)
        let tensors = try #require(header.tensors)
        #expect(tensors.parameterCount == 134_515_008)
        // The last tensor may be followed by padding only.
        let size = try #require(try LocalFileSystem().status(at: TestModel.path)).size
        let minimum = try #require(tensors.minimumFileSize)
        #expect(minimum <= size && size - minimum < 32)
        #expect(tensors.dataOffset.isMultiple(of: 32))
    }

    @Test func readsTheSameFromARange() throws {
        let whole = try GGUFHeader(file: TestModel.path)
        let end = try #require(whole.tensors).dataOffset
        let file = try LocalFileSystem().open(TestModel.path, .read)
        var range = Data(count: Int(end))
        _ = try range.withUnsafeMutableBytes { try LocalFileSystem().read(file, into: $0, at: 0) }
        #expect(try GGUFHeader(data: range) == whole)
        // A slice that does not begin at index 0, too.
        #expect(try GGUFHeader(data: (Data([1, 2, 3]) + range).dropFirst(3)) == whole)
        let metadata = try GGUFHeader(data: range, extent: .metadata)
        #expect(metadata.metadata == whole.metadata && metadata.tensors == nil)
        let error = #expect(throws: GGUFError.self) { try GGUFHeader(data: range.prefix(100_000)) }
        #expect(error?.code == .truncated)
    }

    @Test(arguments: [2, 3] as [UInt32]) func readsWhatWasBuilt(version: UInt32) throws {
        var builder = GGUFBuilder.small
        builder.version = version
        let header = try GGUFHeader(data: builder.header())
        #expect(header.version == version)
        #expect(header.metadata.count == builder.entries.count)
        for (key, value) in builder.entries { #expect(header.metadata[key] == value, "\(key)") }
        #expect(header.name == "Small Test" && header.license == "apache-2.0")
        #expect(header.contextLength == 2048)
        let tensors = try #require(header.tensors)
        #expect(tensors.parameterCount == 256)
        // Unwrapped first: comparing an optional UInt64 inside the macro makes this compiler read a byte past it.
        let byteCount = try #require(tensors.byteCount)
        let minimumFileSize = try #require(tensors.minimumFileSize)
        #expect(byteCount == 120 + 256)
        #expect(minimumFileSize == tensors.dataOffset + 128 + 256)
    }

    /// The end of the last tensor is 128 + 256 bytes behind the beginning of the data.
    @Test(
        arguments: [
            (-1, true), (0, true), (1, false), (31, false), (32, false), (1 << 40, false),
        ])
    func aFileEndsWithItsTensors(_ more: Int, _ isWhole: Bool) throws {
        let header = try GGUFHeader(data: GGUFBuilder.small.header())
        let end = Int(try #require(header.tensors).dataOffset) + 128 + 256 + more
        #expect(Self.refuses(header, end) == !isWhole)
    }

    /// Behind the last tensor come at most the bytes up to the alignment.
    @Test(arguments: [(nil, 28), (32, 28), (64, 28), (8, 4), (4, 0)] as [(UInt32?, Int)])
    func paddingIsPartOfAFile(_ alignment: UInt32?, _ padding: Int) throws {
        var builder = GGUFBuilder.small
        if let alignment { builder.entries.append(("general.alignment", .uint32(alignment))) }
        builder.tensors[1].dimensions = [65]
        let header = try GGUFHeader(data: builder.header())
        let end = Int(try #require(header.tensors).dataOffset) + 128 + 4 * 65
        #expect(!Self.refuses(header, end) && !Self.refuses(header, end + padding))
        #expect(Self.refuses(header, end + padding + 1) != (alignment == 64))
    }

    @Test func whatIsNotKnownIsNotJudged() throws {
        var builder = GGUFBuilder.small
        builder.tensors[1].type = 200
        #expect(!Self.refuses(try GGUFHeader(data: builder.header()), 1 << 40))
        builder.tensors = []
        #expect(!Self.refuses(try GGUFHeader(data: builder.header()), 1 << 40))
        #expect(!Self.refuses(try GGUFHeader(data: GGUFBuilder.small.header(), extent: .metadata), 1 << 40))
    }

    private static func refuses(_ header: GGUFHeader, _ size: Int) -> Bool {
        do {
            try header.checkEnd(ofFile: UInt64(size), name: "x.gguf")
            return false
        } catch {
            return (error as? GGUFError)?.code == .trailingBytes
        }
    }

    @Test func keepsEveryTypeOfValue() throws {
        let nested = GGUFArray(
            elementType: .array, count: 1,
            elements: [.array(GGUFArray(elementType: .int16, count: 2, elements: [.int16(-1), .int16(.max)]))])
        let entries: [(key: String, value: GGUFValue)] = [
            ("a", .uint8(.max)), ("b", .int8(.min)), ("c", .uint16(.max)), ("d", .int16(.min)), ("e", .uint32(.max)),
            ("f", .int32(.min)), ("g", .uint64(.max)), ("h", .int64(.min)), ("i", .float32(1.5)), ("j", .float64(-2.5)),
            ("k", .bool(true)), ("l", .bool(false)), ("m", .string("")), ("n", .string("日本\0語")), ("o", .array(nested)),
            ("p", .array(GGUFArray(elementType: .bool, count: 0, elements: []))),
        ]
        let header = try GGUFHeader(data: GGUFBuilder(entries: entries).header())
        for (key, value) in entries { #expect(header.metadata[key] == value) }
        #expect(header.metadata["g"]?.integer == nil && header.metadata["h"]?.integer == .min)
        #expect(header.tensors?.parameterCount == 0)
        #expect(header.tensors?.minimumFileSize == UInt64(GGUFBuilder(entries: entries).header().count))
    }

    @Test func answersNothingItWasNotTold() throws {
        let header = try GGUFHeader(data: GGUFBuilder().header())
        #expect(header.architecture == nil && header.name == nil && header.contextLength == nil)
        #expect(header.fileType == nil)
        #expect(!header.hasChatTemplate && header.splitCount == 1 && header.splitIndex == 0)
    }

    @Test func takesOddAnswersForWhatTheyAre() throws {
        let header = try GGUFHeader(
            data: GGUFBuilder(entries: [
                ("general.architecture", .string("x")), ("x.context_length", .int32(-1)),
                ("general.file_type", .uint32(9999)),
                ("split.count", .uint16(0)), ("split.no", .int32(-4)), ("tokenizer.chat_template", .string("")),
            ]).header())
        #expect(header.contextLength == nil)
        #expect(header.fileType == 9999 && header.quantization == nil)
        #expect(header.splitCount == 1 && header.splitIndex == 0 && !header.hasChatTemplate)
    }

    @Test func passesOverWhatIsLong() throws {
        let long = [GGUFValue](repeating: .string("x"), count: 257)
        let text = String(repeating: "y", count: 1001)
        var limits = GGUFHeader.Limits()
        limits.keptStringBytes = 1000
        let header = try GGUFHeader(
            data: GGUFBuilder(entries: [
                ("long", .array(GGUFArray(elementType: .string, count: 257, elements: long))),
                ("kept", .array(GGUFArray(elementType: .string, count: 256, elements: Array(long.dropLast())))),
                ("tokenizer.chat_template", .string(text)), ("after", .uint8(7)),
            ]).header(), limits: limits)
        #expect(header.metadata["long"] == .array(GGUFArray(elementType: .string, count: 257, elements: nil)))
        #expect(
            header.metadata["kept"]
                == .array(GGUFArray(elementType: .string, count: 256, elements: Array(long.dropLast()))))
        #expect(header.metadata["tokenizer.chat_template"] == .longString(byteCount: 1001))
        #expect(header.hasChatTemplate && header.metadata["after"] == .uint8(7))
    }

    @Test func unknownTensorTypesLeaveTheSizeOpen() throws {
        var builder = GGUFBuilder.small
        builder.tensors.append(GGUFBuilder.Tensor(name: "new", dimensions: [7, 3], type: 999, offset: 384))
        let tensors = try #require(try GGUFHeader(data: builder.header()).tensors)
        #expect(tensors.byteCount == nil && tensors.minimumFileSize == nil && tensors.parameterCount == 256 + 21)
    }
}
