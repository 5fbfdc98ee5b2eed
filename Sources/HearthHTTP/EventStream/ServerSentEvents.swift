import HearthBase

/// One event of a `text/event-stream`.
public struct ServerSentEvent: Sendable, Hashable {
    /// `message` unless the server named it.
    public var name: String
    /// The data lines, joined by line feeds.
    public var data: String
    /// The last id the server gave, with this event or before it; empty if none.
    public var id: String

    /// An event of the given parts.
    public init(name: String = "message", data: String, id: String = "") {
        self.name = name
        self.data = data
        self.id = id
    }
}

/// Takes a `text/event-stream` apart, however its bytes are cut (WHATWG HTML, 9.2.6).
///
/// ```swift
/// var parser = ServerSentEventParser()
/// for try await chunk in response.body {
///     for event in try parser.append(chunk) { … }
/// }
/// ```
/// An event that is not ended by an empty line when the stream ends is dropped, as the standard says.
public struct ServerSentEventParser: Sendable {
    private static let lineFeed = UInt8(ascii: "\n")
    private static let carriageReturn = UInt8(ascii: "\r")

    /// The bytes one event may have, from one empty line to the next.
    public let limit: Int
    /// The milliseconds the server wants a client to wait before it connects again, if it said so.
    public private(set) var retryMilliseconds: Int?

    private var line: [UInt8] = []
    private var endedWithCarriageReturn = false
    private var isFirstLine = true
    private var eventSize = 0
    private var name = ""
    private var data: [String] = []
    private var lastID = ""

    /// A parser at the start of a stream.
    public init(limit: Int = 1 << 20) { self.limit = limit }

    /// Takes more bytes and returns the events they complete, in order.
    /// - Throws: ``HTTPError`` with `response-too-large` for an event above the limit; the stream is of no use then.
    public mutating func append(_ bytes: some Sequence<UInt8>) throws -> [ServerSentEvent] {
        var events: [ServerSentEvent] = []
        for byte in bytes {
            // CR LF is one line end, also when the two come in different chunks.
            let isSecondHalf = endedWithCarriageReturn && byte == Self.lineFeed
            endedWithCarriageReturn = byte == Self.carriageReturn
            if isSecondHalf { continue }
            if byte == Self.lineFeed || byte == Self.carriageReturn {
                if let event = endLine() { events.append(event) }
            } else {
                eventSize += 1
                guard eventSize <= limit else { throw HTTPError.tooLarge(limit: UInt64(limit)) }
                line.append(byte)
            }
        }
        return events
    }

    private mutating func endLine() -> ServerSentEvent? {
        defer { line.removeAll(keepingCapacity: true) }
        var bytes = line[...]
        if isFirstLine {
            isFirstLine = false
            if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { bytes = bytes.dropFirst(3) }
        }
        guard !bytes.isEmpty else { return dispatch() }
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")) else {
            take(field: bytes, value: [])
            return nil
        }
        var value = bytes[(colon + 1)...]
        if value.first == UInt8(ascii: " ") { value = value.dropFirst() }
        take(field: bytes[..<colon], value: value)
        return nil
    }

    private mutating func take(field: ArraySlice<UInt8>, value: ArraySlice<UInt8>) {
        let text = String(decoding: value, as: UTF8.self)
        switch String(decoding: field, as: UTF8.self) {
        case "data": data.append(text)
        case "event": name = text
        case "id" where !value.contains(0): lastID = text
        case "retry" where !value.isEmpty && value.allSatisfy({ (0x30...0x39).contains($0) }):
            retryMilliseconds = Int(text)
        default: break
        }
    }

    private mutating func dispatch() -> ServerSentEvent? {
        defer {
            name = ""
            data = []
            eventSize = 0
        }
        guard !data.isEmpty else { return nil }
        return ServerSentEvent(
            name: name.isEmpty ? "message" : name, data: data.joined(separator: "\n"), id: lastID)
    }
}

/// The events of a response's body, as they arrive.
public struct ServerSentEvents: AsyncSequence, Sendable {
    private let body: HTTPBody
    private let limit: Int

    /// The events of `body`; each of at most `limit` bytes.
    public init(_ body: HTTPBody, limit: Int = 1 << 20) {
        self.body = body
        self.limit = limit
    }

    public func makeAsyncIterator() -> Iterator {
        Iterator(chunks: body.makeAsyncIterator(), parser: ServerSentEventParser(limit: limit))
    }

    /// Iterates over the events.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var chunks: HTTPBody.Iterator
        fileprivate var parser: ServerSentEventParser
        private var ready: ArraySlice<ServerSentEvent> = []

        fileprivate init(chunks: HTTPBody.Iterator, parser: ServerSentEventParser) {
            self.chunks = chunks
            self.parser = parser
        }

        /// - Throws: ``HTTPError``, or `CancellationError`.
        public mutating func next() async throws -> ServerSentEvent? {
            while ready.isEmpty {
                guard let chunk = try await chunks.next() else { return nil }
                ready = try parser.append(chunk)[...]
            }
            return ready.popFirst()
        }
    }
}
