import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthCommand

private let model = try? TestModel.path(.plain)
private let hasModel = hasEngine && model.map { FileManager.default.fileExists(atPath: $0.string) } ?? false

/// What `chat` does at a terminal about a model that is not on this device.
@Suite(.timeLimit(.minutes(10))) struct ModelOfferTests {
    private static let question = "Tiny is not on this device. Download 18.0 MB now? [y/N] "
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// An entry of a list of models.
    private func entry(
        _ family: String, name: String? = nil, at address: String = "https://models.invalid/far.gguf",
        size: Int = 18_000_000, digest: SHA256Digest = SHA256Digest(hashing: []), memory: UInt64 = 1_000_000_000,
        role: String = "text"
    ) -> String {
        #"""
        {"id": "\#(family)", "version": "1.0.0", "filename": "\#(family)-v1.0.0-q4_1.gguf", "sizeBytes": \#(size),
         "name": "\#(name ?? family)", "sha256": "\#(digest.hex)", "role": "\#(role)",
         "requirements": {"memoryBytes": \#(memory)}, "downloadUrl": "\#(address)"}
        """#
    }

    private func list(_ entries: String...) -> Data {
        Data(#"{"schemaVersion": 1, "models": [\#(entries.joined(separator: ","))]}"#.utf8)
    }

    /// Offers a model that nobody can fetch.
    private func offerFar() throws { try folder.write("models.json", list(entry("tiny", name: "Tiny"))) }

    /// Offers a model that runs.
    private func offerTiny() throws {
        let bytes = try Data(contentsOf: try #require(model).url)
        try folder.write("tiny.gguf", bytes)
        try folder.write(
            "models.json",
            list(
                entry(
                    "tiny", name: "Tiny", at: "tiny.gguf", size: bytes.count, digest: SHA256Digest(hashing: bytes))))
    }

    private func probe(
        _ environment: [String: String] = [:], isAtTerminal: Bool = true,
        interruptions: Interruptions = .timeless,
        time: TimeSource = .system, written: @escaping @Sendable (String) -> Void = { _ in }
    ) -> CommandProbe {
        CommandProbe(
            home: folder.path("home"),
            environment: ["HEARTH_NETWORK": "unmetered", "HEARTH_ORIGIN": folder.path("models.json").string]
                .merging(environment) { $1 },
            errors: CaptureSink(width: isAtTerminal ? 100 : nil, written: written), interruptions: interruptions,
            time: time)
    }

    private func typing(_ text: String) -> FixedSource { FixedSource(text: text, isTerminal: true) }

    /// Named on the command line, in the settings, and not at all.
    @Test(
        .enabled(if: hasModel, "the tiny models are not in the cache: run make setup"),
        arguments: TestExtent.isFull ? [["tiny"], ["tiny@1.0.0:q4_1"], ["default"], []] : [["tiny"], []])
    func aYesFetchesItAndTheConversationGoesOn(words: [String]) async throws {
        try offerTiny()
        let probe = probe()
        if words == ["default"] { #expect(await probe.run("config", "set", "defaultModel", "tiny") == 0) }
        let log = await RecordedLog.start(.debug)
        defer { log.stop() }
        let status = await probe.run(
            ["chat", "--max-tokens", "2"] + words.filter { $0 != "default" }, input: typing("y\nHello\n/stats\n/exit"))
        let said = probe.errors.contents
        #expect(status == 0, "\(said)")
        #expect(said.contains("Tiny is not on this device. Download 14.6 MB now? [y/N] "))
        #expect(said.contains("tiny@1.0.0:q4_1  ") && said.contains("14.6 MB of 14.6 MB"), "no bar: \(said)")
        // The yes was no part of the conversation.
        #expect(said.components(separatedBy: " prompt tokens, ").count == 2, "\(said)")
        #expect(said.contains("tiny@1.0.0:q4_1: "))
        #expect(!probe.output.contents.isEmpty)
        let asked = log.messages(of: "base.cache").filter {
            $0.hasPrefix("asked for the first ") && $0.contains(folder.path("home").string)
        }
        // By the pull, and for the conversation.
        #expect(asked.count == 2, "opened more than once: \(asked)")
        let again = self.probe()
        #expect(await again.run(["chat", "--max-tokens", "2"], input: typing("Hello\n/exit")) == 0)
        #expect(!again.errors.contents.contains("[y/N]"))
    }

    @Test(arguments: [([], "no-model"), (["tiny"], "not-installed")], ["n\n", "", "\n", "yesterday\n"])
    func aNoIsAsBefore(asked: ([String], String), answer: String) async throws {
        try offerFar()
        let probe = probe()
        #expect(await probe.run(["chat"] + asked.0, input: typing(answer)) == 1)
        #expect(probe.errors.contents.contains(Self.question), "\(probe.errors.contents)")
        #expect(probe.errors.contents.contains("[\(asked.1)]"))
        #expect(!probe.errors.contents.contains("[network-error]"))
    }

    @Test func whereNobodySitsNothingIsAsked() async throws {
        try offerFar()
        let yes = typing("y\n")
        for (probe, words, input) in [
            (probe(isAtTerminal: false), ["chat"], yes), (probe(), ["chat"], FixedSource(text: "y\n")),
            (probe(), ["chat", "--format", "json"], yes),
        ] {
            #expect(await probe.run(words, input: input) == 1)
            #expect(probe.errors.contents.contains("[no-model]"))
            #expect(!probe.errors.contents.contains("[y/N]") && !probe.errors.contents.contains("origins"))
        }
    }

    @Test(arguments: [
        (["other"], "not-installed"), (["tiny@2.0.0"], "not-installed"), (["tiny:q8_0"], "not-installed"),
        (["https://models.invalid/models.json#tiny"], "no-model"),
    ])
    func whatTheOriginsDoNotHaveIsNotOffered(words: [String], code: String) async throws {
        try offerFar()
        let probe = probe()
        #expect(await probe.run(["chat"] + words, input: typing("y\n")) == 1)
        #expect(probe.errors.contents.contains("[\(code)]"), "\(probe.errors.contents)")
        #expect(!probe.errors.contents.contains("[y/N]"))
    }

    /// No origin could change the answer: nobody is to wait for one.
    @Test(arguments: [["https://models.invalid/models.json#tiny"], ["tiny@2.0.0"], ["tiny:q8_0"]])
    func whereNothingCanBeOfferedNoOriginIsAsked(words: [String]) async throws {
        let server = try FaultServer { _ in Reply(503) }
        let bytes = Data("tiny".utf8)
        try folder.write("tiny.gguf", bytes)
        try folder.write(
            "models.json",
            list(entry("tiny", at: "tiny.gguf", size: bytes.count, digest: SHA256Digest(hashing: bytes))))
        #expect(await self.probe().run("pull", "tiny", "--no-probe") == 0)
        let probe = probe(["HEARTH_ORIGIN": try server.url("/models.json").absoluteString], time: HurriedClock().time)
        #expect(await probe.run(["chat"] + words, input: typing("y\n")) == 1)
        #expect(server.requests.isEmpty, "\(probe.errors.contents)")
        #expect(!probe.errors.contents.contains("[y/N]") && !probe.errors.contents.contains("origins"))
    }

    @Test func aFailureIsToldInItsWordsWithTheStatusOfPull() async throws {
        try offerFar()
        let pull = probe(time: HurriedClock().time)
        let status = await pull.run("pull", "tiny")
        let probe = probe(time: HurriedClock().time)
        #expect(await probe.run(["chat"], input: typing("y\n")) == status)
        #expect(status == 75)
        #expect(probe.errors.contents.contains("hearth: Network error: "), "\(probe.errors.contents)")
        #expect(probe.errors.contents.contains("[network-error]"))
    }

    /// Two questions, each with its own answer.
    @Test(arguments: [("y\ny\n", "network-error"), ("y\nn\n", "metered-network")])
    func aMeteredNetworkIsAskedAboutAsByPull(answers: String, code: String) async throws {
        try offerFar()
        let probe = probe(["HEARTH_NETWORK": "metered"], time: HurriedClock().time)
        #expect(await probe.run(["chat"], input: typing(answers)) == 75)
        let said = probe.errors.contents
        #expect(said.contains("This network is metered. Fetch 18.0 MB of Tiny now? [y/N] "), "\(said)")
        #expect(said.contains("[\(code)]"), "\(said)")
    }

    @Test func whatDoesNotFitIsRefusedWhereItIsNamedAndElseNotOffered() async throws {
        try folder.write("models.json", list(entry("tiny", memory: 8_000_000_000_000_000)))
        for (words, code) in [(["tiny"], "not-enough-memory"), ([], "no-model")] {
            let probe = probe()
            #expect(await probe.run(["chat"] + words, input: typing("y\n")) == 1)
            #expect(probe.errors.contents.contains("[\(code)]"), "\(probe.errors.contents)")
            #expect(!probe.errors.contents.contains("[y/N]"))
        }
    }

    @Test func ofSeveralTheRecommendedOneIsOfferedAndForAPictureOneThatSees() async throws {
        try folder.write(
            "models.json",
            list(
                entry("small"), entry("large", memory: 1_100_000_000),
                entry("eyes", memory: 1_000_000_001, role: "vision")))
        let picture = try folder.write("picture.png", Data(TestPictures.png(width: 40, height: 30)))
        for (words, name) in [([], "large"), (["--image", picture.string], "eyes"), (["small"], "small")] {
            let probe = probe()
            #expect(await probe.run(["chat"] + words, input: typing("n\n")) == 1)
            #expect(probe.errors.contents.contains("\(name) is not on this device. "), "\(probe.errors.contents)")
        }
    }

    @Test func anInterruptKeepsWhatHasCome() async throws {
        let bytes = Data(repeating: 7, count: 2_000_000)
        let manifest = list(
            entry("tiny", name: "Tiny", at: "far.gguf", size: bytes.count, digest: SHA256Digest(hashing: bytes)))
        let server = try FaultServer { request in
            if request.path.hasSuffix("models.json") { return Reply(body: .data(manifest)) }
            if request.path.hasSuffix(".index") { return Reply(404) }
            return FaultServer.answer(request, with: .data(bytes)).paced(bytesPerSecond: 200_000)
        }
        let origin = ["HEARTH_ORIGIN": try server.url("/models.json").absoluteString]
        let interruptions = Interruptions.timeless
        let probe = probe(
            origin, interruptions: interruptions,
            written: { text in
                if text.contains("%  downloading"), !text.contains("  0%") { interruptions.deliver(.interrupt) }
            })
        #expect(await probe.run(["chat"], input: typing("y\n")) == 130)
        let said = probe.errors.contents
        #expect(said.contains("of Tiny are kept and the next download goes on from there [interrupted]"), "\(said)")
        let left = self.probe(origin)
        #expect(await left.run("transfers", "list") == 0)
        #expect(left.output.contents.contains("interrupted"), "\(left.output.contents)")
    }

    /// A program that ends while it loads looks as if it had died of the model.
    @Test(.enabled(if: hasModel, "the tiny models are not in the cache: run make setup"))
    func anInterruptEndsTheLoadBeforeTheProgram() async throws {
        try offerTiny()
        let interruptions = Interruptions.timeless
        let probe = probe(
            interruptions: interruptions,
            written: { text in if text.contains("loading tiny@") { interruptions.deliver(.interrupt) } })
        #expect(await probe.run(["chat"], input: typing("y\nHello\n/exit")) == 130)
        #expect(probe.errors.contents.contains("hearth: interrupted [interrupted]"), "\(probe.errors.contents)")
        #expect(probe.output.contents.isEmpty)
        let marks = FileManager.default.enumerator(atPath: folder.path("home/marks").string)
        let left = (marks?.compactMap { $0 as? String } ?? []).filter { $0.split(separator: "/").count == 3 }
        #expect(left.isEmpty)
    }

    @Test func anInterruptIsNoAnswer() async throws {
        try offerFar()
        let interruptions = Interruptions.timeless
        let probe = probe(
            interruptions: interruptions,
            written: { text in if text.contains("[y/N]") { interruptions.deliver(.interrupt) } })
        #expect(await probe.run(["chat"], input: typing("y\n")) == 130)
        #expect(probe.errors.contents.contains("[interrupted]"))
    }

    /// The built program: what is typed after the answer is the conversation's.
    @Test(.enabled(if: hasModel, "the tiny models are not in the cache: run make setup"))
    func aPersonAnswersThenTalks() async throws {
        let lab = try HearthLab()
        let published = try await lab.serve(
            try #require(model), "--family", "tiny", "--version", "1.0.0", "--variant", "f16", "--name", "Tiny")
        #expect(published.status == 0, "\(published.errors)")
        let hearth = try TerminalProcess(["chat", "--max-tokens", "2"], environment: lab.environment)
        await hearth.showsLine { $0.hasPrefix("Tiny is not on this device. Download ") }
        hearth.type("y\n")
        await hearth.showsLine { $0.contains("Say something") }
        hearth.type("Hello\n/stats\n")
        await hearth.showsLine { $0.contains(" prompt tokens, ") }
        hearth.type("/exit\n")
        #expect(await hearth.status() == 0)
    }
}
