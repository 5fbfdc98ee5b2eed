import HearthBase

/// One event of a `text/event-stream`.
package struct ServerSentEvent: Sendable, Hashable {
    /// The name from the server, `message` by default.
    package var name = "message"
    /// The data lines, joined by line feeds.
    package var data: String
    /// The last ID that the server gave, with this event or earlier; empty if it gave none.
    package var id = ""
}

/// Parses a `text/event-stream`, in chunks of any size (WHATWG HTML, 9.2.6).
///
/// ```swift
/// var parser = ServerSentEventParser()
/// for try await chunk in response.body {
///     for event in try parser.append(chunk) { … }
/// }
/// for event in parser.finish() { … }
/// ```
/// Linear in the bytes, however they are cut.
package struct ServerSentEventParser: Sendable {
    /// The end of an event.
    package enum Mode: Sendable, Hashable {
        /// An empty line, as the standard demands: an event without it is dropped at the end of the stream.
        case standard
        /// The end of its one `data` line, as of servers that send no empty lines. The last line needs no line break.
        case lines
    }

    package let mode: Mode
    /// The most bytes of a line, and of an event's lines together; comments are not part of an event.
    package let limit: Int

    private var splitter = LineSplitter()
    private var isFirstLine = true
    private var name = ""
    private var data: [UInt8] = []
    private var hasData = false
    private var eventSize = 0
    private var lastID = ""

    /// Creates a parser for a new stream.
    package init(_ mode: Mode = .standard, limit: Int = 1 << 20) {
        self.mode = mode
        self.limit = limit
    }

    /// Parses more bytes and returns the events that they complete, in order.
    /// - Throws: ``HTTPError`` with `response-too-large` for a line or an event above the limit; then the parser is unusable.
    package mutating func append(_ bytes: [UInt8]) throws -> [ServerSentEvent] {
        var events: [ServerSentEvent] = []
        var splitter = LineSplitter()
        // Moved out, so that the lines can change the rest of this value.
        swap(&splitter, &self.splitter)
        defer { swap(&splitter, &self.splitter) }
        try bytes.withUnsafeBufferPointer { bytes in
            try splitter.append(bytes, limit: limit) { line in try endLine(line, into: &events) }
        }
        return events
    }

    /// Ends the stream: in line mode, the rest is the last line.
    package mutating func finish() throws -> [ServerSentEvent] {
        guard mode == .lines else { return [] }
        return try append([Self.lineFeed])
    }

    private static let lineFeed = UInt8(ascii: "\n")
    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    private mutating func endLine(_ line: UnsafeBufferPointer<UInt8>, into events: inout [ServerSentEvent]) throws {
        var line = line[...]
        if isFirstLine {
            isFirstLine = false
            if line.starts(with: Self.byteOrderMark) { line = line.dropFirst(3) }
        }
        guard let first = line.first else {
            if let event = dispatch() { events.append(event) }
            return
        }
        guard first != UInt8(ascii: ":") else { return }
        eventSize += line.count
        guard eventSize <= limit else { throw HTTPError.tooLarge(limit: UInt64(limit)) }
        let colon = line.firstIndex(of: UInt8(ascii: ":")) ?? line.endIndex
        var value = line[min(colon + 1, line.endIndex)...]
        if value.first == UInt8(ascii: " ") { value = value.dropFirst() }
        take(field: line[..<colon], value: value)
        if mode == .lines, hasData, let event = dispatch() { events.append(event) }
    }

    private mutating func take(field: Slice<UnsafeBufferPointer<UInt8>>, value: Slice<UnsafeBufferPointer<UInt8>>) {
        if field.elementsEqual("data".utf8) {
            if hasData { data.append(Self.lineFeed) }
            data.append(contentsOf: value)
            hasData = true
        } else if field.elementsEqual("event".utf8) {
            name = String(decoding: value, as: UTF8.self)
        } else if field.elementsEqual("id".utf8) {
            if !value.contains(0) { lastID = String(decoding: value, as: UTF8.self) }
        }
    }

    /// The event of the lines so far, `nil` without data.
    private mutating func dispatch() -> ServerSentEvent? {
        defer {
            if !name.isEmpty { name = "" }
            data.removeAll(keepingCapacity: data.count < 64 << 10)
            hasData = false
            eventSize = 0
        }
        guard hasData else { return nil }
        return ServerSentEvent(
            name: name.isEmpty ? "message" : name, data: String(decoding: data, as: UTF8.self), id: lastID)
    }
}
