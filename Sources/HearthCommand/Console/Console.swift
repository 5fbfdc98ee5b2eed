import Foundation
import HearthBase

/// Where one stream of text goes.
protocol TextSink: Sendable {
    /// Whether a person watches: bars and colour make sense.
    var isTerminal: Bool { get }
    /// The columns of a line, `nil` when there is no terminal.
    var width: Int? { get }
    /// Writes all of the text.
    /// - Throws: ``OutputClosed`` when nobody reads any more, ``FileError`` for other failures.
    func write(_ text: String) throws
}

/// Nobody reads the output any more, as after `hearth list | head -1`: not a failure, the work just ends.
struct OutputClosed: Error {}

/// The program's way to the person or the program that called it: data on one stream, talk on the other.
final class Console: Sendable {
    let output: any TextSink
    let errors: any TextSink
    let isQuiet: Bool
    /// The columns of a terminal whose last line can be drawn over, `nil` for a log, a pipe or a terminal that cannot.
    var barWidth: Int? { canRedraw ? errors.width : nil }
    /// Whether the output shows text dimmed when asked to: a terminal, and nobody said `NO_COLOR`.
    let canDim: Bool
    /// Whether the output may be drawn on as a whole: where plainness is asked for, text only ever follows text.
    var canDraw: Bool { canDim }
    private let canRedraw: Bool
    private let state: Locked<State>

    private struct State {
        /// A progress bar stands on the terminal's last line.
        var hasBar = false
        /// The command speaks in events, so its failure is one as well.
        var speaksEvents = false
    }

    init(output: any TextSink, errors: any TextSink, environment: [String: String], isQuiet: Bool = false) {
        self.output = output
        self.errors = errors
        self.isQuiet = isQuiet
        canRedraw = errors.isTerminal && environment["TERM"] != "dumb"
        canDim =
            output.isTerminal && environment["TERM"] != "dumb" && (environment["NO_COLOR"] ?? "").isEmpty
        state = Locked(State())
    }

    /// The same console with or without talk.
    func quiet(_ isQuiet: Bool, environment: [String: String]) -> Console {
        Console(output: output, errors: errors, environment: environment, isQuiet: isQuiet)
    }

    /// Data, as it is.
    func write(_ text: String) throws { try output.write(text) }

    /// What a model thinks, set apart from what it answers: dimmed on a terminal, and never among a program's data.
    func writeAside(_ text: String) throws {
        guard output.isTerminal else { return }
        let text = TerminalText.sanitised(text)
        try output.write(canDim ? "\u{1B}[2m\(text)\u{1B}[22m" : text)
    }

    /// One line of data; control characters are taken out for a terminal.
    func print(_ line: String) throws {
        try output.write((output.isTerminal ? TerminalText.sanitised(line) : line) + "\n")
    }

    /// One event as a line of JSON. A failure of the command will be one as well.
    func emit(_ event: some Encodable) throws {
        state.withLock { $0.speaksEvents = true }
        try output.write(try JSONText.line(event) + "\n")
    }

    /// A piece of an answer as an event. There are as many of them as tokens, on a processor that computes the next one: what
    /// `JSONEncoder` says of them is said here without its dictionaries.
    func emitPiece(_ event: String, delta: String) throws {
        speakEvents()
        try output.write("{\"delta\":\(JSONText.string(delta)),\"event\":\(JSONText.string(event))}\n")
    }

    /// From now on a failure is also reported as an event on the output.
    func speakEvents() { state.withLock { $0.speaksEvents = true } }

    var speaksEvents: Bool { state.withLock { $0.speaksEvents } }

    /// A line for the person; nothing with `--quiet`.
    func say(_ line: String) {
        guard !isQuiet else { return }
        writeError(TerminalText.sanitised(line) + "\n")
    }

    /// A line that `--quiet` does not silence.
    func complain(_ line: String) { writeError(TerminalText.sanitised(line) + "\n") }

    /// Draws over the bar on the terminal's last line, or takes it away.
    func showBar(_ text: String?) {
        guard !isQuiet, barWidth != nil else { return }
        let hadBar = state.withLock { state in
            defer { state.hasBar = text != nil }
            return state.hasBar
        }
        guard text != nil || hadBar else { return }
        writeRaw("\r\u{1B}[K" + (text ?? ""))
    }

    /// Talk without a line's end: a prompt.
    func prompt(_ text: String) { writeRaw(text) }

    private func writeError(_ text: String) {
        showBar(nil)
        writeRaw(text)
    }

    private func writeRaw(_ text: String) {
        // There is nobody left to tell that talk cannot be heard; the work itself goes on.
        try? errors.write(text)
    }
}

/// A stream of the process.
struct DescriptorSink: TextSink {
    let descriptor: Int32
    let isTerminal: Bool

    init(descriptor: Int32, environment: [String: String]) {
        self.descriptor = descriptor
        isTerminal = isatty(descriptor) == 1
    }

    var width: Int? {
        guard isTerminal else { return nil }
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
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
                    // Somebody made the shared descriptor non-blocking.
                    var ready = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                    _ = poll(&ready, 1, -1)
                } else if errno != EINTR {
                    throw FileError(errno: errno, doing: "write", path: Path("standard output"))
                }
            }
        }
    }
}

/// JSON as this program prints it: keys sorted, slashes plain.
enum JSONText {
    /// One line.
    static func line(_ value: some Encodable) throws -> String { try text(value, []) }

    /// Indented, for listings.
    static func pretty(_ value: some Encodable) throws -> String { try text(value, .prettyPrinted) }

    /// A string with its quotation marks, as in the lines above.
    static func string(_ text: String) -> String {
        var bytes: [UInt8] = [UInt8(ascii: "\"")]
        bytes.reserveCapacity(text.utf8.count + 2)
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
            case 0x08: bytes += Array(#"\b"#.utf8)
            case 0x09: bytes += Array(#"\t"#.utf8)
            case 0x0A: bytes += Array(#"\n"#.utf8)
            case 0x0C: bytes += Array(#"\f"#.utf8)
            case 0x0D: bytes += Array(#"\r"#.utf8)
            case 0..<0x20:
                let digits = String(byte, radix: 16)
                bytes += Array(#"\u"#.utf8) + Array(repeating: UInt8(ascii: "0"), count: 4 - digits.utf8.count)
                bytes += Array(digits.utf8)
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func text(_ value: some Encodable, _ more: JSONEncoder.OutputFormatting) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes, more]
        encoder.dateEncodingStrategy = .iso8601
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }
}
