import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthCommand

/// What `pull` does about a network that is metered or gone, with a catalog here and the file elsewhere.
@Suite(.timeLimit(.minutes(10))) struct MeteredTests {
    private static let question = "This network is metered. Fetch 18.0 MB of far now? [y/N] "
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try offer("1.0.0", at: "https://models.invalid/far.gguf")
    }

    private func offer(_ version: String, at address: String, size: Int = 18_000_000) throws {
        let digest = SHA256Digest(hashing: Array(repeating: 7, count: size < 1000 ? size : 0)).hex
        try folder.write(
            "models.json",
            Data(
                #"""
                {"schemaVersion": 1, "currentVersion": "\#(version)", "models": [{"id": "far", "version": "\#(version)",
                 "filename": "far-v\#(version)-q4_1.gguf", "sizeBytes": \#(size), "sha256": "\#(digest)",
                 "downloadUrl": "\#(address)"}]}
                """#.utf8))
    }

    private func probe(
        _ network: String, isAtTerminal: Bool, written: @escaping @Sendable (String) -> Void = { _ in },
        interruptions: Interruptions = .timeless
    ) -> CommandProbe {
        CommandProbe(
            home: folder.path("home"),
            environment: ["HEARTH_NETWORK": network, "HEARTH_ORIGIN": folder.path("models.json").string],
            errors: CaptureSink(width: isAtTerminal ? 100 : nil, written: written), interruptions: interruptions,
            time: HurriedClock().time)
    }

    /// A person or a script, what they set and say, and what comes of it.
    struct Case: Sendable, CustomTestStringConvertible {
        var words: [String] = []
        var setting: String?
        var answer = ""
        var isAtTerminal = true
        var isAsked = false
        var isFetched = false

        var testDescription: String { "\(words) \(setting ?? "unset") '\(answer)' \(isAtTerminal)" }
    }

    @Test(arguments: [
        Case(answer: "n\n", isAsked: true), Case(answer: "", isAsked: true), Case(answer: "yesterday\n", isAsked: true),
        Case(answer: "y\n", isAsked: true, isFetched: true), Case(answer: " YES \n", isAsked: true, isFetched: true),
        Case(isAtTerminal: false), Case(answer: "y\n", isAtTerminal: false),
        Case(setting: "deny", answer: "y\n"), Case(setting: "allow", isFetched: true),
        Case(setting: "allow", isAtTerminal: false, isFetched: true),
        Case(setting: "ask", answer: "y\n", isAtTerminal: false),
        Case(setting: "ask", answer: "y\n", isAsked: true, isFetched: true),
        Case(words: ["--metered", "deny"], setting: "allow", answer: "y\n"),
        Case(words: ["--metered", "allow"], setting: "deny", isFetched: true),
        Case(words: ["--metered=ask"], setting: "allow", answer: "n\n", isAsked: true),
        Case(words: ["--metered", "ask"], answer: "y\n", isAtTerminal: false),
        Case(words: ["--quiet"], answer: "n\n", isAsked: true),
    ])
    func onAMeteredNetworkThePersonDecides(_ each: Case) async throws {
        let probe = probe("metered", isAtTerminal: each.isAtTerminal)
        if let setting = each.setting {
            #expect(await probe.run("config", "set", "network.metered", setting) == 0)
        }
        let input = FixedSource(text: each.answer, isTerminal: each.isAtTerminal)
        #expect(await probe.run(["pull", "far"] + each.words, input: input) == 75)
        let said = probe.errors.contents
        #expect(said.contains(Self.question) == each.isAsked)
        // Whoever may fetch finds no such host; whoever may not is told what to wait for.
        #expect(said.contains("[host-not-found]") == each.isFetched)
        #expect(said.contains("Wi-Fi required") == !each.isFetched)
        #expect(said.contains("[metered-network]") == !each.isFetched)
    }

    @Test(arguments: [("unmetered", "host-not-found"), ("offline", "offline")])
    func elsewhereNobodyIsAsked(network: String, code: String) async throws {
        let probe = probe(network, isAtTerminal: true)
        #expect(await probe.run(["pull", "far"], input: FixedSource(text: "y\n", isTerminal: true)) == 75)
        #expect(probe.errors.contents.contains("[\(code)]"))
        #expect(!probe.errors.contents.contains("[y/N]"))
    }

    @Test func anInterruptIsNoAnswer() async throws {
        let interruptions = Interruptions.timeless
        let probe = probe(
            "metered", isAtTerminal: true,
            written: { text in if text.contains("[y/N]") { interruptions.deliver(.interrupt) } },
            interruptions: interruptions)
        #expect(await probe.run(["pull", "far"], input: FixedSource(text: "y\n", isTerminal: true)) == 130)
        #expect(probe.errors.contents.contains("[interrupted]"))
    }

    @Test func filesUseNoNetworkAndUpdatesDo() async throws {
        try folder.write("far.gguf", Data(repeating: 7, count: 500))
        try offer("1.0.0", at: "far.gguf", size: 500)
        for network in ["offline", "metered"] {
            #expect(await probe(network, isAtTerminal: false).run("pull", "far", "--no-probe") == 0, "\(network)")
        }
        try offer("1.1.0", at: "https://models.invalid/far.gguf")
        let refused = probe("metered", isAtTerminal: false)
        #expect(await refused.run("update") == 75)
        #expect(refused.errors.contents.contains("[metered-network]"))
        let asked = probe("metered", isAtTerminal: true)
        #expect(await asked.run(["update", "far"], input: FixedSource(text: "no\n", isTerminal: true)) == 75)
        #expect(asked.errors.contents.contains(Self.question))
        let allowed = probe("metered", isAtTerminal: false)
        #expect(await allowed.run("update", "--metered", "allow") == 75)
        #expect(allowed.errors.contents.contains("[host-not-found]"))
        // What is there already is not fetched, so there is nothing to ask.
        try offer("1.0.0", at: "https://models.invalid/far.gguf", size: 500)
        #expect(await probe("metered", isAtTerminal: false).run("pull", "far", "--no-probe") == 0)
    }

    /// Repairing asks as pulling does.
    @Test func whatIsDamagedIsFetchedOnlyWithLeave() async throws {
        try folder.write("far.gguf", Data(repeating: 7, count: 500))
        try offer("1.0.0", at: "far.gguf", size: 500)
        #expect(await probe("metered", isAtTerminal: false).run("pull", "far", "--no-probe") == 0)
        try folder.write("home/models/far/1.0.0~q4_1/far-v1.0.0-q4_1.gguf", Data(repeating: 8, count: 500))
        try offer("1.0.0", at: "https://models.invalid/far.gguf", size: 500)
        let question = "This network is metered. Fetch the damaged files of far@1.0.0:q4_1 now? [y/N] "
        func repair(_ words: String..., answer: String? = nil) async -> String {
            let probe = probe("metered", isAtTerminal: answer != nil)
            let input = FixedSource(text: answer ?? "", isTerminal: answer != nil)
            #expect(await probe.run(["verify", "--repair"] + words, input: input) == 75)
            #expect(probe.errors.contents.contains(question) == (answer != nil))
            return probe.errors.contents
        }
        #expect(await repair().contains("[metered-network]"))
        #expect(await repair(answer: "n\n").contains("[metered-network]"))
        #expect(await repair(answer: "y\n").contains("[host-not-found]"))
        #expect(await repair("--metered", "allow").contains("[host-not-found]"))
        let set = probe("metered", isAtTerminal: false)
        #expect(await set.run("config", "set", "network.metered", "allow") == 0)
        #expect(await repair().contains("[host-not-found]"))
        // What is on this machine is no network.
        try offer("1.0.0", at: "far.gguf", size: 500)
        let repaired = probe("metered", isAtTerminal: false)
        #expect(await repaired.run("verify", "--repair", "--metered", "deny") == 0)
        #expect(repaired.output.contents == "far@1.0.0:q4_1: intact\n")
    }

    @Test(arguments: ["Metered", "yes", "online", " ", "\u{1B}[2J"])
    func anUnknownStatementIsAnError(network: String) async throws {
        for words in [["pull", "far"], ["doctor"]] {
            let probe = probe(network, isAtTerminal: false)
            #expect(await probe.run(words) == 1)
            #expect((probe.errors.contents + probe.output.contents).contains("[invalid-configuration]"))
            #expect(!(probe.errors.contents + probe.output.contents).contains("\u{1B}"))
        }
    }

    @Test(arguments: [
        ["pull", "far", "--metered", "maybe"], ["pull", "far", "--metered"], ["update", "--metered", ""],
        ["verify", "--repair", "--metered", "often"],
    ])
    func wrongWordsAreUsage(words: [String]) async throws {
        #expect(await probe("metered", isAtTerminal: false).run(words) == 64)
    }

    @Test(arguments: [
        ("metered", "online, metered (HEARTH_NETWORK)"), ("unmetered", "online, not metered (HEARTH_NETWORK)"),
        ("offline", "offline (HEARTH_NETWORK)"),
    ])
    func doctorSaysHowTheNetworkIs(network: String, line: String) async throws {
        let probe = probe(network, isAtTerminal: false)
        _ = await probe.run("doctor")
        #expect(probe.output.contents.contains(line))
    }
}
