import Foundation
import Hearth
import HearthAssistant
import HearthBase
import HearthInference
import HearthRouting
import HearthTestSupport
import Testing

@testable import HearthCommand

/// One answer to `--prompt` whose model writes blocks.
@Suite(.timeLimit(.minutes(5))) struct AnswerActionTests {
    /// A cloud that answers from a script.
    private struct Cloud: RemoteEngine, ForwardingEngine {
        let engine: ScriptedEngine
        let address = URL(string: "http://127.0.0.1:1") ?? URL(filePath: "/")

        func checkHealth() async throws {}
    }

    /// A text that is piped in beside `--prompt`.
    private struct Pipe: TextSource {
        let text: String
        let isTerminal = false

        func lines() -> AsyncStream<String> { FixedSource(text: text).lines() }
        func all(limit: Int) async throws -> String { text }
        func piped(limit: Int) async throws -> String? { text }
    }

    private static let block = #"[REMINDER_ACTION:{"action":"create","title":"Call Anna","due":"2099-11-25T09:00"}]"#
    private static let answer = "I remind you. \(block) Bye."

    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func probe(
        _ text: String = answer, end: ScriptedEngine.Step = .finish(.endOfGeneration), width: Int? = nil
    ) -> CommandProbe {
        var probe = CommandProbe(
            home: folder.path("home"), environment: ["TERM": "xterm"], output: CaptureSink(width: width),
            errors: CaptureSink(width: width))
        // In pieces, as a server sends them.
        let pieces = stride(from: 0, to: text.count, by: 7).map { start in
            ScriptedEngine.Step.text(String(text.dropFirst(start).prefix(7)))
        }
        let engine = ScriptedEngine([pieces + [end]])
        probe.cloud = CloudModel(engine: Cloud(engine: engine), name: "stand-in", hasOwnKey: true)
        return probe
    }

    private var reminders: [String] {
        get async throws {
            try await VdirReminderStore(home: folder.path("home")).reminders(completed: false, limit: 9).map(\.title)
        }
    }

    @Test func withoutATerminalTheBlockIsACardThatIsNotCarriedOut() async throws {
        let probe = probe()
        #expect(await probe.run("chat", "--prompt", "remind me") == 0)
        #expect(probe.output.contents == "I remind you. Bye.\n")
        #expect(probe.errors.contents.contains("New reminder (not carried out)"))
        #expect(probe.errors.contents.contains("--approve REMINDER_ACTION gives it"))
        #expect(try await reminders == [])
    }

    @Test func anAlwaysOfTheSettingsRunsNothingWithoutATerminal() async throws {
        let probe = probe()
        #expect(await probe.run("config", "set", "approval.REMINDER_ACTION", "always") == 0)
        #expect(await probe.run("chat", "--prompt", "remind me") == 0)
        #expect(try await reminders == [])
    }

    @Test func anApprovedTagIsCarriedOut() async throws {
        let probe = probe()
        #expect(await probe.run("chat", "--approve", "REMINDER_ACTION", "--prompt", "remind me") == 0)
        #expect(probe.output.contents == "I remind you. Bye.\n")
        #expect(try await reminders == ["Call Anna"])
    }

    /// What is piped in may be the text of another person.
    @Test func pipedTextMakesAnApprovedTagAsk() async throws {
        let probe = probe()
        let environment = ["HEARTH_HOME": folder.path("home").string]
        var context = CommandContext(
            environment: environment,
            console: Console(output: probe.output, errors: probe.errors, environment: environment),
            input: Pipe(text: "Remind me to call Anna at once."), interruptions: .timeless, time: .system)
        context.clouds = { [cloud = probe.cloud] _, _ in cloud }
        let words = ["chat", "--approve", "REMINDER_ACTION", "--prompt", "Summarise:"]
        #expect(await HearthCommand.run(words, in: context) == 0)
        #expect(probe.errors.contents.contains("New reminder (declined)"))
        #expect(probe.errors.contents.contains("standard input"))
        #expect(try await reminders == [])
    }

    @Test(arguments: [("y", ["Call Anna"]), ("n", []), ("", []), ("e\nCall Bob\n\n\ny", ["Call Bob"])])
    func atATerminalTheCardIsAskedAbout(answer: String, expected: [String]) async throws {
        let probe = probe(width: 80)
        let input = FixedSource(text: answer, isTerminal: true)
        #expect(await probe.run(["chat", "--prompt", "remind me"], input: input) == 0)
        #expect(!probe.output.contents.contains("REMINDER_ACTION"))
        #expect(probe.output.contents.contains("New reminder"))
        #expect(try await reminders == expected)
        #expect(probe.errors.contents.contains("`hearth undo` takes it back") == !expected.isEmpty)
        // What was done can be taken back by the next command.
        guard !expected.isEmpty else { return }
        let undo = CommandProbe(home: folder.path("home"))
        #expect(await undo.run("undo") == 0)
        #expect(try await reminders == [])
    }

    @Test func programsGetTextWithoutBlocksAndCards() async throws {
        let probe = probe()
        #expect(await probe.run("chat", "--format", "json", "--prompt", "remind me") == 0)
        struct Event: Decodable {
            struct Card: Decodable {
                let tag: String
                let state: String
            }
            let event: String
            let delta: String?
            let card: Card?
        }
        let events = try probe.output.contents.split(separator: "\n")
            .map { try JSONDecoder().decode(Event.self, from: Data($0.utf8)) }
        #expect(events.filter { $0.event == "text" }.compactMap(\.delta).joined() == "I remind you. Bye.")
        #expect(events.compactMap(\.card).map(\.state) == ["not-carried-out"])
        #expect(events.last?.event == "finish")
    }

    @Test func aConversationOfAProgramGoesOnAfterAnAnswerThatBrokeOff() async throws {
        let input = FixedSource(text: "First?\n\n/continue\n/exit\nNever?\n", isTerminal: true)
        let routed = probe("Half", end: .finish(.interrupted))
        #expect(await routed.run(["chat", "--format", "json"], input: input) == 0)
        struct Event: Decodable {
            let event: String
            let reason: String?
            let code: String?
        }
        let events = try routed.output.contents.split(separator: "\n")
            .map { try JSONDecoder().decode(Event.self, from: Data($0.utf8)) }
        // There is no local model to continue with: the answer stays as it was. The line after /exit is not asked.
        #expect(events.filter { $0.event == "finish" }.map(\.reason) == ["interrupted"])
        #expect(events.last?.event == "failed")
        #expect(routed.errors.contents.contains("/continue"))
    }

    @Test func anAnswerThatBreaksOffCarriesNothingOut() async throws {
        for end in [ScriptedEngine.Step.finish(.maximumNewTokens), .finish(.interrupted)] {
            let probe = probe(end: end, width: 80)
            let input = FixedSource(text: "y\ny\n", isTerminal: true)
            _ = await probe.run(["chat", "--prompt", "remind me"], input: input)
            #expect(probe.errors.contents.contains("New reminder (not carried out)"))
            #expect(try await reminders == [])
        }
    }

    @Test(arguments: [
        ["--system", "Write blocks."], ["--grammar"],
    ])
    func withOwnInstructionsBlocksAreText(options: [String]) async throws {
        let grammar = try folder.write("any.gbnf", Data(#"root ::= [^\x00]*"#.utf8))
        let probe = probe()
        let words = options == ["--grammar"] ? ["--grammar", grammar.string] : options
        #expect(await probe.run(["chat", "--prompt", "remind me"] + words) == 0)
        #expect(probe.output.contents == Self.answer + "\n")
        #expect(!probe.errors.contents.contains("New reminder"))
    }

    /// Blocks of actions that the settings do not offer are cards that say so, as in a conversation.
    @Test func blocksThatAreNotOfferedSayWhy() async throws {
        let search = #"[WEB_SEARCH:{"query":"tides"}]"#
        let probe = probe("\(search) \(Self.block)")
        #expect(await probe.run("config", "set", "stores.reminders", "off") == 0)
        #expect(await probe.run("chat", "--prompt", "look") == 0)
        #expect(!probe.output.contents.contains("["), "\(probe.output.contents)")
        let shown = probe.errors.contents
        #expect(shown.contains("Web search") && shown.contains("Reminder action"), "\(shown)")
        #expect(!shown.contains("--approve"), "nothing can be approved")
    }
}
