import CTerminal
import Foundation
import HearthBase

extension TextSource {
    func secretLine(_ ask: @escaping @Sendable () -> Void) async throws -> String? {
        ask()
        for await line in lines() {
            try Task.checkCancellation()
            return line
        }
        try Task.checkCancellation()
        return nil
    }
}

extension DescriptorSource {
    /// How long one wait for a key takes, in milliseconds; a cancelled task ends at the next one.
    private static let keyWait: Int32 = 200

    func secretLine(_ ask: @escaping @Sendable () -> Void) async throws -> String? {
        try await StopFlag.blocking { flag in
            var before = termios()
            let isTerminal = tcgetattr(descriptor, &before) == 0
            if isTerminal {
                var hidden = before
                hidden.c_lflag &= ~tcflag_t(ECHO)
                hidden.c_lflag |= tcflag_t(ECHONL)
                guard tcsetattr(descriptor, TCSANOW, &hidden) == 0 else {
                    throw FileError(errno: errno, doing: "set the mode of", path: Path("the terminal"))
                }
            }
            // A terminal that was closed needs no echo.
            defer { if isTerminal { tcsetattr(descriptor, TCSANOW, &before) } }
            ask()
            var line: [UInt8] = []
            while true {
                var ready = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                while poll(&ready, 1, Self.keyWait) <= 0 { try flag.check() }
                try flag.check()
                // One byte at a time, so that the next line stays for its reader.
                guard let byte = try read(upTo: 1).first else {
                    return line.isEmpty ? nil : String(decoding: line, as: UTF8.self)
                }
                if byte == UInt8(ascii: "\n") { return String(decoding: line, as: UTF8.self) }
                if line.count < 4096 { line.append(byte) }
            }
        }
    }
}
