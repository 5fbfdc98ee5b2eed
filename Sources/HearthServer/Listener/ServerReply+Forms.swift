import HearthBase
import HearthHTTP

extension ServerReply {
    /// Bytes that no cache keeps.
    package static func bytes(
        _ bytes: [UInt8], _ type: String, status: Int = 200, headers: HTTPHeaders = [:]
    ) -> Self {
        var headers = headers
        headers.append("Content-Type", type)
        headers.append("Cache-Control", "no-store")
        headers.append("X-Content-Type-Options", "nosniff")
        return Self(status: status, headers: headers, body: .bytes(bytes))
    }

    package static func text(_ status: Int, _ text: String, headers: HTTPHeaders = [:]) -> Self {
        bytes(Array("\(text)\n".utf8), "text/plain; charset=utf-8", status: status, headers: headers)
    }

    /// A document.
    package static func json(_ value: JSONValue, status: Int = 200) -> Self {
        bytes(Array(value.data), "application/json", status: status)
    }

    /// A failure of this server's own routes: `{"error": {"code": …, "message": …}}`.
    package static func failure(_ status: Int, _ code: String, _ message: String) -> Self {
        json(.object(["error": .object(["code": .string(code), "message": .string(message)])]), status: status)
    }

    /// A stream of events or lines that no cache and no proxy holds back.
    static func stream(_ type: String, _ write: @escaping @Sendable (BodyWriter) async throws -> Void) -> Self {
        var headers: HTTPHeaders = ["Content-Type": type, "Cache-Control": "no-cache, no-store"]
        headers.append("X-Accel-Buffering", "no")
        headers.append("X-Content-Type-Options", "nosniff")
        return Self(status: 200, headers: headers, body: .stream(write))
    }
}

extension BodyWriter {
    static let pingInterval = Duration.seconds(15)

    /// Writes a comment from time to time while there is nothing else to send, so that the client does not end the stream.
    func pinging(_ time: TimeSource) -> Task<Void, any Error> {
        Task {
            while true {
                try await time.sleep(for: Self.pingInterval)
                try await write(": ping\n\n")
            }
        }
    }
}
