import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthCommand

private let model = try? TestModel.path(.plain)
private let hasModel = hasEngine && model.map { FileManager.default.fileExists(atPath: $0.string) } ?? false

/// The catalog, the search and pasted repositories on the command line, with a stand-in of the Hub.
@Suite(.timeLimit(.minutes(10))) struct ModelsToBeginWithTests {
    private static let repository = "bartowski/SmolLM2-135M-Instruct-GGUF"
    private static let question =
        "SmolLM2 135M Instruct is not on this device. Download "
    private let folder: TemporaryFolder
    private let hub: TestHub

    init() throws {
        folder = try TemporaryFolder()
        hub = try TestHub()
    }

    private func probe(
        _ environment: [String: String] = [:], isAtTerminal: Bool = true, width: Int? = nil,
        memory: UInt64 = 500_000_000,
        time: TimeSource = HurriedClock().time
    ) -> CommandProbe {
        var probe = CommandProbe(
            home: folder.path("home"),
            environment: [
                "HEARTH_NETWORK": "unmetered", "HF_ENDPOINT": hub.endpoint, "HF_HUB_CACHE": folder.path("none").string,
            ].merging(environment) { $1 },
            output: CaptureSink(width: width), errors: CaptureSink(width: isAtTerminal ? 100 : nil),
            time: time)
        probe.usableMemory = memory
        return probe
    }

    private func typing(_ text: String) -> FixedSource { FixedSource(text: text, isTerminal: true) }

    /// A model that runs, in a repository of the catalog.
    private func publishTiny(_ name: String = repository) throws {
        let bytes = try Data(contentsOf: try #require(model).url)
        hub.publish(
            name, ["README.md": .small("x"), "SmolLM2-135M-Instruct-Q8_0.gguf": .large(.data(bytes))])
    }

    private struct Row: Decodable {
        struct Facts: Decodable {
            let repository: String
            let fits: Bool
            let recommended: Bool
        }

        let family: String
        let version: String
        let state: String
        let active: Bool
        let reason: String?
        let catalog: Facts?
    }

    private func rows(_ probe: CommandProbe) async throws -> [Row] {
        #expect(await probe.run("list", "--available", "--format", "json") == 0, "\(probe.errors.contents)")
        return try JSONDecoder().decode([Row].self, from: Data(probe.output.contents.utf8))
    }

    // MARK: The list

    @Test func aFreshHomeListsWhatFitsAndRecommendsOne() async throws {
        let rows = try await rows(probe())
        #expect((15...25).contains(rows.count))
        #expect(rows.filter { $0.catalog?.recommended == true }.map(\.family) == ["smollm2-135m-instruct"])
        #expect(rows.allSatisfy { $0.version == "newest" && $0.state == "available" && !$0.active })
        #expect(rows.allSatisfy { ($0.catalog?.fits == false) == ($0.reason == "not-enough-memory") })
        #expect(rows.contains { $0.reason != nil })
        #expect(hub.requests.isEmpty, "the list needs no network")
        let table = probe()
        #expect(await table.run("list", "--available") == 0)
        #expect(table.output.contents.split(separator: "\n").filter { $0.contains("recommended") }.count == 1)
        #expect(table.output.contents.contains("about "))
    }

    @Test func theSettingTurnsItOff() async throws {
        #expect(await probe().run("config", "set", "catalog.shipped", "false") == 0)
        for words in [["list", "--available"], ["pull", "qwen3-0.6b"]] {
            let probe = probe()
            #expect(await probe.run(words) == 1)
            #expect(probe.errors.contents.contains("[no-origin]"), "\(probe.errors.contents)")
        }
        let pull = probe()
        #expect(await pull.run(["pull"], input: typing("y\n")) == 1)
        #expect(pull.errors.contents.contains("[no-model]"), "\(pull.errors.contents)")
        #expect(hub.requests.isEmpty)
    }

    @Test func unknownNamesAreToldOfTheSearch() async throws {
        for (words, command) in [("llama3.2:3b", "`hearth search llama3.2`"), ("zzzzzz:7b", "`hearth search zzzzzz`")] {
            let probe = probe()
            #expect(await probe.run("pull", words) == 1)
            #expect(probe.errors.contents.contains(command), "\(probe.errors.contents)")
        }
    }

    // MARK: Without a model

    @Test func pullOffersTheRecommendedOne() async throws {
        hub.publish(Self.repository, ["m-Q8_0.gguf": .large(.pattern(count: 5_000_000))])
        let no = probe()
        #expect(await no.run(["pull"], input: typing("n\n")) == 0)
        #expect(no.errors.contents.contains(Self.question + "5.0 MB now? [y/N] "), "\(no.errors.contents)")
        #expect(hub.storage.requests.isEmpty)
        let yes = probe()
        #expect(await yes.run(["pull", "--no-probe"], input: typing("y\n")) == 0, "\(yes.errors.contents)")
        let rows = try await rows(probe())
        let here = try #require(rows.first { $0.family == "smollm2-135m-instruct" })
        #expect(here.state == "installed" && here.active && here.version != "newest")
        for words in [["list"], ["show", "smollm2-135m-instruct"], ["update", "--check"]] {
            let probe = probe()
            #expect(await probe.run(words) == 0, "\(probe.errors.contents)")
            #expect((probe.output.contents + probe.errors.contents).contains("smollm2-135m-instruct"), "\(words)")
        }
    }

    @Test func whereNobodySitsTheNameIsTold() async throws {
        for (words, input, status, code) in [
            (["pull"], FixedSource(text: "y\n"), 64, "smollm2-135m-instruct'"),
            (["pull", "--version", "1.0.0"], typing("y\n"), 64, "--version"),
            (["chat", "--prompt", "x"], FixedSource(), 1, "hearth pull smollm2-135m-instruct"),
        ] as [([String], FixedSource, Int32, String)] {
            let probe = probe(isAtTerminal: input.isTerminal)
            #expect(await probe.run(words, input: input) == status)
            #expect(probe.errors.contents.contains(code), "\(probe.errors.contents)")
            #expect(!probe.errors.contents.contains("[y/N]"))
        }
        #expect(hub.requests.isEmpty)
    }

    @Test(arguments: [["pull"], ["chat"], ["chat", "smollm2-135m-instruct"], ["chat", "org/repo"], ["search", "x"]])
    func withoutANetworkTheyAreAskedLater(words: [String]) async throws {
        let gone = try FaultServer { _ in Reply(200) }
        let endpoint = try gone.url("").absoluteString
        gone.stop()
        let probe = probe(["HF_ENDPOINT": endpoint])
        #expect(await probe.run(words, input: typing("y\n")) == 75)
        #expect(probe.errors.contents.contains("[origin-unreachable]"), "\(probe.errors.contents)")
        #expect(!probe.errors.contents.contains("[y/N]"))
    }

    @Test(
        .enabled(if: hasModel, "the tiny models are not in the cache: run make setup"),
        arguments: [
            [], ["smollm2-135m-instruct"], ["\(repository):q8_0"], ["https://huggingface.co/\(repository)/tree/main"],
        ])
    func chatOffersFetchesAndTalks(words: [String]) async throws {
        try publishTiny()
        let probe = probe(memory: words.isEmpty ? 500_000_000 : 8_000_000_000, time: .system)
        let status = await probe.run(["chat", "--max-tokens", "2"] + words, input: typing("y\nHello\n/stats\n/exit"))
        let said = probe.errors.contents
        #expect(status == 0, "\(said)")
        #expect(said.contains("is not on this device. Download "), "\(said)")
        #expect(said.components(separatedBy: " prompt tokens, ").count == 2, "\(said)")
        let requests = hub.requests.count
        let again = self.probe(time: .system)
        #expect(
            await again.run(["chat", "--max-tokens", "2", "--prompt", "Hello"] + words) == 0, "\(again.errors.contents)"
        )
        #expect(hub.requests.count == requests, "what is here needs no network")
    }

    @Test func aPasteThatIsNotHereIsAnErrorInAScript() async throws {
        let probe = probe(isAtTerminal: false)
        #expect(await probe.run("chat", "hf.co/org/repo", "--prompt", "x") == 1)
        #expect(probe.errors.contents.contains("[not-installed]"), "\(probe.errors.contents)")
        #expect(hub.requests.isEmpty)
    }

    // MARK: Search

    @Test func aSearchIsATableAndAListOfObjects() async throws {
        hub.publish(
            "org/tiny-GGUF",
            ["m-Q4_K_M.gguf": .large(.pattern(count: 4_000_000)), "m-Q8_0.gguf": .large(.pattern(count: 8_000_000))],
            access: .gated)
        hub.rate("org/tiny-GGUF", downloads: 42)
        let table = probe()
        #expect(await table.run("search", "tiny", "gguf") == 0, "\(table.errors.contents)")
        #expect(
            table.output.contents == """
                REPOSITORY     DOWNLOADS  LIKES  LICENSE            QUANTIZATION    SIZE  FITS
                org/tiny-GGUF         42      0  apache-2.0, gated  Q8_0          8.0 MB  yes

                """)
        let json = probe()
        #expect(await json.run("search", "tiny", "--format", "json") == 0)
        let rows = try JSONSerialization.jsonObject(with: Data(json.output.contents.utf8)) as? [[String: Any]]
        #expect(rows?.first?["reference"] as? String == "hf:org/tiny-GGUF" && rows?.first?["gated"] as? Bool == true)
        let none = probe()
        #expect(await none.run("search", "nothing-of-this-name") == 0)
        #expect(none.output.contents.isEmpty && none.errors.contents.contains("no such model"))
    }

    /// A terminal of 20 columns: the facts stand below each other, and each line fits.
    @Test func aNarrowTerminalGetsLinesThatFit() async throws {
        hub.publish("org/tiny", ["m-Q8_0.gguf": .large(.pattern(count: 8_000_000))])
        let search = probe(width: 20)
        #expect(await search.run("search", "tiny") == 0)
        let lines = search.output.contents.split(separator: "\n")
        #expect(lines.first == "org/tiny" && lines.contains("  size 8.0 MB"))
        #expect(lines.allSatisfy { $0.count <= 20 }, "\(lines)")
        let list = probe(width: 20)
        #expect(await list.run("list", "--available") == 0)
        #expect(list.output.contents.split(separator: "\n").contains("  version newest"))
    }

    @Test(arguments: [["search"], ["search", ""], ["search", "a\u{1b}[31m"], ["search", "--format", "xml", "a"]])
    func wordsThatCannotBeSearchedAreWrongUsage(words: [String]) async throws {
        let probe = probe()
        #expect(await probe.run(words) == 64, "\(probe.errors.contents)")
        #expect(hub.requests.isEmpty)
    }

    @Test func aLimitOfTheHubSaysForHowLong() async throws {
        hub.disturb { _ in Reply(429).header("RateLimit", #""api";r=0;t=55"#) }
        let probe = probe()
        #expect(await probe.run("search", "tiny") == 75)
        #expect(probe.errors.contents.contains("in 55 s"), "\(probe.errors.contents)")
    }

    // MARK: Doctor

    @Test func doctorNamesEntriesThatNoLongerResolve() async throws {
        struct Report: Decodable {
            struct Answer: Decodable {
                let name: String
                let detail: String?
                let code: String?
            }
            struct Finding: Decodable {
                let message: String
            }
            let online: [Answer]
            let findings: [Finding]
        }
        let all = probe()
        let families = try await rows(all)
        for row in families { hub.publish(try #require(row.catalog?.repository), ["m-Q8_0.gguf": .small("x")]) }
        func report() async throws -> Report {
            // On a clock that stands still, so that no limit passes on a busy machine.
            let probe = probe(time: ManualClock().time)
            _ = await probe.run("doctor", "--online", "--format", "json")
            return try JSONDecoder().decode(Report.self, from: Data(probe.output.contents.utf8))
        }
        let good = try await report().online.first { $0.name == "catalog" }
        #expect(good?.code == nil && good?.detail == "\(families.count) models resolve")
        hub.publish("unsloth/Qwen3-0.6B-GGUF", ["README.md": .small("moved")])
        hub.publish("ggml-org/Qwen3-8B-GGUF", ["m-Q8_0.gguf": .small("x")], access: .gated)
        hub.publish("unsloth/Qwen3-1.7B-GGUF", ["m-Q8_0.gguf": .small("x")], access: .tokenHolders)
        let bad = try await report()
        let message = try #require(bad.findings.map(\.message).first { $0.hasPrefix("catalog: ") })
        #expect(message.hasSuffix("3 no longer resolve: qwen3-0.6b, qwen3-1.7b, qwen3-8b"), "\(message)")
    }
}
