import Foundation
import HearthBase

/// The form of a request that Signature Version 4 signs, so that every writer of a request signs the same bytes.
///
/// Source: *Create a signed AWS API request*, "Create a canonical request" (docs.aws.amazon.com, IAM user guide).
package struct CanonicalRequest: Sendable, Hashable {
    /// The six lines: method, path, query, headers, names of headers, digest of the body.
    package let text: String
    /// The names of the signed headers, as `host;x-amz-date`.
    package let signedHeaders: String

    /// Makes the canonical form.
    /// - Parameters:
    ///   - path: as sent; encoded or not.
    ///   - query: as sent, without the question mark.
    ///   - headers: the headers to sign; values of one name are joined.
    ///   - normalizesPath: whether to remove `.`, `..` and empty segments, as all services but S3 do.
    package init(
        method: String, path: String, query: String, headers: HTTPHeaders, payload: SHA256Digest?, normalizesPath: Bool
    ) {
        var values: [String: [String]] = [:]
        for field in headers.fields { values[field.name.lowercased(), default: []].append(Self.trimmed(field.value)) }
        let names = values.keys.sorted()
        signedHeaders = names.joined(separator: ";")
        let lines = names.map { "\($0):\(values[$0, default: []].joined(separator: ","))\n" }
        text = [
            method, Self.path(path, normalizes: normalizesPath), Self.query(query), lines.joined(), signedHeaders,
            Self.text(payload),
        ].joined(separator: "\n")
    }

    /// The digest of a payload as the signature names it; `nil` for a payload that is not signed.
    static func text(_ payload: SHA256Digest?) -> String { payload?.hex ?? "UNSIGNED-PAYLOAD" }

    private static func path(_ path: String, normalizes: Bool) -> String {
        var bytes = PercentText.decoded(path)
        if normalizes {
            let slash = UInt8(ascii: "/")
            var segments: [ArraySlice<UInt8>] = []
            let parts = bytes.split(separator: slash)
            for part in parts {
                if part.elementsEqual("..".utf8) {
                    _ = segments.popLast()
                } else if !part.elementsEqual(".".utf8) {
                    segments.append(part)
                }
            }
            let endsWithSlash = bytes.last == slash && !segments.isEmpty
            bytes = [slash] + segments.joined(separator: [slash]) + (endsWithSlash ? [slash] : [])
        }
        let encoded = PercentText.encoded(bytes, keepsSlashes: true)
        return encoded.hasPrefix("/") ? encoded : "/" + encoded
    }

    /// The query, sorted by the encoded names and values.
    private static func query(_ query: String) -> String {
        let pairs = query.split(separator: "&").map { item in
            let halves = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return halves.map { PercentText.encoded(PercentText.decoded($0), keepsSlashes: false) }
        }
        let sorted = pairs.sorted { $0.lexicographicallyPrecedes($1) }
        return sorted.map { "\($0[0])=\($0.count > 1 ? $0[1] : "")" }.joined(separator: "&")
    }

    /// The value without outer spaces, and with one space in place of several.
    private static func trimmed(_ value: String) -> String {
        value.split(whereSeparator: { $0 == " " || $0.isNewline || $0 == "\t" }).joined(separator: " ")
    }
}
