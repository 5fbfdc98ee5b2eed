#if Server
    import HearthBase

    /// Header fields in order; names compare without case.
    public struct HeaderFields: Sendable, Hashable, ExpressibleByDictionaryLiteral {
        /// One field.
        public struct Field: Sendable, Hashable {
            public let name: String
            public let value: String

            /// A field of the given name and value.
            public init(name: String, value: String) {
                self.name = name
                self.value = value
            }
        }

        public private(set) var fields: [Field] = []

        /// No fields.
        public init() {}

        public init(dictionaryLiteral elements: (String, String)...) {
            fields = elements.map { Field(name: $0.0, value: $0.1) }
        }

        /// Adds a field beside those of the same name.
        public mutating func append(_ name: String, _ value: String) { fields.append(Field(name: name, value: value)) }

        /// All values of a field joined by commas, as RFC 9110 section 5.3 allows; `nil` if there is none.
        public subscript(_ name: String) -> String? {
            let values = fields.filter { Self.isEqual($0.name, name) }.map(\.value)
            return values.isEmpty ? nil : values.joined(separator: ", ")
        }

        private static func isEqual(_ left: String, _ right: String) -> Bool {
            left.utf8.count == right.utf8.count && zip(left.utf8, right.utf8).allSatisfy { lower($0) == lower($1) }
        }

        private static func lower(_ byte: UInt8) -> UInt8 { (65...90).contains(byte) ? byte + 32 : byte }
    }

    /// A request whose header has arrived.
    public struct ServerRequest: Sendable {
        /// `GET`, `HEAD`, …, exactly as sent.
        public var method: String
        /// The request target exactly as sent: escapes not decoded, query included.
        public var target: String
        public var headers: HeaderFields
        /// The body; empty when there was none.
        public var body: [UInt8]

        /// A request of the given parts.
        public init(method: String, target: String, headers: HeaderFields = [:], body: [UInt8] = []) {
            self.method = method
            self.target = target
            self.headers = headers
            self.body = body
        }
    }

    /// A reply. The listener adds `Date`, `Content-Length` and `Connection`. A reply to `HEAD` is built like one to `GET`;
    /// the listener does not send its body.
    public struct ServerReply: Sendable {
        /// Where the bytes come from.
        public enum Body: Sendable {
            case bytes([UInt8])
            /// A part of an open file, sent by the kernel without a copy (`sendfile`).
            case file(OpenFile, offset: UInt64, count: UInt64)
        }

        public var status: Int
        public var headers: HeaderFields
        public var body: Body
        /// The part of the file that is sent, for the access log.
        public var range: ByteRange?

        /// A reply of the given parts.
        public init(status: Int, headers: HeaderFields = [:], body: Body = .bytes([]), range: ByteRange? = nil) {
            self.status = status
            self.headers = headers
            self.body = body
            self.range = range
        }

        /// A short answer for people.
        public static func text(_ status: Int, _ text: String, headers: HeaderFields = [:]) -> Self {
            var headers = headers
            headers.append("Content-Type", "text/plain; charset=utf-8")
            headers.append("Cache-Control", "no-store")
            headers.append("X-Content-Type-Options", "nosniff")
            return Self(status: status, headers: headers, body: .bytes(Array("\(text)\n".utf8)))
        }
    }

    /// A request that has ended, with or without a complete reply.
    public struct FinishedExchange: Sendable, Hashable {
        public var method: String
        /// The target as the client sent it.
        public var target: String
        public var status: Int
        /// The bytes of body handed to the connection. After an abort: those the client's side has acknowledged.
        public var bodyBytes: UInt64
        /// The part of a file that was asked for and granted.
        public var range: ByteRange?
        /// Whether the whole reply went out.
        public var isComplete: Bool

        /// An exchange of the given facts.
        public init(
            method: String, target: String, status: Int, bodyBytes: UInt64, range: ByteRange? = nil,
            isComplete: Bool = true
        ) {
            self.method = method
            self.target = target
            self.status = status
            self.bodyBytes = bodyBytes
            self.range = range
            self.isComplete = isComplete
        }
    }
#endif
