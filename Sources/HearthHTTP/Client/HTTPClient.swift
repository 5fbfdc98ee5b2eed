import Foundation
import HearthBase

/// Sends all requests of this package: ``SystemHTTP`` has the system's client.
package protocol HTTPClient: Sendable {
    /// Sends a request, follows redirects, and returns when the final response's header has arrived.
    ///
    /// The body arrives as it is consumed: a slow consumer slows the server down. Cancelling the task, or releasing the
    /// response before its body's end, closes the connection.
    /// - Throws: ``HTTPError``, or `CancellationError`. A status of 400 or above is a response, not an error.
    func execute(_ request: HTTPRequest) async throws -> HTTPResponse
}

/// A request and its limits.
package struct HTTPRequest: Sendable {
    package var url: URL
    /// `GET`, `HEAD`, `POST`, `PUT`, …
    package var method: String
    package var headers: HTTPHeaders
    package var body: Data?
    /// A secret for the `Authorization` header; sent only to the host of `url`, and dropped by a redirect to another.
    package var authorization: String?
    /// The time limit for connecting.
    package var connectTimeout: Duration
    /// The longest time without a byte.
    package var idleTimeout: Duration
    /// The time limit for the whole exchange, `nil` for none.
    package var totalTimeout: Duration?
    /// The most redirects to follow; with 0, a redirect is an ordinary response.
    package var maximumRedirects: Int
    /// The most bytes of the body, `nil` for no limit; more fail with `response-too-large`.
    package var maximumBodySize: UInt64?
    /// The most bytes of the body that are buffered for the consumer.
    package var bodyBufferSize = 2 << 20
    /// The numeric addresses that the host's name stands for, which the caller has checked; empty to resolve the name. With
    /// them the request uses no proxy and follows no redirect, and may use `http`.
    package var pinnedAddresses: [String] = []

    /// A request with the default limits: 10 s to connect, 30 s idle, 10 redirects.
    package init(
        _ url: URL, method: String = "GET", headers: HTTPHeaders = HTTPHeaders(), body: Data? = nil,
        authorization: String? = nil, connectTimeout: Duration = .seconds(10), idleTimeout: Duration = .seconds(30),
        totalTimeout: Duration? = nil, maximumRedirects: Int = 10, maximumBodySize: UInt64? = nil
    ) {
        self.url = url
        self.method = method
        self.headers = headers
        self.body = body
        self.authorization = authorization
        self.connectTimeout = connectTimeout
        self.idleTimeout = idleTimeout
        self.totalTimeout = totalTimeout
        self.maximumRedirects = maximumRedirects
        self.maximumBodySize = maximumBodySize
    }
}

/// Header fields in order; the case of names is ignored.
package struct HTTPHeaders: Sendable, Hashable, ExpressibleByDictionaryLiteral {
    /// The fields as sent.
    package private(set) var fields: [Field] = []

    /// One field.
    package struct Field: Sendable, Hashable {
        package let name: String
        package let value: String
    }

    package init() {}

    /// Whether a text can be the name of a header or a method (RFC 9110, `token`).
    package static func isName(_ text: String) -> Bool {
        let allowed = CharacterSet(
            charactersIn: "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
        return !text.isEmpty && text.unicodeScalars.allSatisfy(allowed.contains)
    }

    package init(dictionaryLiteral elements: (String, String)...) {
        fields = elements.map { Field(name: $0.0, value: $0.1) }
    }

    /// The last value of a field. Setting replaces all values of the field; `nil` removes them.
    package subscript(_ name: String) -> String? {
        get { fields.last { $0.name.caseInsensitiveCompare(name) == .orderedSame }?.value }
        set {
            fields.removeAll { $0.name.caseInsensitiveCompare(name) == .orderedSame }
            if let newValue { fields.append(Field(name: name, value: newValue)) }
        }
    }

    /// Replaces the value of the last field, for a header line that continues on the next.
    mutating func replaceLast(value: String) {
        guard let last = fields.popLast() else { return }
        fields.append(Field(name: last.name, value: value))
    }

    /// Adds a field; fields of the same name stay.
    package mutating func append(_ name: String, _ value: String) { fields.append(Field(name: name, value: value)) }
}

/// The final response: its head, and its body as it arrives.
package struct HTTPResponse: Sendable {
    package let status: Int
    package let headers: HTTPHeaders
    /// The address that answered, after redirects.
    package let url: URL
    package let body: HTTPBody

    /// Memberwise, for transports and tests.
    package init(status: Int, headers: HTTPHeaders, url: URL, body: HTTPBody) {
        self.status = status
        self.headers = headers
        self.url = url
        self.body = body
    }

    /// The declared length of the body, if it is a valid number.
    package var contentLength: UInt64? { headers["Content-Length"].flatMap { UInt64($0) } }
}

/// A body as a sequence of byte chunks. It can be read once: a second iterator throws `body-consumed`.
///
/// Releasing the body and its iterators before the end closes the connection.
package struct HTTPBody: AsyncSequence, Sendable {
    package typealias Element = [UInt8]

    /// Returns the next chunk, `nil` at the end.
    package typealias Source = @Sendable () async throws -> [UInt8]?

    private let source: Source
    private let isClaimed = Locked(false)

    /// A body that calls `source` for each chunk.
    package init(_ source: @escaping Source) { self.source = source }

    /// A body from memory; an empty one has no chunk.
    package init(_ bytes: [UInt8]) {
        let remaining = Locked(bytes.isEmpty ? nil : bytes)
        self.init {
            remaining.withLock { remaining in
                defer { remaining = nil }
                return remaining
            }
        }
    }

    package func makeAsyncIterator() -> Iterator {
        let isFirst = isClaimed.withLock { isClaimed in
            defer { isClaimed = true }
            return !isClaimed
        }
        guard isFirst else { return Iterator(source: { throw HTTPError.bodyConsumed }) }
        return Iterator(source: source)
    }

    /// Iterates over the chunks.
    package struct Iterator: AsyncIteratorProtocol, Sendable {
        fileprivate let source: Source

        package mutating func next() async throws -> [UInt8]? { try await source() }
    }

    /// Reads the whole body into memory.
    /// - Throws: ``HTTPError`` with `response-too-large` above `limit` bytes.
    package func collect(upTo limit: Int) async throws -> Data {
        var data = Data()
        for try await chunk in self {
            guard data.count + chunk.count <= limit else { throw HTTPError.tooLarge(limit: UInt64(limit)) }
            data.append(contentsOf: chunk)
        }
        return data
    }
}
