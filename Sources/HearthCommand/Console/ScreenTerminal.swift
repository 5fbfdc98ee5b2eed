import CTerminal
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
    /// Gives it back and stops the program, as Ctrl-Z does with one that has no terminal for itself; takes it again when somebody
    /// has the program go on. Blocks until then, or for a moment where nobody is there who could.
    /// - Throws: ``FileError``, ``OutputClosed``; then it is given back.
    func suspend() throws
    /// Writes all of the text. Blocks while nobody reads.
    func write(_ text: String) throws
}

/// The terminal of the process, in raw mode between ``enter(_:)`` and ``leave()``.
///
/// Another screen is shown meanwhile, so that what was there before comes back; a line longer than the window is cut off
/// instead of broken, so that a character that is wider than expected harms its own line alone.
///
/// A process that crashes, or ends by ``giveBackAtTheEnd()``, gives it back too; only `SIGKILL` and a stack that has overflowed
/// leave it as it is. Where the terminal cannot be opened once more, as somebody else's after `su`, its attributes alone are given
/// back then. For that there is one of them in a process.
final class DescriptorTerminal: ScreenTerminal {
    private static let entering = "\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l"
    private static let leaving = "\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l"

    private struct State {
        /// The attributes to give back; `nil` while the terminal is not ours.
        var before: termios?
        var hear: (@Sendable (TerminalEvent) -> Void)?
        var isListening = false
        /// Who waits for the program to go on.
        var resumption: DispatchSemaphore?
    }

    /// So long a stop may take to come, in milliseconds. None comes where no shell looks after the program's group.
    private static let stopPatience = 500

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
        keep(before)
        do {
            try apply(Self.raw(before))
        } catch {
            hearth_terminal_forget()
            throw error
        }
        let isListening = state.withLock { state in
            defer { (state.before, state.hear, state.isListening) = (before, hear, true) }
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
        // Until here: whoever ends the process while nobody reads what is written is stopped in the line above.
        hearth_terminal_forget()
    }

    /// Gives back the terminal of this process where it has one for itself, for somebody who ends it right after. Waits for no other
    /// thread and for no reader.
    static func giveBackAtTheEnd() { hearth_terminal_give_back() }

    func suspend() throws {
        let resumption = DispatchSemaphore(value: 0)
        let hear = state.withLock { state -> (@Sendable (TerminalEvent) -> Void)? in
            guard state.before != nil else { return nil }
            state.resumption = resumption
            return state.hear
        }
        guard let hear else { return }
        defer { state.withLock { $0.resumption = nil } }
        leave()
        // All of the group, as the terminal itself does it: a script that waits for this program is the shell's job.
        kill(0, SIGTSTP)
        // The stop may come a moment later than this returns.
        _ = resumption.wait(timeout: .now() + .milliseconds(Self.stopPatience))
        try enter(hear)
    }

    func write(_ text: String) throws { try output.write(text) }

    private func listen() {
        Signals.handle(SIGWINCH) { self.tell(.resized) }
        Signals.handle(SIGCONT) { self.resume() }
        input.readOnThread { next in
            while let bytes = next() { self.tell(.bytes(bytes)) }
            self.tell(.ended)
        }
    }

    /// Goes on after a stop: by its own hand, or by a signal after which the shell has used the terminal as it likes.
    private func resume() {
        let (resumption, before) = state.withLock { ($0.resumption, $0.before) }
        if let resumption {
            resumption.signal()
        } else if let before {
            // A terminal that is gone tells so when it is read.
            try? apply(Self.raw(before))
            try? write(Self.entering)
            guard state.withLock({ $0.before == nil }) else { return tell(.resized) }
            // Given back meanwhile, by an end that came with the signal.
            try? apply(before)
            try? write(Self.leaving)
        }
    }

    private func tell(_ event: TerminalEvent) { state.withLock { $0.before == nil ? nil : $0.hear }?(event) }

    /// Has the attributes given back when the process ends before ``leave()``.
    private func keep(_ attributes: termios) {
        var attributes = attributes
        let isKept = hearth_terminal_keep(
            input.descriptor, output.descriptor, &attributes, Self.leaving, Self.leaving.utf8.count)
        if !isKept { Log.write(.info, "command", "a crash would leave the terminal as it is then") }
    }

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
