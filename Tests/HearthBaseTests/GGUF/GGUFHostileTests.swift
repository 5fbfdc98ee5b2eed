import Foundation
import HearthBase
import HearthTestSupport
import Testing

struct GGUFHostileTests {
    @Test func aHeaderCutAnywhereIsTruncated() throws {
        let whole = GGUFBuilder.small.header()
        for count in 0..<whole.count {
            let error = #expect(throws: GGUFError.self) { try GGUFHeader(data: whole.prefix(count)) }
            #expect(error?.code == (count < 4 ? .notGGUF : .truncated), "\(count) bytes: \(String(describing: error))")
        }
        _ = try GGUFHeader(data: whole)
    }

    @Test func aFileCutAnywhereIsTruncatedAndNamed() throws {
        let whole = GGUFBuilder.small.header()
        let folder = try TemporaryFolder()
        for count in stride(from: 0, to: whole.count, by: 37) {
            let path = try folder.write("model.gguf", whole.prefix(count))
            let error = #expect(throws: GGUFError.self) { try GGUFHeader(file: path) }
            #expect(error?.code == (count < 4 ? .notGGUF : .truncated))
            #expect(error?.context.file == path.string)
        }
    }

    @Test(arguments: 0..<8 as Range<UInt64>) func flippedBitsAreReadOrRefused(seed: UInt64) throws {
        let whole = GGUFBuilder.small.header()
        var random = SeededGenerator(seed: seed)
        var refused = 0
        for _ in 0..<500 {
            var data = whole
            for _ in 0..<Int.random(in: 1...8, using: &random) {
                data[Int.random(in: 0..<data.count, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            }
            do {
                let header = try GGUFHeader(data: data)
                #expect(header.metadata.count <= 12)
            } catch is GGUFError { refused += 1 }
        }
        // Most single bits are text or lengths: a reader that takes all of them looks at none.
        #expect(refused > 100 && refused < 500)
    }

    @Test(arguments: [
        ("", GGUFBuilder()), ("<html>not found</html>", GGUFBuilder()), ("PK\u{3}\u{4}....", GGUFBuilder()),
        ("gguf", GGUFBuilder()), ("FUGG", GGUFBuilder()), ("GGU", GGUFBuilder()),
    ])
    func otherFilesAreNotGGUF(text: String, builder: GGUFBuilder) {
        let data = text.isEmpty ? Data() : Data(text.utf8) + builder.header().dropFirst(4)
        let error = #expect(throws: GGUFError.self) { try GGUFHeader(data: text.count < 4 ? Data(text.utf8) : data) }
        #expect(error?.code == .notGGUF)
        #expect(error?.context.remedy != nil)
    }

    @Test(arguments: [0, 1, 4, 0x0300_0000, 0x0200_0000, .max] as [UInt32])
    func otherVersionsAreUnsupported(version: UInt32) {
        let error = #expect(throws: GGUFError.self) { try GGUFHeader(data: GGUFBuilder(version: version).header()) }
        #expect(error?.code == .unsupportedVersion)
    }

    static let giants: [UInt64] = [
        65_537, 1 << 31, 1 << 32, 1 << 60, 1 << 61, 1 << 63, UInt64(Int64.max), .max - 24, .max - 1, .max,
    ]

    @Test(arguments: giants) func giantCountsAreRefused(count: UInt64) {
        var builder = GGUFBuilder.small
        builder.claimedEntries = count
        var error = #expect(throws: GGUFError.self) { try GGUFHeader(data: builder.header()) }
        #expect(error?.code == .corrupt)
        builder.claimedEntries = nil
        builder.claimedTensors = count
        error = #expect(throws: GGUFError.self) { try GGUFHeader(data: builder.header()) }
        #expect(error?.code == (count > 1_000_000 ? .corrupt : .truncated))
    }

    @Test(arguments: giants, GGUFType.allCases) func giantArraysAreRefused(count: UInt64, type: GGUFType) {
        let array = GGUFValue.array(GGUFArray(elementType: type, count: count, elements: nil))
        let outer = GGUFValue.array(GGUFArray(elementType: .array, count: 1, elements: [array]))
        for value in [array, outer] {
            let error = #expect(throws: GGUFError.self) {
                try GGUFHeader(data: GGUFBuilder(entries: [("a", value)]).header())
            }
            #expect(error?.code == .truncated)
        }
    }

    @Test(arguments: giants) func giantStringsAndNamesAreRefused(count: UInt64) {
        let string = #expect(throws: GGUFError.self) {
            try GGUFHeader(data: GGUFBuilder(entries: [("a", .longString(byteCount: count))]).header())
        }
        #expect(string?.code == .truncated)
        var key = GGUFBuilder(entries: [("abcdefgh", .uint64(0))]).header()
        withUnsafeBytes(of: count.littleEndian) { key.replaceSubrange(24..<32, with: $0) }
        let name = #expect(throws: GGUFError.self) { try GGUFHeader(data: key) }
        #expect(name?.code == .corrupt)
    }

    @Test func aFileOfGiantStringsIsReadInItsOwnSize() throws {
        let folder = try TemporaryFolder()
        // A sparse file: 1 TiB of nothing behind a string that claims half of it.
        let head = GGUFBuilder(entries: [("a", .longString(byteCount: 1 << 39))]).header()
        let path = try folder.write("model.gguf", head)
        let file = try LocalFileSystem().open(path, .readWrite)
        try LocalFileSystem().truncate(file, to: 1 << 40)
        let error = #expect(throws: GGUFError.self) { try GGUFHeader(file: path) }
        #expect(error?.code == .headerTooLarge)
    }

    static let brokenTensors: [GGUFBuilder.Tensor] = [
        GGUFBuilder.Tensor(name: "", dimensions: [1]),
        GGUFBuilder.Tensor(name: String(repeating: "n", count: 65_537), dimensions: [1]),
        GGUFBuilder.Tensor(name: "t", dimensions: [1, 1, 1, 1, 1, 1, 1, 1, 1]),
        GGUFBuilder.Tensor(name: "t", dimensions: [.max]),
        GGUFBuilder.Tensor(name: "t", dimensions: [1 << 32, 1 << 32]),
        GGUFBuilder.Tensor(name: "t", dimensions: [1 << 31, 1 << 31, 4]),
        GGUFBuilder.Tensor(name: "t", dimensions: [1 << 62], type: 28),
        GGUFBuilder.Tensor(name: "t", dimensions: [33], type: 2),
        GGUFBuilder.Tensor(name: "t", dimensions: [32], offset: 1),
        GGUFBuilder.Tensor(name: "t", dimensions: [32], offset: .max - 31),
    ]

    @Test(arguments: brokenTensors.indices) func brokenTensorsAreRefused(index: Int) {
        let builder = GGUFBuilder(tensors: [Self.brokenTensors[index]])
        let error = #expect(throws: GGUFError.self) { try GGUFHeader(data: builder.header()) }
        #expect(error?.code == .corrupt)
    }

    @Test func tensorsThatAddUpTooFarAreRefused() {
        let half = GGUFBuilder.Tensor(name: "t", dimensions: [1 << 61], type: 28)
        let builder = GGUFBuilder(tensors: [half, half])
        let error = #expect(throws: GGUFError.self) { try GGUFHeader(data: builder.header()) }
        #expect(error?.code == .corrupt)
    }

    @Test(arguments: [.uint32(0), .uint32(3), .uint64(32), .string("32"), .int32(-1)] as [GGUFValue])
    func brokenAlignmentsAreRefused(value: GGUFValue) {
        let builder = GGUFBuilder(entries: [("general.alignment", value)])
        let error = #expect(throws: GGUFError.self) { try GGUFHeader(data: builder.header()) }
        #expect(error?.code == .corrupt)
    }

    @Test func aKeyTwiceIsRefused() {
        let builder = GGUFBuilder(entries: [("a", .uint8(1)), ("a", .uint8(2))])
        let error = #expect(throws: GGUFError.self) { try GGUFHeader(data: builder.header()) }
        #expect(error?.code == .corrupt && error?.context.field == "a")
    }

    @Test(arguments: [1, 300]) func arraysThatLieTooDeepAreRefused(width: Int) {
        func nested(_ depth: Int) -> GGUFValue {
            let inner: [GGUFValue] = depth == 0 ? [.uint8(1)] : [nested(depth - 1)]
            // Wide arrays are passed over, on another way through the reader.
            let empty = GGUFValue.array(GGUFArray(elementType: .uint8, count: 0, elements: []))
            let elements = depth == 0 ? inner : inner + [GGUFValue](repeating: empty, count: width - 1)
            return .array(
                GGUFArray(
                    elementType: depth == 0 ? .uint8 : .array, count: UInt64(elements.count), elements: elements))
        }
        #expect(throws: Never.self) { try GGUFHeader(data: GGUFBuilder(entries: [("a", nested(3))]).header()) }
        for depth in [4, 50] {
            let error = #expect(throws: GGUFError.self) {
                try GGUFHeader(data: GGUFBuilder(entries: [("a", nested(depth))]).header())
            }
            #expect(error?.code == .corrupt)
        }
    }

    @Test func manySmallArraysAreKeptUpToTheLimitOfAll() throws {
        let array = GGUFValue.array(
            GGUFArray(elementType: .uint8, count: 256, elements: [GGUFValue](repeating: .uint8(1), count: 256)))
        let header = try GGUFHeader(data: GGUFBuilder(entries: (0..<300).map { ("k\($0)", array) }).header())
        let kept = header.metadata.values.count { value in
            if case .array(let array) = value { array.elements != nil } else { false }
        }
        #expect(kept == 256)
    }

    @Test func manyLongStringsAreKeptUpToTheLimitOfAll() throws {
        var limits = GGUFHeader.Limits()
        limits.keptStringBytesInAll = 1000
        let entries = (0..<30).map { (key: "k\($0)", value: GGUFValue.string(String(repeating: "x", count: 100))) }
        let header = try GGUFHeader(data: GGUFBuilder(entries: entries).header(), limits: limits)
        #expect(header.metadata.values.count { $0.text != nil } == 10)
        #expect(header.metadata["k29"] == .longString(byteCount: 100))
    }

    @Test func aNameThatIsNotUnicodeIsRefused() {
        var data = GGUFBuilder(entries: [("abcd", .uint8(1))]).header()
        data[data.count - 6] = 0xFF
        let error = #expect(throws: GGUFError.self) { try GGUFHeader(data: data) }
        #expect(error?.code == .corrupt)
    }

    @Test func textThatIsNotUnicodeIsReadWithReplacements() throws {
        var data = GGUFBuilder(entries: [("general.name", .string("abcd"))]).header()
        data[data.count - 1] = 0xFF
        #expect(try GGUFHeader(data: data).name == "abc\u{FFFD}")
    }

    @Test func failuresOfTheDiskAreTheirOwn() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write("model.gguf", GGUFBuilder.small.header())
        let disk = FaultyFileSystem()
        disk.fail(call: 1, of: .read, errno: EIO)
        #expect(throws: FileError.self) { try GGUFHeader(file: path, fileSystem: disk) }
        #expect(throws: FileError.self) { try GGUFHeader(file: folder.path("missing.gguf")) }
    }
}
