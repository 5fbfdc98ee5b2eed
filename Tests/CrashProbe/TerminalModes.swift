import CTerminal
import Foundation
import HearthBase

extension Probe {
    /// Takes the terminal for itself and ends as it is told, or says `ready` and waits to be ended. `forgotten`: nobody keeps what the
    /// terminal was any more.
    /// - Returns: `nil` for words that mean nothing.
    static func terminal(_ words: [String]) throws -> UInt64? {
        var attributes = termios()
        guard tcgetattr(STDIN_FILENO, &attributes) == 0 else {
            throw FileError(errno: errno, doing: "read the mode of", path: Path("the terminal"))
        }
        // As somebody who has handlers of his own.
        if words.contains("handled") { signal(SIGABRT, endSlowly) }
        let leaving = "\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l"
        guard hearth_terminal_keep(STDIN_FILENO, STDOUT_FILENO, &attributes, leaving, leaving.utf8.count) else {
            return nil
        }
        attributes.c_lflag &= ~tcflag_t(ICANON | ECHO | ISIG)
        tcsetattr(STDIN_FILENO, TCSANOW, &attributes)
        write("\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7lready")
        if words.first == "forgotten" { hearth_terminal_forget() }
        switch words.last {
        case "abort", "handled": abort()
        case "null": UnsafeMutablePointer<Int>(bitPattern: 8 + zero)?.pointee = 1
        case "trap": _ = UInt8(300 + zero)
        case "end":
            hearth_terminal_give_back()
            _exit(0)
        case "wait": while true { pause() }
        default: break
        }
        return nil
    }

    /// Unknown to whoever compiles this.
    private static var zero: Int { CommandLine.arguments.isEmpty ? 1 : 0 }

    private static func write(_ text: String) {
        _ = Array(text.utf8).withUnsafeBytes { Foundation.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
    }
}

private func endSlowly(_ number: Int32) { _exit(7) }
