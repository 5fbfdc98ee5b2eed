import Foundation
import HearthBase
import HearthHTTP
import Testing

@testable import HearthTransfer

@Suite struct ResponsePolicyTests {
    private static let url = URL(filePath: "/models/m.gguf")

    private func decide(
        _ status: Int, _ headers: HTTPHeaders, offset: UInt64, size: FileSize = .exact(1000)
    ) throws -> ResponseDecision {
        try ResponsePolicy(label: "m.gguf", size: size, asked: offset == 0 ? nil : offset..<1000)
            .decide(status: status, headers: headers, url: Self.url)
    }

    @Test func acceptsTheWholeFile() throws {
        #expect(try decide(200, ["Content-Length": "1000"], offset: 0) == .append(total: 1000))
        #expect(try decide(200, [:], offset: 0) == .append(total: 1000), "the catalog knows the length too")
    }

    @Test func aWholeFileInAnswerToARangeStartsAnew() throws {
        #expect(try decide(200, ["Content-Length": "1000"], offset: 400) == .restart(total: 1000))
    }

    @Test func acceptsExactlyTheAskedRange() throws {
        #expect(try decide(206, ["Content-Range": "bytes 400-999/1000"], offset: 400) == .append(total: 1000))
    }

    @Test(arguments: [
        "bytes 0-999/1000", "bytes 401-999/1000", "bytes 399-999/1000", "bytes 400-998/1000", "bytes 400-999/*",
        "bytes 400-1000/1000", "bytes 999-400/1000", "bytes 400-999/2000", "bytes 400-1999/2000", "items 400-999/1000",
        "bytes 400-999", "bytes -999/1000", "bytes +400-999/1000", "bytes 4 00-999/1000", "bytes 400-999/1000/1000",
        "bytes 18446744073709551616-18446744073709551617/18446744073709551618", "", "bytes */1000",
    ])
    func refusesALyingRange(_ range: String) {
        #expect(throws: TransferError.self) { try decide(206, ["Content-Range": range], offset: 400) }
    }

    @Test func aRangeNobodyAskedForIsRefused() {
        let error = #expect(throws: TransferError.self) {
            try decide(206, ["Content-Range": "bytes 0-999/1000"], offset: 0)
        }
        #expect(error?.code == .badContentRange)
    }

    @Test func anUnsatisfiableRangeIsCheckedAgain() throws {
        #expect(try decide(416, ["Content-Range": "bytes */1000"], offset: 1000) == .complete)
        #expect(try decide(416, ["Content-Range": "bytes */500"], offset: 600) == .askFromStart)
        #expect(try decide(416, [:], offset: 600) == .askFromStart)
        #expect(throws: TransferError.self) { try decide(416, [:], offset: 0) }
    }

    @Test(arguments: [
        (1001, "response-too-long"), (999, "size-mismatch"), (0, "size-mismatch"), (UInt64.max, "response-too-long"),
    ])
    func refusesAnotherLength(_ length: UInt64, code: String) {
        let error = #expect(throws: TransferError.self) { try decide(200, ["Content-Length": "\(length)"], offset: 0) }
        #expect(error?.codeText == code)
    }

    @Test func aRoundedSizeIsOnlyALimit() throws {
        let size = FileSize.about(1000, limit: 2000)
        #expect(try decide(200, ["Content-Length": "1500"], offset: 0, size: size) == .append(total: 1500))
        #expect(try decide(200, [:], offset: 0, size: size) == .append(total: nil))
        #expect(throws: TransferError.self) { try decide(200, ["Content-Length": "2001"], offset: 0, size: size) }
    }

    @Test(arguments: [
        "identity", "aws-chunked", "AWS-Chunked", "binary", "UTF-8", "utf8", "none", "", " ", ",", "aws-chunked,",
        "aws-chunked, binary",
        "identity,UTF-8", "8bit", "*",
    ])
    func anEncodingThatMeansNothingIsIgnored(_ encoding: String) throws {
        let headers: HTTPHeaders = ["Content-Encoding": encoding, "Content-Length": "1000"]
        #expect(try decide(200, headers, offset: 0) == .append(total: 1000))
    }

    @Test(arguments: ["gzip", "br", "deflate, gzip", "GZIP", "aws-chunked, gzip", "aws-chunked,zstd", " x-gzip "])
    func refusesACompressedBody(_ encoding: String) {
        let error = #expect(throws: TransferError.self) {
            try decide(200, ["Content-Encoding": encoding, "Content-Length": "1000"], offset: 0)
        }
        #expect(error?.code == .contentEncoded)
    }

    @Test func refusesAWebPage() {
        let error = #expect(throws: TransferError.self) {
            try decide(200, ["Content-Type": "Text/HTML; charset=utf-8"], offset: 0)
        }
        #expect(error?.code == .webPage)
    }

    @Test(arguments: [
        (404, "missing-at-origin", ErrorDisposition.failed), (410, "missing-at-origin", .failed),
        (401, "access-denied", .failed), (403, "access-denied", .failed), (429, "server-busy", .tryLater),
        (500, "server-busy", .tryLater), (503, "server-busy", .tryLater), (204, "unexpected-status", .failed),
        (304, "unexpected-status", .failed), (400, "unexpected-status", .failed), (999, "unexpected-status", .failed),
    ])
    func everyOtherStatusIsATypedFailure(_ status: Int, code: String, disposition: ErrorDisposition) {
        let error = #expect(throws: TransferError.self) { try decide(status, [:], offset: 0) }
        #expect(error?.codeText == code)
        #expect(error?.disposition == disposition)
    }

    @Test func secretsOfAnAddressStayOutOfErrors() throws {
        let url = try #require(URL(string: "https://user:pass@host.example/m.gguf?token=secret#part"))
        #expect(url.withoutQuery == "https://host.example/m.gguf")
    }
}
