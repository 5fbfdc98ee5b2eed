import Foundation
import Hearth
import HearthBase
import HearthHTTP
import HearthInference
import HearthRouting
import HearthTestSupport
import Testing

@testable import HearthCommand

/// `hearth route`, and the choice of an engine in `hearth chat`.
@Suite struct RouteCommandTests {
    /// A cloud that answers from a script.
    private struct Cloud: RemoteEngine, ForwardingEngine {
        let engine: ScriptedEngine
        var address = URL(string: "http://127.0.0.1:1") ?? URL(filePath: "/")
        var failure: LLMError?

        func checkHealth() async throws { if let failure { throw failure } }
    }

    private static let answer: [ScriptedEngine.Step] = [.text("Because."), .finish(.endOfGeneration)]

    private func probe(
        _ folder: TemporaryFolder, _ answers: [[ScriptedEngine.Step]] = [answer], failure: LLMError? = nil
    ) -> CommandProbe {
        var probe = CommandProbe(home: folder.path("home"))
        let cloud = Cloud(engine: ScriptedEngine(answers), failure: failure)
        probe.cloud = CloudModel(engine: cloud, name: "gemini-2.5-flash", hasOwnKey: true)
        return probe
    }

    /// The failure of the cloud's check in a report for programs.
    private static func problem(_ probe: CommandProbe) throws -> [String: String] {
        struct Report: Decodable { let problem: [String: String] }
        return try JSONDecoder().decode(Report.self, from: Data(probe.output.contents.utf8)).problem
    }

    @Test func withoutACloudTheRouteIsLocalAndSaysHowToSetOneUp() async throws {
        let folder = try TemporaryFolder()
        let probe = CommandProbe(home: folder.path("home"))
        #expect(await probe.run("route") == 0)
        #expect(probe.output.contents.hasPrefix("local: no cloud is set up\n"))
        #expect(probe.output.contents.contains("config set cloud.kind gemini"))
        #expect(!probe.output.contents.contains("tier") && !probe.output.contents.contains("health"))
        #expect(probe.errors.contents.isEmpty)
    }

    @Test func theRouteNamesTheCloudItsHealthAndTheLastDecisions() async throws {
        let folder = try TemporaryFolder()
        let probe = probe(folder)
        #expect(await probe.run("chat", "--prompt", "Why?") == 0)
        #expect(probe.output.contents == "Because.\n")
        #expect(probe.errors.contents.hasPrefix("(cloud: gemini-2.5-flash)\n"))
        let route = self.probe(folder)
        #expect(await route.run("route") == 0)
        let text = route.output.contents
        #expect(text.hasPrefix("cloud: the cloud is allowed and reachable\n"))
        for line in [
            "cloud     gemini-2.5-flash at http://127.0.0.1:1", "tier      pro", "credits   not counted",
            "network   not needed", "health    healthy", "breaker   closed", "last decisions:",
        ] {
            #expect(text.contains(line + "\n"), "\(line)")
        }
        #expect(!text.contains("Why?"))
    }

    @Test func aProgramReadsTheRoute() async throws {
        let folder = try TemporaryFolder()
        let probe = probe(folder, failure: LLMError(.unreachable, "no answer"))
        #expect(await probe.run("config", "set", "entitlement.credits", "7") == 0)
        #expect(await probe.run("route", "--format", "json") == 0)
        guard case .object(let object) = try JSONValue(parsing: Data(probe.output.contents.utf8)) else {
            Issue.record("no object")
            return
        }
        #expect(object["source"] == .string("local") && object["reason"] == .string("unhealthy"))
        #expect(object["health"] == .string("failed") && object["creditsLeft"] == .integer(7))
        let problem = try Self.problem(probe)
        #expect(problem["code"] == "unreachable" && problem["message"] == "no answer")
        #expect(object["tier"] == .string("pro") && object["decisions"] == .array([]))
    }

    @Test func settingsKeepTheConversationOnTheDevice() async throws {
        let folder = try TemporaryFolder()
        let probe = probe(folder)
        #expect(await probe.run("config", "set", "routing.forceLocal", "true") == 0)
        #expect(await probe.run("route") == 0)
        #expect(probe.output.contents.hasPrefix("local: the setting forceLocal is on\n"))
        #expect(await probe.run("chat", "--prompt", "Why?") == 1)
        #expect(probe.errors.contents.contains("(local: the setting forceLocal is on)\n"))
        #expect(probe.errors.contents.contains("[no-model]"))
        let insisting = self.probe(folder)
        #expect(await insisting.run("chat", "--cloud", "--prompt", "Why?") == 64)
        #expect(insisting.errors.contents.contains("[cloud-off]"))
        #expect(insisting.errors.contents.contains("hearth config unset routing.forceLocal"))
    }

    @Test(arguments: ["--private", "--local"]) func aFlagKeepsTheConversationOnTheDevice(flag: String) async throws {
        let folder = try TemporaryFolder()
        let probe = probe(folder)
        #expect(await probe.run("chat", flag, "--prompt", "Why?") == 1)
        #expect(probe.errors.contents.contains("[no-model]") && !probe.errors.contents.contains("(cloud"))
        #expect(!FileManager.default.fileExists(atPath: folder.path("home/routing/route.json").string))
    }

    @Test func anInsistentRequestNeedsACloud() async throws {
        let folder = try TemporaryFolder()
        let probe = CommandProbe(home: folder.path("home"))
        #expect(await probe.run("chat", "--cloud", "--prompt", "Why?") == 64)
        #expect(probe.errors.contents.contains("[cloud-missing]"))
        #expect(await probe.run("chat", "--cloud", "--private", "--prompt", "Why?") == 64)
        #expect(probe.errors.contents.contains("--cloud excludes --local and --private"))
    }

    @Test func withoutALocalModelTheCloudsFailureIsReported() async throws {
        let folder = try TemporaryFolder()
        let probe = probe(folder, [[.fail(LLMError(.unauthorised, "the key was refused"))]])
        #expect(await probe.run("chat", "--prompt", "Why?") == 1)
        #expect(probe.errors.contents.contains("[unauthorised]"))
    }

    @Test func anAnswerThatBreaksOffSaysWhatToType() async throws {
        let folder = try TemporaryFolder()
        let reset = LLMError(.unreachable, "the connection broke off")
        let probe = probe(folder, [[.text("Half"), .fail(reset)]])
        #expect(await probe.run("chat", "--prompt", "Why?") == 75)
        #expect(probe.output.contents == "Half\n")
        #expect(probe.errors.contents.contains("gemini-2.5-flash: ended by interrupted\n"))
        #expect(probe.errors.contents.contains("[answer-interrupted]"))
        #expect(probe.errors.contents.contains("hearth chat --local"))
        #expect(!probe.errors.contents.contains("/continue"))
    }

    @Test func aConversationSaysHowAnAnswerThatBrokeOffContinues() async throws {
        let folder = try TemporaryFolder()
        let reset = LLMError(.unreachable, "the connection broke off")
        for words in [["chat"], ["chat", "--system", "s"]] {
            let probe = self.probe(folder, [[.text("Half"), .fail(reset)]])
            #expect(await probe.run(words, input: FixedSource(text: "Why?", isTerminal: true)) == 0)
            #expect(probe.errors.contents.contains("type /continue for the rest from a local model"))
            #expect(!probe.errors.contents.contains("[answer-interrupted]"))
        }
    }

    @Test func aProgramReadsThatAnAnswerBrokeOff() async throws {
        let folder = try TemporaryFolder()
        let probe = probe(folder, [[.text("Half"), .fail(LLMError(.unreachable, "the connection broke off"))]])
        #expect(await probe.run("chat", "--format", "json", "--prompt", "Why?") == 75)
        let lines = probe.output.contents.split(separator: "\n")
        #expect(lines.dropLast().last?.contains(#""reason":"interrupted""#) == true)
        #expect(lines.last?.contains(#""code":"answer-interrupted""#) == true)
    }

    /// A key that cannot be used only matters where the cloud may answer.
    @Test(arguments: [["--private"], ["--local"], ["m"], []]) func anUnusableKeyIsNeededForTheCloudOnly(
        words: [String]
    ) async throws {
        let folder = try TemporaryFolder()
        try folder.write("key", Data("k".utf8))
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: folder.path("key").string)
        let setting = CommandProbe(home: folder.path("home"))
        #expect(await setting.run("config", "set", "cloud.kind", "gemini") == 0)
        #expect(await setting.run("config", "set", "cloud.keyFile", folder.path("key").string) == 0)
        let probe = CommandProbe(home: folder.path("home"))
        let status = await probe.run(["chat"] + words + ["--prompt", "Why?"])
        let error = words == ["m"] ? "[not-installed]" : words.isEmpty ? "[cloud-key-unusable]" : "[no-model]"
        #expect(probe.errors.contents.contains(error))
        #expect(status == (words.isEmpty ? 64 : 1))
    }

    @Test func theVendorsServerIsNotAskedWithoutAKey() async throws {
        let folder = try TemporaryFolder()
        let setting = CommandProbe(home: folder.path("home"))
        #expect(await setting.run("config", "set", "cloud.kind", "gemini") == 0)
        let probe = CommandProbe(home: folder.path("home"), environment: ["HTTPS_PROXY": "http://127.0.0.1:1"])
        #expect(await probe.run("route", "--format", "json") == 0)
        let problem = try Self.problem(probe)
        #expect(problem["code"] == "unauthorised")
        #expect(problem["cure"]?.contains("HEARTH_CLOUD_KEY") == true)
        let asking = CommandProbe(home: folder.path("home"))
        #expect(await asking.run("chat", "--cloud", "--prompt", "Why?") == 1)
        #expect(asking.errors.contents.contains("wants a key, and none is set [unauthorised]"))
    }

    @Test func aLocalModelContinuesInTheConversation() async throws {
        let folder = try TemporaryFolder()
        let reset = LLMError(.unreachable, "the connection broke off")
        var probe = probe(folder, [[.text("Half"), .fail(reset)], Self.answer])
        let local = ScriptedEngine([[.text("of it."), .finish(.endOfGeneration)]])
        probe.engines = EngineRegistry()
        probe.engines.register(.gguf) { _ in local }
        let file = try folder.write("toy-v1.0.0-q4_1.gguf", Data("toy".utf8))
        #expect(await probe.run("pull", file.string, "--no-probe", "--quiet") == 0)
        let lines = "/continue\nWhy?\n/continue\n/continue\nAnd now?\n/exit"
        #expect(await probe.run(["chat", "--system", "s"], input: FixedSource(text: lines, isTerminal: true)) == 0)
        #expect(probe.output.contents == "Half\nHalfof it.\nBecause.\n")
        let messages = probe.errors.contents
        #expect(messages.components(separatedBy: "type /continue").count == 2)
        #expect(messages.contains("(local: toy@1.0.0:q4_1; a local answer was asked for)\n"))
        #expect(messages.components(separatedBy: "[nothing-to-continue]").count == 3, "before and after it")
        let asked = try #require(await local.requests.first)
        // The engine goes on with the last message.
        #expect(asked.map(\.role) == [.system, .user, .assistant])
        #expect(asked.map(\.content) == ["s", "Why?", "Half"])
    }

    /// The assistant shows the answer whole again, so that its Markdown is.
    @Test func theAssistantContinuesWithALocalModel() async throws {
        let folder = try TemporaryFolder()
        let reset = LLMError(.unreachable, "the connection broke off")
        var probe = probe(folder, [[.text("Half "), .fail(reset)], Self.answer])
        let local = ScriptedEngine([[.text("of it."), .finish(.endOfGeneration)]])
        probe.engines = EngineRegistry()
        probe.engines.register(.gguf) { _ in local }
        let file = try folder.write("toy-v1.0.0-q4_1.gguf", Data("toy".utf8))
        #expect(await probe.run("pull", file.string, "--no-probe", "--quiet") == 0)
        let lines = "/continue\nWhy?\n/continue\n/continue\n/new\n/continue\n/exit"
        #expect(await probe.run(["chat"], input: FixedSource(text: lines, isTerminal: true)) == 0)
        #expect(probe.output.contents == "Half \nHalf of it.\n")
        let messages = probe.errors.contents
        #expect(messages.components(separatedBy: "type /continue").count == 2)
        #expect(messages.contains("(local: toy@1.0.0:q4_1; a local answer was asked for)\n"))
        #expect(messages.components(separatedBy: "[nothing-to-continue]").count == 4)
        let asked = try #require(await local.requests.first)
        #expect(asked.map(\.role) == [.system, .user, .assistant])
        #expect(asked.last?.content == "Half ")
        let shown = CommandProbe(home: folder.path("home"))
        #expect(await shown.run("chats", "list") == 0)
        #expect(shown.output.contents.contains("Why?"))
    }

    @Test func nothingIsContinuedAfterAReset() async throws {
        let folder = try TemporaryFolder()
        let reset = LLMError(.unreachable, "the connection broke off")
        let probe = probe(folder, [[.text("Half"), .fail(reset)]])
        let input = FixedSource(text: "Why?\n/reset\n/continue\n/exit", isTerminal: true)
        #expect(await probe.run(["chat", "--system", "s"], input: input) == 0)
        #expect(probe.errors.contents.contains("[nothing-to-continue]"))
    }

    @Test func aProgramReadsWhoAnswers() async throws {
        let folder = try TemporaryFolder()
        let probe = probe(folder)
        #expect(await probe.run("chat", "--format", "json", "--prompt", "Why?") == 0)
        #expect(
            probe.output.contents.contains(
                #"{"event":"route","model":"gemini-2.5-flash","reason":"cloud","source":"cloud","#))
    }

    /// A returning connection has to be stable for 30 s, whatever time passes between two looks.
    @Test func aWatchFollowsTheConnection() async throws {
        let folder = try TemporaryFolder()
        let clock = ManualClock()
        let lines = AsyncStream<String>.makeStream()
        let interruptions = Interruptions.timeless
        var probe = CommandProbe(
            home: folder.path("home"), output: CaptureSink { lines.continuation.yield($0) },
            interruptions: interruptions, time: clock.time)
        var cloud = Cloud(engine: ScriptedEngine([]))
        cloud.address = try #require(URL(string: "https://cloud.example"))
        probe.cloud = CloudModel(engine: cloud, name: "gemini-2.5-flash", hasOwnKey: true)
        let watching = Task { [probe] in await probe.run("route", "--watch") }
        var printed = lines.stream.makeAsyncIterator()
        func next(after seconds: Int) async -> String? {
            await clock.sleepers(atLeast: 1)
            clock.advance(by: .seconds(seconds))
            return await printed.next()
        }
        #expect(await printed.next() == "cloud: the cloud is allowed and reachable\n")
        probe.network.change(to: .offline)
        #expect(await next(after: 2) == "local: the device is offline\n")
        probe.network.change(to: .unrestricted)
        #expect(await next(after: 2) == "local: the connection has just returned; the cloud is used in 30 s\n")
        #expect(await next(after: 30) == "cloud: the cloud is allowed and reachable\n")
        probe.network.change(to: .metered)
        #expect(await next(after: 2) == "cloud: the cloud is allowed and reachable\n", "metered is another network")
        interruptions.deliver(.interrupt)
        #expect(await watching.value == 130)
    }
}
