import CTerminal
import Foundation
import HearthBase

/// The window of a terminal, in characters.
struct ScreenSize: Sendable, Hashable {
    var columns: Int
    var lines: Int
}

/// An event of a terminal.
enum TerminalEvent: Sendable, Hashable {
    case bytes([UInt8])
    /// The window was resized, or another program wrote on it.
    case resized
    /// The terminal was closed.
    case ended
}

/// A terminal that a command uses exclusively: keys are reported when pressed, and the whole window is drawn.
protocol ScreenTerminal: Sendable {
    /// The current size of the window.
    var size: ScreenSize { get }
    /// Takes over the terminal. Reports its events in order, on any thread.
    /// - Throws: `FileError`; the terminal is unchanged then.
    func enter(_ hear: @escaping @Sendable (TerminalEvent) -> Void) throws
    /// Restores the terminal; does nothing if it is restored already.
    func leave()
    /// Restores the terminal and stops the program, as Ctrl-Z does in ordinary programs. Blocks until the shell
    /// continues the program, then takes over the terminal again; without a shell, blocks briefly.
    /// - Throws: `FileError`, ``OutputClosed``; the terminal is restored then.
    func suspend() throws
    /// Writes all of the text. Blocks while the terminal does not read.
    func write(_ text: String) throws
}

/// The terminal of the process, in raw mode between ``enter(_:)`` and ``leave()``.
///
/// Uses the alternate screen, so that the previous content comes back. Long lines are cut off rather than wrapped, so
/// that a character wider than expected only affects its own line.
///
/// The terminal is also restored if the process crashes or ends by ``giveBackAtTheEnd()``; not after `SIGKILL` or a
/// stack overflow. If the terminal cannot be reopened, for example after `su`, only its attributes are restored. A
/// process has one such terminal because of that.
final class DescriptorTerminal: ScreenTerminal {
    private static let entering = "\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l"
    private static let leaving = "\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l"

    private struct State {
        /// The attributes to restore; `nil` while the terminal is not taken over.
        var before: termios?
        var hear: (@Sendable (TerminalEvent) -> Void)?
        var isListening = false
        /// Signalled when the program continues.
        var resumption: DispatchSemaphore?
    }

    /// The maximum wait for a stop, in milliseconds. Without a job-control shell, no stop comes.
    private static let stopLimit = 500

    private let input: DescriptorSource
    private let output: DescriptorSink
    private let state = Locked(State())

    /// A terminal for both descriptors; `nil` if one of them is not a terminal.
    init?(input: Int32, output: Int32) {
        self.input = DescriptorSource(descriptor: input)
        self.output = DescriptorSink(descriptor: output)
        guard self.input.isTerminal, self.output.isTerminal else { return nil }
    }

    var size: ScreenSize { output.window }

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
        // Failures can be ignored: a closed terminal needs no attributes.
        try? apply(before)
        try? write(Self.leaving)
        // Called last: if the process ends during the blocking write above, the terminal is still restored.
        hearth_terminal_forget()
    }

    /// Restores a terminal that was taken over, right before the process ends. Waits for no thread or reader.
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
        // Stop the whole process group, as the terminal does: the shell handles a script that waits for this program.
        kill(0, SIGTSTP)
        // The stop may come shortly after this returns.
        _ = resumption.wait(timeout: .now() + .milliseconds(Self.stopLimit))
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

    /// Continues after a stop: after ``suspend()``, or after a signal, when the shell may have changed the terminal.
    private func resume() {
        let (resumption, before) = state.withLock { ($0.resumption, $0.before) }
        if let resumption {
            resumption.signal()
        } else if let before {
            // A closed terminal is noticed when it is read.
            try? apply(Self.raw(before))
            try? write(Self.entering)
            guard state.withLock({ $0.before == nil }) else { return tell(.resized) }
            // The terminal was restored meanwhile because the program ended.
            try? apply(before)
            try? write(Self.leaving)
        }
    }

    private func tell(_ event: TerminalEvent) { state.withLock { $0.before == nil ? nil : $0.hear }?(event) }

    /// Restores the attributes if the process ends before ``leave()``.
    private func keep(_ attributes: termios) {
        var attributes = attributes
        let isKept = hearth_terminal_keep(
            input.descriptor, output.descriptor, &attributes, Self.leaving, Self.leaving.utf8.count)
        if !isKept { Log.write(.info, "a crash would leave the terminal as it is then") }
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

    /// Raw input: each byte at once and unchanged, including Ctrl-C, without echo. Output is unchanged.
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
