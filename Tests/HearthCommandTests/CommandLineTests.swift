import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthCommand

@Suite struct CommandLineTests {
    @Test(arguments: [
        [""], ["-"], ["--"], ["puul"], ["--bogus"], ["config", "sett"], ["config", "get"],
        ["config", "get", ""], ["config", "set", "threads"], ["doctor", "now"], ["doctor", "--format", "xml"],
        ["help", "nothing"], ["\u{1B}[2J"], [String(repeating: "a", count: 2000)],
    ])
    func wrongUsageExits64WithAHint(words: [String]) async throws {
        let folder = try TemporaryFolder()
        let probe = CommandProbe(home: folder.path("home"))
        #expect(await probe.run(words) == 64)
        #expect(probe.output.contents.isEmpty)
        let lines = probe.errors.contents.split(separator: "\n")
        #expect(lines.count == 2)
        #expect(lines.first?.hasPrefix("hearth: ") == true)
        #expect(lines.first?.hasSuffix("[wrong-usage]") == true)
        #expect(lines.last?.contains("--help` for") == true)
        #expect(!probe.errors.contents.contains("\u{1B}"))
        #expect(probe.errors.contents.utf8.count < 400)
    }

    @Test func theVersionIsOneLine() async throws {
        let folder = try TemporaryFolder()
        let probe = CommandProbe(home: folder.path("home"))
        #expect(await probe.run("--version") == 0)
        #expect(probe.output.contents == "hearth 0.1.0\n")
        #expect(probe.errors.contents.isEmpty)
    }

    @Test func aReaderThatLeftIsNoFailure() async throws {
        let folder = try TemporaryFolder()
        let probe = CommandProbe(home: folder.path("home"), output: CaptureSink(isClosed: true))
        #expect(await probe.run("--help") == 0)
        #expect(await probe.run("config", "list", "--format", "json") == 0)
        #expect(probe.errors.contents.isEmpty)
    }

    @Test func aHomeBelowARegularFileIsOneClearSentence() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("file", Data("x".utf8))
        let probe = CommandProbe(home: Path(file.string + "/home"))
        #expect(await probe.run("config", "set", "threads", "2") == 1)
        #expect(probe.errors.contents.contains("[not-a-folder]"))
    }
}

@Suite struct FailureRendererTests {
    @Test func aFailureIsASentenceItsCodeAndARemedy() {
        let rendered = FailureRenderer(UsageError("no\u{1B}[2J\nsuch", hint: "Try this."))
        #expect(rendered.lines == ["hearth: no[2J such [wrong-usage]", "  Try this."])
        #expect(rendered.exitStatus == 64)
    }

    @Test func cancellationIsAnInterruption() {
        #expect(FailureRenderer(CancellationError()).exitStatus == 130)
        #expect(FailureRenderer(CancellationError()).lines == ["hearth: interrupted [interrupted]"])
    }

    @Test func foreignErrorsHaveACodeToo() {
        struct Strange: Error {}
        #expect(FailureRenderer(Strange()).body.code == "internal-error")
        #expect(FailureRenderer(Strange()).exitStatus == 1)
    }

    @Test func inEventsAFailureIsTheLastEvent() async throws {
        let output = CaptureSink()
        let console = Console(output: output, errors: CaptureSink(), environment: [:])
        try console.emit("error", FailureRenderer(UsageError("no", hint: nil)).body)
        let event: JSONValue = ["event": "error", "code": "wrong-usage", "message": "no", "status": 64]
        #expect(try JSONValue(parsing: output.contents) == event)
    }
}

@Suite(.timeLimit(.minutes(10))) struct InterruptionsTests {
    @Test func aSignalCancelsTheCommand() async {
        let interruptions = Interruptions.timeless
        await #expect(throws: CancellationError.self) {
            try await interruptions.run {
                interruptions.deliver(.interrupt)
                try Task.checkCancellation()
            }
        }
    }

    @Test func signalsThatComeTogetherAreOne() async {
        let clock = ManualClock()
        let interruptions = Interruptions(time: clock.time)
        await #expect(throws: CancellationError.self) {
            try await interruptions.run {
                interruptions.deliver(.interrupt)
                clock.advance(by: .milliseconds(499))
                // Half a second after the first this would end the test's own process.
                interruptions.deliver(.terminate)
                try Task.checkCancellation()
            }
        }
    }

    @Test func anInterruptHandlerSparesTheCommandButTerminationDoesNot() async throws {
        let interruptions = Interruptions.timeless
        let count = Locked(0)
        try await interruptions.run {
            await interruptions.handling(.interrupt, with: { count.withLock { $0 += 1 } }) {
                interruptions.deliver(.interrupt)
                #expect(!Task.isCancelled)
                interruptions.deliver(.terminate)
                #expect(Task.isCancelled)
            }
        }
        #expect(count.withLock { $0 } == 1)
    }
}
