#if Server
    import Foundation
    import HearthBase
    import HearthHTTP

    extension HTTPHeaders {
        /// All values of a field joined by commas, as RFC 9110 section 5.3 allows; `nil` without such a field.
        func joined(_ name: String) -> String? {
            let values = fields.filter { $0.name.caseInsensitiveCompare(name) == .orderedSame }.map(\.value)
            return values.isEmpty ? nil : values.joined(separator: ", ")
        }
    }

    /// A request whose header has arrived.
    struct ServerRequest: Sendable {
        /// `GET`, `HEAD`, …, as sent.
        var method: String
        /// The request target as sent: escapes not decoded, query included.
        var target: String
        var headers: HTTPHeaders = [:]
    }

    /// A reply. The listener adds `Date`, `Content-Length` and `Connection`. A reply to `HEAD` is built like one to `GET`;
    /// the listener does not send its body.
    struct ServerReply: Sendable {
        /// The source of the bytes.
        enum Body: Sendable {
            case bytes([UInt8])
            /// A part of an open file, sent by the kernel without a copy (`sendfile`).
            case file(OpenFile, offset: UInt64, count: UInt64)
        }

        var status: Int
        var headers: HTTPHeaders = [:]
        var body = Body.bytes([])
        /// The part of the file that is sent, for the access log.
        var range: ByteRange?

        /// A short text.
        static func text(_ status: Int, _ text: String, headers: HTTPHeaders = [:]) -> Self {
            var headers = headers
            headers.append("Content-Type", "text/plain; charset=utf-8")
            headers.append("Cache-Control", "no-store")
            headers.append("X-Content-Type-Options", "nosniff")
            return Self(status: status, headers: headers, body: .bytes(Array("\(text)\n".utf8)))
        }
    }

    /// A request that has ended, with or without a complete reply.
    package struct FinishedExchange: Sendable, Hashable {
        package var method: String
        /// The target as the client sent it.
        package var target: String
        package var status: Int
        /// The bytes of body handed to the connection. After an abort: those the client has acknowledged.
        package var bodyBytes: UInt64
        /// The part of a file that was requested and sent.
        var range: ByteRange?
        /// Whether the whole reply was sent.
        package var isComplete = true
    }
#endif
