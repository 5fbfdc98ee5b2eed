import Foundation

/// Keeps what a person types during an answer off the screen; the next prompt shows it.
enum QuietTerminal {
    /// Switches the echo of the standard input.
    static func echo(_ isOn: Bool) {
        var attributes = termios()
        guard isatty(STDIN_FILENO) == 1, tcgetattr(STDIN_FILENO, &attributes) == 0 else { return }
        if isOn { attributes.c_lflag |= tcflag_t(ECHO) } else { attributes.c_lflag &= ~tcflag_t(ECHO) }
        // A terminal that was closed ends the next read.
        _ = tcsetattr(STDIN_FILENO, TCSANOW, &attributes)
    }
}
