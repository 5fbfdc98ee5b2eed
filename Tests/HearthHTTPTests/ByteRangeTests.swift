import HearthHTTP
import Testing

struct ByteRangeTests {
    @Test(arguments: [
        ("bytes=0-0", 0, 1), ("bytes=0-9", 0, 10), ("bytes=3-5", 3, 6), ("bytes=9-", 9, 10), ("bytes=0-", 0, 10),
        ("bytes=-1", 9, 10), ("bytes=-10", 0, 10), ("bytes=-11", 0, 10), ("bytes=5-4000", 5, 10),
        ("BYTES=1-2", 1, 3), ("bytes= 1-2 ", 1, 3), ("bytes=0000000000000000000000001-2", 1, 3),
        ("bytes=0-18446744073709551615", 0, 10),
    ])
    func part(field: String, start: UInt64, end: UInt64) throws {
        let range = try #require(ByteRange(start: start, end: end))
        #expect(ByteRange.request(field, size: 10) == .part(range))
    }

    @Test(arguments: [
        "bytes=10-", "bytes=10-10", "bytes=10-5000", "bytes=-0", "bytes=-000", "bytes=18446744073709551615-",
    ])
    func unsatisfiable(field: String) {
        #expect(ByteRange.request(field, size: 10) == .unsatisfiable)
    }

    @Test(arguments: [
        nil, "", "bytes", "bytes=", "bytes=-", "bytes=--1", "bytes=1--2", "bytes=5-4", "bytes=a-b", "bytes=1-2x",
        "bytes=0-1,3-4", "bytes=0-1,", ",", "bytes=+1-2", "bytes=1-+2", "bytes=1 -2", "bytes=1- 2", "bytes=1.0-2",
        "bytes=0x1-2", "bytes:1-2", "bytes 1-2", "bits=1-2", "items=1-2", "b=1-2", "bytes=\u{661}-2", "bytes=1-2;3",
        "bytes=1\u{2212}2", "bytes=5", "bytes==1-2", "none=0-1", "bytes=99999999999999999999999-5",
        // Numbers beyond 64 bits.
        "bytes=0-18446744073709551616", "bytes=18446744073709551616-", "bytes=-18446744073709551616",
    ])
    func whole(field: String?) {
        #expect(ByteRange.request(field, size: 10) == .whole)
    }

    @Test(arguments: ["bytes=0-", "bytes=0-0", "bytes=-1", "bytes=-0"])
    func nothingOfAnEmptyFile(field: String) {
        #expect(ByteRange.request(field, size: 0) == .unsatisfiable)
    }

    @Test func theLargestFile() {
        let range = ByteRange.request("bytes=18446744073709551614-", size: .max)
        #expect(range == ByteRange(start: .max - 1, end: .max).map(ByteRange.Request.part))
    }
}
