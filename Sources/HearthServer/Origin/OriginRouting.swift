import Foundation
import HearthBase
import HearthCatalog
import HearthHTTP

/// A reason to reply without a file.
enum OriginRefusal: Error, Sendable, Hashable {
    case badTarget, notFound, methodNotAllowed, forbidden, busy, failed

    /// The reply.
    var reply: ServerReply {
        switch self {
        case .badTarget: .text(400, "bad request target")
        case .forbidden: .text(403, "not readable")
        case .notFound: .text(404, "not found")
        case .methodNotAllowed: .text(405, "only GET and HEAD", headers: ["Allow": "GET, HEAD"])
        case .failed: .text(500, "the server could not read the file")
        case .busy: .text(503, "too many requests at once", headers: ["Retry-After": "1"])
        }
    }
}

/// Decides the reply of a model origin, without opening or sending anything.
enum OriginRouting {
    /// Extensions of model files: clients may keep them forever, because a release's bytes never change.
    private static let immutableExtensions: Set<String> = [
        "gguf", "index", "safetensors", "onnx", "mlmodel", "mlpackage", "zip", "bin", "npz",
    ]

    /// The header of a reply, and the bytes of the file that follow it.
    struct Decision: Sendable, Hashable {
        var status: Int
        var headers: HTTPHeaders
        /// The bytes that `Content-Length` counts; `nil` for none. For a `304` and for `HEAD`, only the length is sent.
        var content: ByteRange?
    }

    /// The target of a request that may open a file.
    static func target(method: String, target: String) throws(OriginRefusal) -> RequestTarget {
        guard method == "GET" || method == "HEAD" else { throw .methodNotAllowed }
        return try RequestTarget(target)
    }

    /// Decides the reply for an open file, in the order of RFC 9110, section 13.2.2.
    static func reply(
        method: String, headers: HTTPHeaders, target: RequestTarget, facts: FileFacts
    ) -> Decision {
        let modified = HTTPDate(secondsSince1970: facts.modified).text
        let name = target.components.last?.name ?? ""
        let whole = ByteRange(start: 0, end: facts.size)
        var fields: HTTPHeaders = [
            "ETag": facts.entityTag,
            "Last-Modified": modified,
            "Accept-Ranges": "bytes",
            "Cache-Control": cacheControl(for: name),
            "X-Content-Type-Options": "nosniff",
        ]
        if let wanted = headers.joined("If-Match"), !facts.hasTag(in: wanted, weakly: false) {
            return Decision(status: 412, headers: fields, content: nil)
        }
        if let known = headers.joined("If-None-Match") {
            if facts.hasTag(in: known, weakly: true) {
                return Decision(status: 304, headers: fields, content: whole)
            }
        } else if headers.joined("If-Modified-Since")?.trimmed == modified {
            // Only the exact date that this server sent: a clock that was set back must not hide a change.
            return Decision(status: 304, headers: fields, content: whole)
        }
        fields.append("Content-Type", contentType(of: name))
        switch range(method: method, headers: headers, facts: facts) {
        case .whole:
            return Decision(status: 200, headers: fields, content: whole)
        case .part(let range):
            fields.append("Content-Range", range.responseHeader(size: facts.size))
            return Decision(status: 206, headers: fields, content: range)
        case .unsatisfiable:
            fields.append("Content-Range", "bytes */\(facts.size)")
            return Decision(status: 416, headers: fields, content: nil)
        }
    }

    /// The requested range. Ignores it for other methods than `GET`, and with an `If-Range` for other bytes.
    private static func range(method: String, headers: HTTPHeaders, facts: FileFacts) -> ByteRange.Request {
        // A date does not identify bytes, so only the entity tag satisfies the condition.
        guard method == "GET", headers.joined("If-Range").map({ $0.trimmed == facts.entityTag }) ?? true else {
            return .whole
        }
        return ByteRange.request(headers.joined("Range"), size: facts.size)
    }

    private static func cacheControl(for name: String) -> String {
        if immutableExtensions.contains(Path(name).fileExtension) || ArchiveFormat.isArchiveName(name) {
            return "public, max-age=31536000, immutable"
        }
        return "no-cache, no-store"
    }

    private static func contentType(of name: String) -> String {
        switch Path(name).fileExtension {
        case "json": "application/json"
        case "txt", "md", "minisig", "pub": "text/plain; charset=utf-8"
        case "zip": "application/zip"
        default: "application/octet-stream"
        }
    }
}
