import Foundation
import HearthBase

/// A stream that text is written to.
protocol TextSink: Sendable {
    /// Whether the stream is a terminal, so that bars and colour make sense.
    var isTerminal: Bool { get }
    /// The columns of a line, `nil` without a terminal.
    var width: Int? { get }
    /// The lines of the window, `nil` without a terminal.
    var lines: Int? { get }
    /// Writes all of the text.
    /// - Throws: ``OutputClosed`` if the reader closed the stream, `FileError` for other failures.
    func write(_ text: String) throws
}

extension TextSink {
    var lines: Int? { width == nil ? nil : 24 }
}

/// The reader closed the output, as in `hearth list | head -1`. Not a failure: the command just ends.
struct OutputClosed: Error {}

/// The program's output: data on one stream, messages on the other.
final class Console: Sendable {
    let output: any TextSink
    let errors: any TextSink
    let isQuiet: Bool
    /// The columns of a terminal whose last line can be redrawn, `nil` for a log, a pipe or other terminals.
    var barWidth: Int? { canRedraw ? errors.width : nil }
    /// Whether the output can dim text, and be drawn as a screen: a terminal where no plain output is requested.
    let canDim: Bool
    /// Whether the terminal opens links that a text hides.
    let hasLinks: Bool
    private let canRedraw: Bool
    private let state: Locked<State>

    private struct State {
        /// Whether the terminal's last line shows a progress bar.
        var hasBar = false
        /// Whether the command reports events, so that its failure is an event too.
        var speaksEvents = false
    }

    init(output: any TextSink, errors: any TextSink, environment: [String: String], isQuiet: Bool = false) {
        self.output = output
        self.errors = errors
        self.isQuiet = isQuiet
        canRedraw = errors.isTerminal && environment["TERM"] != "dumb"
        canDim =
            output.isTerminal && environment["TERM"] != "dumb" && (environment["NO_COLOR"] ?? "").isEmpty
        hasLinks = TerminalFeatures(environment: environment).hasLinks
        state = Locked(State())
    }

    /// A copy of this console, with or without messages.
    func quiet(_ isQuiet: Bool, environment: [String: String]) -> Console {
        Console(output: output, errors: errors, environment: environment, isQuiet: isQuiet)
    }

    /// Writes data unchanged.
    func write(_ text: String) throws { try output.write(text) }

    /// Writes a model's thinking apart from its answer: dimmed on a terminal, not at all elsewhere.
    func writeAside(_ text: String) throws {
        guard output.isTerminal else { return }
        let text = TerminalText.sanitised(text)
        try output.write(canDim ? "\u{1B}[2m\(text)\u{1B}[22m" : text)
    }

    /// Writes a line of data, without control characters on a terminal.
    func print(_ line: String) throws {
        try output.write((output.isTerminal ? TerminalText.sanitised(line) : line) + "\n")
    }

    /// Writes an event as a line of JSON. A failure of the command will be an event too.
    func emit(_ event: some Encodable) throws {
        state.withLock { $0.speaksEvents = true }
        try output.write(try JSON.text(event) + "\n")
    }

    /// Writes a value as an event with a name.
    func emit(_ event: String, _ body: some Encodable) throws { try emit(NamedEvent(event: event, body: body)) }

    /// Writes a piece of an answer as an event, without `JSONEncoder`, which is too slow to encode every token.
    func emitPiece(_ event: String, delta: String) throws {
        speakEvents()
        try output.write("{\"delta\":\(JSONValue.string(delta).text),\"event\":\(JSONValue.string(event).text)}\n")
    }

    /// Makes a failure of the command an event on the output too.
    func speakEvents() { state.withLock { $0.speaksEvents = true } }

    var speaksEvents: Bool { state.withLock { $0.speaksEvents } }

    /// Writes a message, unless `--quiet` is set.
    func say(_ line: String) {
        guard !isQuiet else { return }
        writeError(TerminalText.sanitised(line) + "\n")
    }

    /// Writes a message, even with `--quiet`.
    func complain(_ line: String) { writeError(TerminalText.sanitised(line) + "\n") }

    /// Replaces or removes the bar on the terminal's last line.
    func showBar(_ text: String?) {
        guard !isQuiet, let columns = barWidth else { return }
        let hadBar = state.withLock { state in
            defer { state.hasBar = text != nil }
            return state.hasBar
        }
        guard text != nil || hadBar else { return }
        // A bar that goes on in the next line could not be taken away.
        writeRaw("\r\u{1B}[K" + TerminalText.truncated(text ?? "", to: columns - 1))
    }

    /// Writes a message without a line end: a prompt.
    func prompt(_ text: String) { writeRaw(text) }

    private func writeError(_ text: String) {
        showBar(nil)
        writeRaw(text)
    }

    private func writeRaw(_ text: String) {
        // A failure to write messages cannot be reported; the command continues.
        try? errors.write(text)
    }
}

/// A value with the name of its event.
private struct NamedEvent<Body: Encodable>: Encodable {
    let event: String
    let body: Body

    private enum CodingKeys: CodingKey { case event }

    func encode(to encoder: any Encoder) throws {
        try body.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(event, forKey: .event)
    }
}

/// An output stream of the process.
struct DescriptorSink: TextSink {
    let descriptor: Int32

    var isTerminal: Bool { isatty(descriptor) == 1 }

    var width: Int? { isTerminal ? window.columns : nil }

    var lines: Int? { isTerminal ? window.lines : nil }

    /// The window of the terminal; 80 columns and 24 lines if the terminal does not know its size.
    var window: ScreenSize {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
            return ScreenSize(columns: size.ws_col > 0 ? Int(size.ws_col) : 80, lines: 24)
        }
        return ScreenSize(columns: Int(size.ws_col), lines: Int(size.ws_row))
    }

    func write(_ text: String) throws {
        var text = text
        try text.withUTF8 { bytes in
            var rest = UnsafeRawBufferPointer(bytes)
            while !rest.isEmpty {
                #if canImport(Darwin)
                let count = Darwin.write(descriptor, rest.baseAddress, rest.count)
                #else
                let count = Glibc.write(descriptor, rest.baseAddress, rest.count)
                #endif
                if count >= 0 {
                    rest = UnsafeRawBufferPointer(rebasing: rest[count...])
                } else if errno == EPIPE || errno == EBADF {
                    throw OutputClosed()
                } else if errno == EAGAIN {
                    // Another process made the shared descriptor non-blocking.
                    var ready = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                    _ = poll(&ready, 1, -1)
                } else if errno != EINTR {
                    throw FileError(errno: errno, doing: "write", path: Path("standard output"))
                }
            }
        }
    }
}
