import CZlib
import Foundation
import HearthBase
import HearthHTTP

extension ServerReply {
    /// Whether the status permits a body.
    var hasBody: Bool { status != 304 && status != 204 && status >= 200 }

    /// The reply with the request's id, compressed if the client takes gzip and the body is text in memory.
    func finished(for request: ServerRequest) -> Self {
        var reply = self
        reply.headers["X-Request-Id"] = request.id
        guard case .bytes(let bytes) = body, bytes.count >= 1024, hasBody, headers["Content-Encoding"] == nil,
            Self.isText(headers["Content-Type"] ?? "")
        else { return reply }
        reply.headers.append("Vary", "Accept-Encoding")
        guard Self.takesGzip(request.headers.joined("Accept-Encoding")), let packed = Gzip.packed(bytes) else {
            return reply
        }
        reply.headers["Content-Encoding"] = "gzip"
        // The packed bytes differ from the plain ones, which a strong tag has to tell apart.
        if let tag = reply.headers["ETag"], !tag.hasPrefix("W/") { reply.headers["ETag"] = "W/" + tag }
        reply.body = .bytes(packed)
        return reply
    }

    /// The reply with an entity tag of its bytes, or `304` if the client has them already. For replies to `GET` that do
    /// not change from one call to the next, such as the files of the page.
    package func tagged(for request: ServerRequest) -> Self {
        guard case .bytes(let bytes) = body, status == 200 else { return self }
        var reply = self
        let tag = "\"\(SHA256Digest(hashing: Data(bytes)).hex.prefix(32))\""
        reply.headers["ETag"] = tag
        let known = request.headers.joined("If-None-Match") ?? ""
        let facts = FileFacts(size: UInt64(bytes.count), entityTag: tag, modified: 0)
        guard !known.isEmpty, facts.hasTag(in: known, weakly: true) else { return reply }
        reply.status = 304
        reply.body = .bytes([])
        return reply
    }

    private static func isText(_ type: String) -> Bool {
        let type = type.prefix { $0 != ";" }.lowercased()
        return type.hasPrefix("text/") && type != "text/event-stream"
            || ["application/json", "application/javascript", "image/svg+xml", "application/manifest+json"]
                .contains(type)
    }

    /// Whether an `Accept-Encoding` field names gzip, or any coding, with a weight above 0.
    package static func takesGzip(_ field: String?) -> Bool {
        guard let field else { return false }
        var weights: [String: Double] = [:]
        for part in field.lowercased().split(separator: ",").prefix(32) {
            let words = part.split(separator: ";").map(\.trimmed)
            guard let name = words.first else { continue }
            let weight = words.dropFirst().first { $0.hasPrefix("q=") }
            weights[name] = weight.map { Double($0.dropFirst(2)) ?? 0 } ?? 1
        }
        return (weights["gzip"] ?? weights["x-gzip"] ?? weights["*"] ?? 0) > 0
    }
}

/// Packs bytes with zlib into one gzip member.
enum Gzip {
    /// The packed bytes; `nil` if they are no shorter.
    static func packed(_ bytes: [UInt8]) -> [UInt8]? {
        guard bytes.count <= Int(UInt32.max) else { return nil }
        var stream = z_stream()
        // 15 bits of window, and 16 for the header of gzip; level 5 of 9.
        let size = Int32(MemoryLayout<z_stream>.size)
        guard deflateInit2_(&stream, 5, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, size) == Z_OK
        else { return nil }
        defer { deflateEnd(&stream) }
        var input = bytes
        var output = [UInt8](repeating: 0, count: bytes.count)
        let count = input.withUnsafeMutableBufferPointer { input in
            output.withUnsafeMutableBufferPointer { output -> Int? in
                stream.next_in = input.baseAddress
                stream.avail_in = UInt32(input.count)
                stream.next_out = output.baseAddress
                stream.avail_out = UInt32(output.count)
                return deflate(&stream, Z_FINISH) == Z_STREAM_END ? output.count - Int(stream.avail_out) : nil
            }
        }
        return count.map { Array(output.prefix($0)) }
    }
}
