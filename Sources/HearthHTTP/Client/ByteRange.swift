import Foundation
import HearthBase

/// One range of a file's bytes, as in the `Range` and `Content-Range` headers (RFC 9110, 14).
package struct ByteRange: Sendable, Hashable {
    /// The first byte, counted from 0.
    package let start: UInt64
    /// The position after the last byte; above `start`.
    package let end: UInt64

    /// The bytes from `start` up to, but excluding, `end`; `nil` if that is empty.
    package init?(start: UInt64, end: UInt64) {
        guard start < end else { return nil }
        self.start = start
        self.end = end
    }

    package var count: UInt64 { end - start }

    /// A server's reading of a `Range` header.
    package enum Request: Sendable, Hashable {
        /// No range, several ranges or an unknown unit: the response is the whole file.
        case whole
        case part(ByteRange)
        /// A range outside the file: the response is 416.
        case unsatisfiable
    }

    /// Parses a `Range` header for a file of `size` bytes.
    package static func request(_ header: String?, size: UInt64) -> Request {
        guard let header, header.lowercased().hasPrefix("bytes=") else { return .whole }
        let parts = header.dropFirst(6).trimmingCharacters(in: .whitespaces)
            .split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[1].contains(",") else { return .whole }
        if parts[0].isEmpty {
            guard let count = decimal(parts[1]) else { return .whole }
            return ByteRange(start: size - min(count, size), end: size).map(Request.part) ?? .unsatisfiable
        }
        guard let first = decimal(parts[0]) else { return .whole }
        if parts[1].isEmpty { return ByteRange(start: first, end: size).map(Request.part) ?? .unsatisfiable }
        guard let last = decimal(parts[1]), last >= first else { return .whole }
        let end = last >= size ? size : last + 1
        return ByteRange(start: first, end: end).map(Request.part) ?? .unsatisfiable
    }

    /// Parses a `Content-Range` header: the range of the received bytes, and the file's size if given.
    ///
    /// `nil` for anything but `bytes FIRST-LAST/SIZE` with a range inside the size.
    package static func response(_ header: String) -> (range: ByteRange, size: UInt64?)? {
        let words = header.split(separator: " ")
        guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
        let halves = words[1].split(separator: "/", omittingEmptySubsequences: false)
        guard halves.count == 2 else { return nil }
        let ends = halves[0].split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = decimal(ends[0]), let last = decimal(ends[1]), last < .max,
            let range = ByteRange(start: first, end: last + 1)
        else { return nil }
        if halves[1] == "*" { return (range, nil) }
        guard let size = decimal(halves[1]), range.end <= size else { return nil }
        return (range, size)
    }

    /// The value of a `Range` header that requests these bytes.
    package var requestHeader: String { "bytes=\(start)-\(end - 1)" }

    /// The value of a `Content-Range` header for these bytes of a file of `size` bytes.
    package func responseHeader(size: UInt64) -> String { "bytes \(start)-\(end - 1)/\(size)" }

    /// Digits only: `UInt64.init` would accept a sign.
    private static func decimal(_ text: some StringProtocol) -> UInt64? {
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return UInt64(text)
    }
}
