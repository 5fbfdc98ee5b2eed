import CTerminal
import Foundation
import HearthBase
import Testing

@testable import HearthCommand

/// What a program leaves of its terminal that crashes while it has that for itself.
@Suite(.timeLimit(.minutes(5))) struct CrashedTerminalTests {
    private static let probe = Path(ChildProcess.hearth.parent.string + "/HearthCrashProbe")

    /// How the program is ended, and by which signal that has to be. `nil` ends by what it did before.
    struct End: Sendable, CustomTestStringConvertible {
        var words: [String]
        var sent: Int32?
        var status: Int32
        /// Whether the terminal is given back.
        var givesBack = true

        var testDescription: String { "\(words.joined(separator: " ")) \(sent.map { "\($0)" } ?? "")" }
    }

    #if arch(x86_64)
    private static let trap = SIGILL
    #else
    private static let trap = SIGTRAP
    #endif

    private static let ends = [
        End(words: ["abort"], status: 128 + SIGABRT), End(words: ["null"], status: 128 + SIGSEGV),
        End(words: ["trap"], status: 128 + trap), End(words: ["wait"], sent: SIGQUIT, status: 128 + SIGQUIT),
        End(words: ["wait"], sent: SIGTRAP, status: 128 + SIGTRAP),
        End(words: ["wait"], sent: SIGFPE, status: 128 + SIGFPE),
        End(words: ["wait"], sent: SIGBUS, status: 128 + SIGBUS),
        End(words: ["wait"], sent: SIGKILL, status: 128 + SIGKILL, givesBack: false),
        End(words: ["handled"], status: 7), End(words: ["end"], status: 0),
        End(words: ["forgotten", "abort"], status: 128 + SIGABRT, givesBack: false),
    ]

    @Test(arguments: ends) func itIsGivenBackAndTheEndIsTheSame(_ end: End) async throws {
        // A sanitizer that takes faults for itself ends a process by its own status.
        let quiet = ["ASAN_OPTIONS": "handle_segv=0:handle_abort=0:handle_sigill=0", "TSAN_OPTIONS": "handle_segv=0"]
        let program = try TerminalProcess(["terminal"] + end.words, program: Self.probe, environment: quiet)
        if let signal = end.sent {
            await program.shows { $0.isTaken && $0.text.contains { $0.contains("ready") } }
            #expect(program.isRaw)
            program.send(signal)
        }
        #expect(await program.status() == end.status)
        await program.drained()
        #expect(program.screen.isTaken != end.givesBack && program.screen.hidesCursor != end.givesBack)
        #expect((program.attributes == program.attributesBefore) == end.givesBack)
    }

    /// Who handled a signal before does so again afterwards, one that was ignored is at no time handled, and there is one terminal.
    @Test func theSignalsAreGivenBackWithIt() throws {
        func handler(_ number: Int32) -> [UInt8] {
            var action = sigaction()
            sigaction(number, nil, &action)
            // The handler is its first member everywhere.
            return withUnsafeBytes(of: action) { Array($0.prefix(MemoryLayout<Int>.size)) }
        }
        TerminalProcess.heedsQuit
        // A program that another test starts meanwhile would ignore it too.
        ChildProcess.starting.withLock { _ in
            let ignored = signal(SIGTRAP, SIG_IGN)
            defer { signal(SIGTRAP, ignored) }
            let before = [SIGQUIT, SIGABRT, SIGTRAP].map(handler)
            var attributes = termios()
            let text = "text"
            for _ in 1...2 {
                #expect(hearth_terminal_keep(-1, -1, &attributes, text, text.utf8.count))
                #expect(!hearth_terminal_keep(-1, -1, &attributes, text, text.utf8.count), "there is one already")
                let meanwhile = [SIGQUIT, SIGABRT, SIGTRAP].map(handler)
                #expect(meanwhile[0] != before[0] && meanwhile[1] != before[1] && meanwhile[2] == before[2])
                hearth_terminal_forget()
                #expect([SIGQUIT, SIGABRT, SIGTRAP].map(handler) == before)
            }
            #expect(!hearth_terminal_keep(-1, -1, &attributes, text, Int(HEARTH_TERMINAL_SEQUENCE_LIMIT) + 1))
            hearth_terminal_forget()
        }
    }
}
