import Foundation
import HearthBase

/// The status and headers of a response.
struct ResponseHead: Sendable, Hashable {
    let status: Int
    let headers: HTTPHeaders
}

/// Parses the head of the final response from header lines as they arrive. Interim (1xx) heads and trailers are
/// skipped, and the total size is limited.
struct ResponseHeadParser: Sendable {
    /// The result of a line.
    enum Outcome: Sendable, Hashable {
        case more
        case complete(ResponseHead)
        /// More header bytes than allowed, or contradictory lines.
        case refused(String)
    }

    /// The most bytes of all header lines of one exchange.
    static let limit = 256 << 10

    private var byteCount = 0
    private var status = 0
    private var headers = HTTPHeaders()
    private var isComplete = false

    /// Parses one line, with or without its line break.
    mutating func append(_ line: some Collection<UInt8>) -> Outcome {
        byteCount += line.count
        guard byteCount <= Self.limit else { return .refused("more than \(Self.limit) bytes of headers") }
        guard !isComplete else { return .more }
        let text = Self.text(of: Array(line)).trimmingCharacters(in: .newlines)
        if text.hasPrefix("HTTP/") {
            headers = HTTPHeaders()
            status = text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
            return .more
        }
        guard !text.isEmpty else { return finish() }
        if let first = text.first, first == " " || first == "\t" {
            guard let last = headers.fields.last else { return .more }
            headers.replaceLast(value: last.value + " " + text.trimmingCharacters(in: .whitespaces))
            return .more
        }
        guard let colon = text.firstIndex(of: ":") else { return .more }
        headers.append(
            text[..<colon].trimmingCharacters(in: .whitespaces),
            text[text.index(after: colon)...].trimmingCharacters(in: .whitespaces))
        return .more
    }

    /// The text of a line. Header values are bytes, in older practice Latin-1. In an address, bytes that are no UTF-8
    /// become triplets, so that the server gets them back; in other fields they must only not fail.
    private static func text(of line: [UInt8]) -> String {
        let isAddress = String(decoding: line.prefix(9), as: UTF8.self).lowercased() == "location:"
        guard isAddress, String(bytes: line, encoding: .utf8) == nil else {
            return String(decoding: line, as: UTF8.self)
        }
        let ascii = line.flatMap { $0 < 0x80 ? [$0] : Array(PercentText.encoded([$0], keepsSlashes: true).utf8) }
        return String(decoding: ascii, as: UTF8.self)
    }

    private mutating func finish() -> Outcome {
        if (100..<200).contains(status) { return .more }
        isComplete = true
        if let problem = headers.settleLength() { return .refused(problem) }
        return .complete(ResponseHead(status: status, headers: headers))
    }
}

extension HTTPHeaders {
    /// Removes a length that does not count (RFC 9112, 6.3): a transfer coding overrides it.
    /// - Returns: the problem with the length, if it is no number or given twice: two different lengths indicate an attack.
    mutating func settleLength() -> String? {
        guard self["Transfer-Encoding"] == nil else {
            self["Content-Length"] = nil
            return nil
        }
        let lengths = Set(values("Content-Length").map { $0.trimmingCharacters(in: .whitespaces) })
        if lengths.count > 1 { return "several different lengths" }
        if let length = lengths.first, UInt64(length) == nil { return "a length that is no number" }
        return nil
    }

    /// All values of a field, in order.
    public func values(_ name: String) -> [String] {
        fields.filter { $0.name.caseInsensitiveCompare(name) == .orderedSame }.map(\.value)
    }
}
