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
        let address = URL(string: "http://127.0.0.1:1") ?? URL(filePath: "/")
        var failure: LLMError?

        func checkHealth() async throws { if let failure { throw failure } }
    }

    private static let answer: [ScriptedEngine.Step] = [.text("Because."), .finish(.endOfGeneration)]

    private func probe(
        _ folder: TemporaryFolder, _ answers: [[ScriptedEngine.Step]] = [answer], failure: LLMError? = nil
    ) -> CommandProbe {
        var probe = CommandProbe(home: folder.path("home"))
        let cloud = Cloud(engine: ScriptedEngine(answers), failure: failure)
        probe.cloud = CloudChoice(engine: cloud, name: "gemini-2.5-flash", hasOwnKey: true)
        return probe
    }

    @Test func withoutACloudTheRouteIsLocalAndSaysHowToSetOneUp() async throws {
        let folder = try TemporaryFolder()
        let probe = CommandProbe(home: folder.path("home"))
        #expect(await probe.run("route") == 0)
        #expect(probe.output.contents.hasPrefix("local: no cloud is set up\n"))
        #expect(probe.output.contents.contains("config set cloud.kind gemini"))
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
        #expect(await probe.run("chat", "--prompt", "Why?") == 0)
        #expect(probe.output.contents == "Half\n")
        #expect(probe.errors.contents.contains("ended by interrupted"))
        #expect(probe.errors.contents.contains("type /continue for the rest"))
    }

    @Test func aProgramReadsWhoAnswers() async throws {
        let folder = try TemporaryFolder()
        let probe = probe(folder)
        #expect(await probe.run("chat", "--format", "json", "--prompt", "Why?") == 0)
        #expect(
            probe.output.contents.contains(
                #"{"event":"route","model":"gemini-2.5-flash","reason":"cloud","source":"cloud","#))
    }

    @Test func aWatchPrintsChanges() async throws {
        let folder = try TemporaryFolder()
        let clock = ManualClock()
        let lines = AsyncStream<String>.makeStream()
        let output = CaptureSink { lines.continuation.yield($0) }
        let interruptions = Interruptions.timeless
        let probe = CommandProbe(
            home: folder.path("home"), output: output, interruptions: interruptions, time: clock.time)
        let watching = Task { await probe.run("route", "--watch") }
        var printed = lines.stream.makeAsyncIterator()
        #expect(await printed.next() == "local: no cloud is set up\n")
        let setting = CommandProbe(home: folder.path("home"))
        #expect(await setting.run("config", "set", "routing.forceLocal", "true") == 0)
        await clock.sleepers(atLeast: 1)
        clock.advance(by: .seconds(2))
        #expect(await printed.next() == "local: the setting forceLocal is on\n")
        interruptions.deliver(.interrupt)
        #expect(await watching.value == 130)
    }
}
