import Foundation
import Hearth
import HearthBase
import HearthInference
import HearthTestSupport
import Testing

@testable import HearthCommand

@Suite struct InterruptPolicyTests {
    /// Ctrl-C, a line that it gave up, and the ends of an answer.
    enum Step: Sendable { case interrupt, emptyLine, typedLine, message, answered }

    /// A terminal whose lines are edited asks what follows a line that was given up; another warns at once.
    @Test(arguments: [
        ([Step.message, .interrupt, .interrupt], true, [InterruptPolicy.Action.stopAnswer, .end]),
        ([.message, .interrupt, .answered, .interrupt, .emptyLine], true, [.stopAnswer, .giveUpLine, .end]),
        ([.message, .interrupt, .answered, .interrupt, .typedLine], true, [.stopAnswer, .giveUpLine, .nothing]),
        ([.emptyLine, .emptyLine], true, [.warn, .end]),
        ([.emptyLine, .typedLine, .emptyLine, .emptyLine], true, [.warn, .nothing, .warn, .end]),
        ([.emptyLine, .message, .answered, .emptyLine], true, [.warn, .warn]),
        ([.interrupt, .interrupt], false, [.warn, .end]),
        ([.message, .interrupt, .answered, .interrupt], false, [.stopAnswer, .end]),
        ([.interrupt, .message, .interrupt], false, [.warn, .stopAnswer]),
    ])
    func theFirstStopsAndTheSecondEnds(steps: [Step], canEdit: Bool, expected: [InterruptPolicy.Action]) {
        var policy = InterruptPolicy()
        let actions = steps.compactMap { step -> InterruptPolicy.Action? in
            switch step {
            case .interrupt: return policy.interrupt(canEdit: canEdit)
            case .emptyLine: return policy.lineGivenUp(hadText: false)
            case .typedLine: return policy.lineGivenUp(hadText: true)
            case .message: policy.answerBegins()
            case .answered: policy.answerEnds()
            }
            return nil
        }
        #expect(actions == expected)
    }
}

/// What a conversation does with the files of its model.
@Suite struct ChatFilesTests {
    /// Also of one that no engine can open.
    @Test func whatIsOpenedIsAskedForBefore() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("toy-v1.0.0-q4_1.gguf", Data("no model at all".utf8))
        let probe = CommandProbe(home: folder.path("home"))
        #expect(await probe.run("pull", file.string, "--no-probe") == 0)
        let log = await RecordedLog.start(.debug)
        defer { log.stop() }
        #expect(await probe.run("chat", "toy", "--prompt", "Hello") == 1)
        let asked = log.messages(of: "base.cache").filter { $0.hasPrefix("asked for the first 15 bytes of ") }
        #expect(
            asked.contains { $0.contains(folder.path("home").string) && $0.hasSuffix("/\(file.lastComponent)") },
            "\(asked)")
    }
}

@Suite(.timeLimit(.minutes(10))) struct ConversationTests {
    private func events(_ engine: ScriptedEngine) -> AsyncThrowingStream<GenerationEvent, any Error> {
        LanguageModelSession(model: engine).streamResponse(to: "?").pieces
    }

    @Test func aTerminalIsNeverFedControlCharactersButAPipeGetsTheBytes() async throws {
        let evil = "\u{1B}]0;x\u{7}\u{9B}31mred\r\n"
        for width in [80, nil] {
            let output = CaptureSink(width: width)
            let console = Console(output: output, errors: CaptureSink(), environment: [:])
            let engine = ScriptedEngine([[.text(evil), .finish(.endOfGeneration)]])
            try await AnswerPrinter(console: console, format: .text, model: "m")
                .print(events(engine))
            #expect(output.contents == (width == nil ? evil : "]0;x31mred\n"))
        }
    }

    private static let thoughtful: [ScriptedEngine.Step] = [
        .truncated(2), .thinking("let me "), .thinking("see\u{1B}[2J"), .text("ok"), .finish(.endOfGeneration),
    ]

    @Test(
        arguments: [
            (80, [:], "\u{1B}[2mlet me \u{1B}[22m\u{1B}[2msee[2J\u{1B}[22m\n\nok\n"),
            (80, ["NO_COLOR": "1"], "(thinking) let me see[2J\n\nok\n"),
            (nil, [:], "ok\n"),
        ] as [(Int?, [String: String], String)])
    func thinkingIsSetApartAndKeptOutOfPipes(width: Int?, environment: [String: String], expected: String) async throws
    {
        let output = CaptureSink(width: width)
        let errors = CaptureSink()
        let console = Console(output: output, errors: errors, environment: environment)
        try await AnswerPrinter(console: console, format: .text, model: "m")
            .print(events(ScriptedEngine([Self.thoughtful])))
        #expect(output.contents == expected)
        #expect(errors.contents.contains("2 oldest messages"))
    }

    @Test func thinkingAndTruncationAreEvents() async throws {
        let output = CaptureSink()
        let console = Console(output: output, errors: CaptureSink(), environment: [:])
        try await AnswerPrinter(console: console, format: .json, model: "m")
            .print(events(ScriptedEngine([Self.thoughtful])))
        let lines = output.contents.split(separator: "\n").map(String.init)
        #expect(lines.first == #"{"dropped":2,"event":"truncated"}"#)
        #expect(lines.dropFirst().first == #"{"delta":"let me ","event":"thinking"}"#)
    }

    @Test func loadingAndConnectingAreEvents() async throws {
        let output = CaptureSink()
        let console = Console(output: output, errors: CaptureSink(), environment: [:])
        let engine = ScriptedEngine([
            [
                .event(.phase(.loading(fraction: 0.5))), .event(.phase(.connecting)), .text("ok"),
                .finish(.contentFilter),
            ]
        ])
        try await AnswerPrinter(console: console, format: .json, model: "m").print(events(engine))
        let lines = output.contents.split(separator: "\n")
        #expect(
            lines.prefix(2) == [
                #"{"event":"phase","fraction":0.5,"phase":"load"}"#, #"{"event":"phase","phase":"connect"}"#,
            ])
        #expect(lines.last?.contains(#""reason":"content-filter""#) == true)
    }

    @Test func eventsHaveFixedNames() async throws {
        let output = CaptureSink()
        let console = Console(output: output, errors: CaptureSink(), environment: [:])
        let engine = ScriptedEngine([[.text("a\"\n"), .finish(.maximumNewTokens)]])
        try await AnswerPrinter(console: console, format: .json, model: "m")
            .print(events(engine))
        let lines = output.contents.split(separator: "\n")
        #expect(lines.first == #"{"delta":"a\"\n","event":"text"}"#)
        let last = try #require(lines.last)
        let finish = try #require(try JSONSerialization.jsonObject(with: Data(last.utf8)) as? [String: Any])
        #expect(Set(finish.keys) == ["event", "reason", "usage", "timings"])
        #expect(finish["reason"] as? String == "length")
        let timings = try #require(finish["timings"] as? [String: Any])
        #expect(Set(timings.keys) == ["firstTokenSeconds", "prefillTokensPerSecond", "decodeTokensPerSecond"])
    }
}

@Suite struct ChatUsageTests {
    @Test(arguments: [
        ["chat", "--max-tokens", "0"], ["chat", "--temperature", "-1"], ["chat", "--top-p", "1.5"],
        ["chat", "--seed", "-1"], ["chat", "--seed", "4294967296"], ["chat", "--prompt", ""],
        ["chat", "a", "b", "--prompt", "c"],
        ["chat", "m@"], ["chat", "--format", "yaml"],
        ["chat", "--stop", ""], ["chat", "--stop"],
    ])
    func wrongUsageExits64(words: [String]) async throws {
        let folder = try TemporaryFolder()
        let probe = CommandProbe(home: folder.path("home"))
        #expect(await probe.run(words) == 64)
        #expect(probe.output.contents.isEmpty)
    }

    @Test func anEmptyInputIsWrongUsage() async throws {
        let folder = try TemporaryFolder()
        let probe = CommandProbe(home: folder.path("home"))
        #expect(await probe.run("chat", "m.gguf", input: FixedSource(text: " \n")) == 64)
    }

    @Test(.enabled(if: EngineOpening.runsGGUF)) func inEventsAFailureIsAnEventToo() async throws {
        let folder = try TemporaryFolder()
        let probe = CommandProbe(home: folder.path("home"))
        #expect(await probe.run("chat", folder.path("none.gguf").string, "--prompt", "x", "--format", "json") == 1)
        let last = try #require(probe.output.contents.split(separator: "\n").last)
        #expect(last.contains(#""event":"error""#))
        #expect(last.contains(#""code":"cannot-load-model""#))
        #expect(probe.errors.contents.contains("[cannot-load-model]"))
    }
}
