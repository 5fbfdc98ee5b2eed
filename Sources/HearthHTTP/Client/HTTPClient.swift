import Foundation
import HearthBase

/// The seam every network call of this package goes through; libcurl stands behind it on Linux.
public protocol HTTPClient: Sendable {
    /// Sends a request and returns once the final response's header is there; redirects have been followed.
    ///
    /// The body arrives as it is consumed: a slow consumer slows the server down. Cancelling the task, or letting go of
    /// the response before its body's end, closes the connection.
    /// - Throws: ``HTTPError``, or `CancellationError`. A status of 400 or above is a response, not an error.
    func execute(_ request: HTTPRequest) async throws -> HTTPResponse
}

/// One request.
public struct HTTPRequest: Sendable {
    public var url: URL
    /// `GET`, `HEAD`, `POST`, `PUT`, …
    public var method: String
    public var headers: HTTPHeaders
    public var body: Data?
    /// A secret for the `Authorization` header; sent to the host of `url` only, dropped when a redirect leaves it.
    public var authorization: String?
    /// The time a connection may take to be made.
    public var connectTimeout: Duration
    /// The time without a single byte after which the transfer fails.
    public var idleTimeout: Duration
    /// The time the whole exchange may take, `nil` for no limit.
    public var totalTimeout: Duration?
    /// The redirects followed; with 0 a redirect is a response like any other.
    public var maximumRedirects: Int
    /// The bytes of body after which the transfer fails with `response-too-large`, `nil` for no limit.
    public var maximumBodySize: UInt64?
    /// The bytes of body that may wait for their consumer before the server has to.
    public var bodyBufferSize = 2 << 20

    /// A request with the package's usual limits: 10 s to connect, 30 s idle, 10 redirects.
    public init(
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

/// Header fields in order; names compare without case.
public struct HTTPHeaders: Sendable, Hashable, ExpressibleByDictionaryLiteral {
    /// The fields as they were sent.
    public private(set) var fields: [Field] = []

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

    /// No fields.
    public init() {}

    public init(dictionaryLiteral elements: (String, String)...) {
        fields = elements.map { Field(name: $0.0, value: $0.1) }
    }

    /// The last value of a field; setting replaces all of them, `nil` removes them.
    public subscript(_ name: String) -> String? {
        get { fields.last { $0.name.caseInsensitiveCompare(name) == .orderedSame }?.value }
        set {
            fields.removeAll { $0.name.caseInsensitiveCompare(name) == .orderedSame }
            if let newValue { fields.append(Field(name: name, value: newValue)) }
        }
    }

    /// Gives the last field another value: a line of the head went on in the next.
    mutating func replaceLast(value: String) {
        guard let last = fields.popLast() else { return }
        fields.append(Field(name: last.name, value: value))
    }

    /// Adds a field beside those of the same name.
    public mutating func append(_ name: String, _ value: String) { fields.append(Field(name: name, value: value)) }
}

/// The final response: its head at once, its body as it comes.
public struct HTTPResponse: Sendable {
    public let status: Int
    public let headers: HTTPHeaders
    /// The address that answered, after redirects.
    public let url: URL
    public let body: HTTPBody

    /// A response of the given parts; transports and tests make these.
    public init(status: Int, headers: HTTPHeaders, url: URL, body: HTTPBody) {
        self.status = status
        self.headers = headers
        self.url = url
        self.body = body
    }

    /// The declared length of the body, if the server gave a proper one.
    public var contentLength: UInt64? { headers["Content-Length"].flatMap { UInt64($0) } }
}

/// A body as a sequence of byte chunks, to be consumed once: a second iterator throws `body-consumed`.
///
/// Letting go of the body and its iterators before the end closes the connection.
public struct HTTPBody: AsyncSequence, Sendable {
    public typealias Element = [UInt8]

    /// Returns the next chunk, `nil` at the end.
    public typealias Source = @Sendable () async throws -> [UInt8]?

    private let source: Source
    private let isClaimed = Locked(false)

    /// A body that asks `source` for each chunk.
    public init(_ source: @escaping Source) { self.source = source }

    /// A body that is in memory already; an empty one has no chunk.
    public init(_ bytes: [UInt8]) {
        let remaining = Locked(bytes.isEmpty ? nil : bytes)
        self.init {
            remaining.withLock { remaining in
                defer { remaining = nil }
                return remaining
            }
        }
    }

    public func makeAsyncIterator() -> Iterator {
        let isFirst = isClaimed.withLock { isClaimed in
            defer { isClaimed = true }
            return !isClaimed
        }
        guard isFirst else { return Iterator(source: { throw HTTPError.bodyConsumed }) }
        return Iterator(source: source)
    }

    /// Iterates over the chunks.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let source: Source

        fileprivate init(source: @escaping Source) { self.source = source }

        public mutating func next() async throws -> [UInt8]? { try await source() }
    }

    /// The whole body in memory.
    /// - Throws: ``HTTPError`` with `response-too-large` above `limit` bytes.
    public func collect(upTo limit: Int) async throws -> Data {
        var data = Data()
        for try await chunk in self {
            guard data.count + chunk.count <= limit else { throw HTTPError.tooLarge(limit: UInt64(limit)) }
            data.append(contentsOf: chunk)
        }
        return data
    }
}
