import Foundation
import HearthBase
import HearthHTTP

/// The decision about a response, by its status and header fields.
enum ResponseDecision: Equatable {
    /// The body holds the requested bytes; the whole file has `total` bytes, if that is known.
    case append(total: UInt64?)
    /// The body is the file from its first byte: earlier bytes are void.
    case restart(total: UInt64?)
    /// The server says that the file ends where the requested bytes begin.
    case complete
    /// The offset does not exist at the server: ask again from the first byte.
    case askFromStart
}

/// Judges a response by RFC 9110: 206 only with exactly the requested range, 200 from the first byte, 416 by its
/// length.
struct ResponsePolicy {
    package let label: String
    package let size: FileSize
    /// The requested bytes; `nil` for the whole file.
    package let asked: Range<UInt64>?
    /// Whether the address expires; some servers then report an expired one with status 400.
    package var isSigned = false

    /// - Throws: ``TransferError``.
    package func decide(status: Int, headers: HTTPHeaders, url: URL) throws -> ResponseDecision {
        if (200..<300).contains(status) { try refuseForeignContent(headers, url) }
        switch status {
        case 200:
            let total = headers["Content-Length"].flatMap { UInt64($0) }
            try check(total: total, url)
            let isWanted = asked.map { $0.lowerBound == 0 } ?? true
            return isWanted ? .append(total: total ?? size.exact) : .restart(total: total ?? size.exact)
        case 206:
            let answer = headers["Content-Range"].flatMap { ByteRange.response($0) }
            guard let asked, let answer, let total = answer.size, answer.range.start == asked.lowerBound,
                answer.range.end == min(asked.upperBound, total),
                // In the middle of a file, another length means another file. At its start, the catalog is wrong.
                asked.lowerBound == 0 || size.exact == nil || size.exact == total
            else {
                throw error(
                    .badContentRange, "the server answered with another part of \(label) than was asked for", url,
                    expected: asked.map { "bytes \($0.lowerBound)-\($0.upperBound - 1)" } ?? "the whole file",
                    found: headers["Content-Range"] ?? "no Content-Range")
            }
            try check(total: total, url)
            return .append(total: total)
        case 416:
            guard let asked else { throw failure(status: status, url) }
            let total = headers["Content-Range"].flatMap(Self.totalOfUnsatisfied)
            if total == asked.lowerBound && (size.exact ?? asked.lowerBound) == asked.lowerBound { return .complete }
            guard asked.lowerBound > 0 else { throw failure(status: status, url) }
            return .askFromStart
        default:
            throw failure(status: status, url)
        }
    }

    /// The error for a 416 if asking from the first byte is of no use: a machine at that address lacks a part of the
    /// file, perhaps only for now.
    func unsatisfied(_ url: URL) -> TransferError {
        error(
            .unexpectedStatus, "the server says that a part of \(label) does not exist", url,
            expected: asked.map { "bytes from \($0.lowerBound) on" }, found: "status 416", disposition: .tryLater)
    }

    /// Refuses a compressed file, and a web page such as a network's sign-in page.
    private func refuseForeignContent(_ headers: HTTPHeaders, _ url: URL) throws {
        if let coding = headers.contentCoding {
            throw error(
                .contentEncoded, "the server sent \(label) compressed on the way, so its bytes cannot be checked", url,
                expected: "no Content-Encoding", found: coding,
                remedy: "The publisher must let the server send model files as they are.")
        }
        if let type = headers["Content-Type"]?.lowercased(), type.hasPrefix("text/html") {
            throw error(
                .webPage, "a web page came instead of \(label)", url, expected: "a file", found: type,
                remedy: "If this network has a sign-in page, open it in a browser first.")
        }
    }

    private func check(total: UInt64?, _ url: URL) throws {
        guard let total else { return }
        if let exact = size.exact, total != exact {
            throw error(
                total > exact ? .responseTooLong : .sizeMismatch,
                "the server's \(label) is \(total > exact ? "longer" : "shorter") than the catalog promises", url,
                expected: "\(exact) bytes", found: "\(total) bytes")
        }
        guard total <= size.limit else {
            throw error(
                .responseTooLong, "the server's \(label) is larger than the catalog allows", url,
                expected: "at most \(size.limit) bytes", found: "\(total) bytes")
        }
    }

    /// The length in `bytes */total`, the form of a 416 (RFC 9110, section 14.4).
    private static func totalOfUnsatisfied(_ text: String) -> UInt64? {
        guard text.lowercased().hasPrefix("bytes */") else { return nil }
        let digits = text.dropFirst(8)
        return digits.utf8.allSatisfy { (48...57).contains($0) } ? UInt64(digits) : nil
    }

    private func failure(status: Int, _ url: URL) -> TransferError {
        switch status {
        case 404, 410:
            error(.missing, "the server has no \(label) any more", url, found: "status \(status)")
        case 401, 403, isSigned ? 400 : 401:
            error(.accessDenied, "the server does not give out \(label)", url, found: "status \(status)")
        case 408, 429, 500...599:
            error(
                .serverBusy, "the server cannot send \(label) at the moment", url, found: "status \(status)",
                disposition: .tryLater)
        default:
            error(
                .unexpectedStatus, "the server answered with status \(status) for \(label)", url,
                found: "status \(status)")
        }
    }

    private func error(
        _ code: ErrorCode<TransferState>, _ message: String, _ url: URL, expected: String? = nil,
        found: String? = nil, remedy: String? = nil, disposition: ErrorDisposition = .failed
    ) -> TransferError {
        TransferError(
            code, message,
            context: ErrorContext(
                file: label, url: url.withoutQuery, expected: expected, found: found, remedy: remedy),
            disposition: disposition)
    }
}
