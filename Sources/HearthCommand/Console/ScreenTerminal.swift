import Foundation
import HearthBase

/// The window of a terminal, in characters.
struct ScreenSize: Sendable, Hashable {
    var columns: Int
    var lines: Int
}

/// What a terminal tells.
enum TerminalEvent: Sendable, Hashable {
    case bytes([UInt8])
    /// The window has another size, or somebody else has written on it.
    case resized
    /// Nobody is there any more.
    case ended
}

/// A terminal that a command has for itself: every key is told as it is pressed, and the whole window is drawn.
protocol ScreenTerminal: Sendable {
    /// The window as it is now.
    var size: ScreenSize { get }
    /// Takes it over. What happens from now on is told on any thread, in order.
    /// - Throws: ``FileError``; then it is as it was.
    func enter(_ hear: @escaping @Sendable (TerminalEvent) -> Void) throws
    /// Gives it back as it was before; a second time changes nothing.
    func leave()
    /// Writes all of the text. Blocks while nobody reads.
    func write(_ text: String) throws
}

/// The terminal of the process, in raw mode between ``enter(_:)`` and ``leave()``.
///
/// Another screen is shown meanwhile, so that what was there before comes back; a line longer than the window is cut off
/// instead of broken, so that a character that is wider than expected harms its own line alone.
final class DescriptorTerminal: ScreenTerminal {
    private static let entering = "\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l"
    private static let leaving = "\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l"

    private struct State {
        /// The attributes to give back; `nil` while the terminal is not ours.
        var before: termios?
        var hear: (@Sendable (TerminalEvent) -> Void)?
        var isListening = false
    }

    private let input: DescriptorSource
    private let output: DescriptorSink
    private let state = Locked(State())

    /// The terminal on both descriptors; `nil` where one of them is none.
    init?(input: Int32, output: Int32) {
        self.input = DescriptorSource(descriptor: input)
        self.output = DescriptorSink(descriptor: output, environment: [:])
        guard self.input.isTerminal, self.output.isTerminal else { return nil }
    }

    var size: ScreenSize {
        var size = winsize()
        guard ioctl(output.descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
            return ScreenSize(columns: 80, lines: 24)
        }
        return ScreenSize(columns: Int(size.ws_col), lines: Int(size.ws_row))
    }

    func enter(_ hear: @escaping @Sendable (TerminalEvent) -> Void) throws {
        let before = try attributes()
        try apply(Self.raw(before))
        let isListening = state.withLock { state in
            defer { state = State(before: before, hear: hear, isListening: true) }
            return state.isListening
        }
        if !isListening { listen() }
        try write(Self.entering)
    }

    func leave() {
        guard
            let before = state.withLock({ state -> termios? in
                defer { state.before = nil }
                return state.before
            })
        else { return }
        // There is nobody left to tell, and nothing else to be done: a terminal that is gone needs no attributes.
        try? apply(before)
        try? write(Self.leaving)
    }

    func write(_ text: String) throws { try output.write(text) }

    private func listen() {
        Signals.handle(SIGWINCH) { self.tell(.resized) }
        input.readOnThread { next in
            while let bytes = next() { self.tell(.bytes(bytes)) }
            self.tell(.ended)
        }
    }

    private func tell(_ event: TerminalEvent) { state.withLock { $0.before == nil ? nil : $0.hear }?(event) }

    private func attributes() throws -> termios {
        var attributes = termios()
        guard tcgetattr(input.descriptor, &attributes) == 0 else {
            throw FileError(errno: errno, doing: "read the mode of", path: Path("the terminal"))
        }
        return attributes
    }

    private func apply(_ attributes: termios) throws {
        var attributes = attributes
        while tcsetattr(input.descriptor, TCSANOW, &attributes) != 0 {
            guard errno == EINTR else {
                throw FileError(errno: errno, doing: "set the mode of", path: Path("the terminal"))
            }
        }
    }

    /// Every byte at once and as it was sent, Ctrl-C too, and nothing written by the terminal itself. Output is left alone.
    private static func raw(_ before: termios) -> termios {
        var raw = before
        raw.c_lflag &= ~tcflag_t(ICANON | ECHO | ECHONL | ISIG | IEXTEN)
        raw.c_iflag &= ~tcflag_t(BRKINT | ICRNL | INLCR | IGNCR | INPCK | ISTRIP | IXON)
        withUnsafeMutableBytes(of: &raw.c_cc) { values in
            values[Int(VMIN)] = 1
            values[Int(VTIME)] = 0
        }
        return raw
    }
}
