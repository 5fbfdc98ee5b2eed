import HearthBase

/// One event of a `text/event-stream`.
package struct ServerSentEvent: Sendable, Hashable {
    /// The name from the server, `message` by default.
    package var name: String
    /// The data lines, joined by line feeds.
    package var data: String
    /// The last ID that the server gave, with this event or earlier; empty if it gave none.
    package var id: String

    /// Memberwise.
    package init(name: String = "message", data: String, id: String = "") {
        self.name = name
        self.data = data
        self.id = id
    }
}

/// Parses a `text/event-stream`, in chunks of any size (WHATWG HTML, 9.2.6).
///
/// ```swift
/// var parser = ServerSentEventParser()
/// for try await chunk in response.body {
///     for event in try parser.append(chunk) { … }
/// }
/// ```
/// At the end of the stream, an event without its final empty line is dropped, as the standard demands.
package struct ServerSentEventParser: Sendable {
    private static let lineFeed = UInt8(ascii: "\n")
    private static let carriageReturn = UInt8(ascii: "\r")

    /// The most bytes of one event, from one empty line to the next.
    package let limit: Int
    /// The delay before reconnecting in milliseconds, if the server gave one.
    package private(set) var retryMilliseconds: Int?

    private var line: [UInt8] = []
    private var endedWithCarriageReturn = false
    private var isFirstLine = true
    private var eventSize = 0
    private var name = ""
    private var data: [String] = []
    private var lastID = ""

    /// Creates a parser for a new stream.
    package init(limit: Int = 1 << 20) { self.limit = limit }

    /// Parses more bytes and returns the events that they complete, in order.
    /// - Throws: ``HTTPError`` with `response-too-large` for an event above the limit; then the parser is unusable.
    package mutating func append(_ bytes: some Sequence<UInt8>) throws -> [ServerSentEvent] {
        var events: [ServerSentEvent] = []
        for byte in bytes {
            // CR LF is one line break, even if split between two chunks.
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

/// The events of a response's body as they arrive.
package struct ServerSentEvents: AsyncSequence, Sendable {
    private let body: HTTPBody
    private let limit: Int

    /// The events of `body`, each of at most `limit` bytes.
    package init(_ body: HTTPBody, limit: Int = 1 << 20) {
        self.body = body
        self.limit = limit
    }

    package func makeAsyncIterator() -> Iterator {
        Iterator(chunks: body.makeAsyncIterator(), parser: ServerSentEventParser(limit: limit))
    }

    /// Iterates over the events.
    package struct Iterator: AsyncIteratorProtocol {
        fileprivate var chunks: HTTPBody.Iterator
        fileprivate var parser: ServerSentEventParser
        private var ready: ArraySlice<ServerSentEvent> = []

        fileprivate init(chunks: HTTPBody.Iterator, parser: ServerSentEventParser) {
            self.chunks = chunks
            self.parser = parser
        }

        /// - Throws: ``HTTPError``, or `CancellationError`.
        package mutating func next() async throws -> ServerSentEvent? {
            while ready.isEmpty {
                guard let chunk = try await chunks.next() else { return nil }
                ready = try parser.append(chunk)[...]
            }
            return ready.popFirst()
        }
    }
}
