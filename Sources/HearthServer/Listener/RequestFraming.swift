import Foundation
import HearthBase
import HearthHTTP

/// The length of a request's body, read from its header as strictly as RFC 9112 permits: two readings of one message
/// are how a request is smuggled past a proxy.
package enum RequestFraming: Sendable, Hashable {
    case none
    case length(UInt64)
    case chunked

    /// Whether bytes follow the header.
    var hasBody: Bool { self != .none && self != .length(0) }

    /// The length declared; `nil` for a chunked body.
    var declaredLength: UInt64? {
        switch self {
        case .none: 0
        case .length(let count): count
        case .chunked: nil
        }
    }

    /// A reason to refuse a request before its body.
    package enum Refusal: Error, Sendable, Hashable {
        case badHeader, badTarget, targetTooLong, tooManyFields, badHost, ambiguousLength, unknownCoding,
            bodyTooLarge

        func reply(_ limits: ListenerLimits) -> ServerReply {
            let close: HTTPHeaders = ["Connection": "close"]
            return switch self {
            case .badHeader: .text(400, "a header field has a forbidden name or value", headers: close)
            case .badTarget: .text(400, "bad request target", headers: close)
            case .targetTooLong: .text(414, "the request target is too long", headers: close)
            case .tooManyFields: .text(431, "too many header fields", headers: close)
            case .badHost: .text(400, "a request needs exactly one Host field", headers: close)
            case .ambiguousLength: .text(400, "the length of the body is ambiguous", headers: close)
            case .unknownCoding: .text(501, "only the transfer coding chunked is served", headers: close)
            case .bodyTooLarge:
                .text(413, "the body is too large: at most \(limits.bodyBytes) bytes are taken", headers: close)
            }
        }
    }

    /// Reads the framing, and checks the whole header.
    package init(
        method: String, target: String, version: String, headers: HTTPHeaders, limits: ListenerLimits
    ) throws(Refusal) {
        guard target.utf8.count <= limits.targetBytes else { throw .targetTooLong }
        guard headers.fields.count <= limits.headerFields else { throw .tooManyFields }
        guard Self.isToken(method), method.utf8.count <= 32 else { throw .badHeader }
        guard target.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else { throw .badTarget }
        for field in headers.fields {
            guard Self.isToken(field.name), Self.isValue(field.value) else { throw .badHeader }
        }
        guard headers.values("Host").count == 1 || version == "HTTP/1.0" && headers.values("Host").isEmpty else {
            throw .badHost
        }
        let lengths = headers.values("Content-Length")
        let codings = headers.values("Transfer-Encoding")
        if !codings.isEmpty {
            guard lengths.isEmpty, codings.count == 1, version == "HTTP/1.1" else { throw .ambiguousLength }
            guard codings[0].lowercased() == "chunked" else { throw .unknownCoding }
            guard limits.bodyBytes > 0 else { throw .bodyTooLarge }
            self = .chunked
            return
        }
        guard let text = lengths.first else {
            self = .none
            return
        }
        guard lengths.count == 1, !text.isEmpty, text.utf8.count <= 19,
            text.utf8.allSatisfy({ (48...57).contains($0) }), let count = UInt64(text)
        else { throw .ambiguousLength }
        guard count <= limits.bodyBytes(at: String(target.prefix { $0 != "?" })) else { throw .bodyTooLarge }
        self = .length(count)
    }

    /// Whether a text is a token of RFC 9110, section 5.6.2.
    static func isToken(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { byte in
                switch byte {
                case 48...57, 65...90, 97...122: true
                default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
                }
            }
    }

    /// Whether a text is a field's value: no control characters but the tab.
    private static func isValue(_ text: String) -> Bool {
        text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 9 }
    }
}

extension HTTPHeaders {
    /// The values of a field, in order.
    func values(_ name: String) -> [String] {
        fields.filter { $0.name.caseInsensitiveCompare(name) == .orderedSame }.map(\.value)
    }
}
