import Foundation
import HearthBase
import HearthHTTP
import HearthTestSupport
import Testing

@testable import HearthCatalog
@testable import HearthDelivery

/// Searches of the Hub: rows, sizes, and hubs that do not answer as they should.
@Suite(.timeLimit(.minutes(10))) struct HubSearchTests {
    private let lab: HubLab

    init() throws { lab = try HubLab() }

    private func publish(_ name: String, downloads: Int, parameters: UInt64? = nil, access: TestHub.Access = .everybody)
    {
        lab.hub.publish(
            name,
            [
                "README.md": .small("x"), "m-Q4_K_M.gguf": .large(.pattern(count: 40_000)),
                "m-Q8_0.gguf": .large(.pattern(offset: 1, count: 80_000)),
                "mmproj-f16.gguf": .large(.pattern(count: 4000)),
                "imatrix.gguf": .large(.pattern(count: 99)), "mtp-m.gguf": .large(.pattern(count: 98)),
            ], access: access)
        lab.hub.rate(name, downloads: downloads, parameters: parameters)
    }

    private func search(_ words: String = "tiny", memory: UInt64 = 8 << 30) async throws -> HubSearchResult {
        try await lab.manager(memory: memory).search(words)
    }

    @Test func rowsTellWhatHelpsToChoose() async throws {
        publish("o/tiny-a", downloads: 5)
        publish("o/tiny-b", downloads: 70)
        publish("o/other", downloads: 900)
        let result = try await search("TINY")
        #expect(result.problem == nil)
        #expect(result.rows.map(\.id) == ["o/tiny-b", "o/tiny-a"])
        let row = try #require(result.rows.first)
        #expect(row.downloads == 70 && row.likes == 0 && row.license == "apache-2.0" && !row.gated)
        #expect(row.reference == "hf:o/tiny-b" && row.fits == true && row.chosen == "Q8_0")
        #expect(row.quantizations.map(\.name) == ["Q4_K_M", "Q8_0"])
        #expect(row.quantizations.map(\.sizeBytes) == [44_000, 84_000], "with the projector, without what is no model")
        #expect(row.quantizations.allSatisfy { $0.fits == true && !$0.about })
        let first = try #require(lab.hub.server.requests.first)
        #expect(first.query("filter") == "gguf" && first.query("limit") == "20" && first.query("sort") == "downloads")
        let small = try await search(memory: 1 << 20).rows
        #expect(small.allSatisfy { $0.fits == false && $0.chosen == nil })
        let keys = try JSONSerialization.jsonObject(with: JSON.data(row)) as? [String: Any]
        #expect(
            Set(try #require(keys).keys) == [
                "id", "downloads", "likes", "license", "gated", "fits", "reference", "quantizations", "chosen",
            ])
    }

    @Test func sizesCostARequestARowAndTwentyRowsAreShown() async throws {
        for number in 10..<40 { publish("o/tiny-\(number)", downloads: number) }
        let rows = try await search().rows
        #expect(rows.map(\.downloads) == (20..<40).reversed().map { UInt64($0) })
        #expect(lab.hub.server.requests.count == 21)
    }

    /// The hub refuses the requests for sizes after some.
    @Test(
        arguments: [
            (["Retry-After": "7"], 7), (["RateLimit": #""api";r=0;t=55"#], 55),
            (["RateLimit": #""api";r=0;t=55"#, "Retry-After": "7"], 7), (["RateLimit": #""api";r=0;t=99999"#], 300),
            ([:], nil),
            (["RateLimit": "x;t=-1;;=;t"], nil), (["RateLimit": String(repeating: ";t=5", count: 1000)], nil),
        ] as [([String: String], Double?)])
    func whereTheHubAllowsNoMoreSizesAreEstimated(headers: [String: String], wait: Double?) async throws {
        for number in 10..<30 { publish("o/tiny-\(number)", downloads: number, parameters: 1_000_000_000) }
        publish("o/tiny-unknown", downloads: 1)
        lab.hub.disturb { request in
            guard request.path.contains("/tree/") else { return nil }
            return headers.reduce(Reply(429)) { $0.header($1.key, $1.value) }
        }
        let result = try await search()
        let problem = try #require(result.problem as? CatalogError)
        #expect(problem.code == .originUnreachable && problem.disposition == .tryLater)
        #expect(problem.context.retryAfterSeconds == wait)
        #expect(result.rows.count == 20)
        let row = try #require(result.rows.first)
        #expect(row.quantizations.map(\.name) == ["Q4_K_M", "Q8_0"] && row.quantizations.allSatisfy(\.about))
        #expect(row.quantizations.first?.sizeBytes == 606_250_000)
        #expect(lab.hub.server.requests.count <= 11, "the others are not asked")
    }

    @Test func withoutSizeAndParametersNothingIsClaimed() async throws {
        publish("o/tiny", downloads: 1)
        lab.hub.disturb { $0.path.contains("/tree/") ? Reply(403) : nil }
        let row = try #require(try await search().rows.first)
        #expect(row.fits == nil && row.chosen == nil)
        #expect(row.quantizations.map(\.name) == ["Q4_K_M", "Q8_0"])
        #expect(row.quantizations.allSatisfy { $0.sizeBytes == nil && $0.fits == nil })
    }

    @Test(arguments: [
        (429, "origin-unreachable"), (503, "origin-unreachable"), (500, "origin-unreachable"), (401, "origin-refused"),
        (403, "origin-refused"), (404, "origin-refused"), (200, "hub-answer-invalid"),
    ])
    func aHubThatDoesNotAnswerIsNamed(status: Int, code: String) async throws {
        lab.hub.disturb { _ in status == 200 ? .htmlPage : .text("no", status: status) }
        #expect(await HubLab.code { _ = try await search() } == code)
    }

    @Test(arguments: [
        "", "null", "{}", "[1]", "[[]]", #""x""#, "[{}", "<!doctype html><p>Log in", "[nil]",
    ])
    func anAnswerThatIsNoListIsRefused(body: String) async throws {
        lab.hub.disturb { _ in .text(body) }
        #expect(await HubLab.code { _ = try await search() } == "hub-answer-invalid")
    }

    /// Control characters, names that lead out, absurd numbers, other types.
    @Test func hostileEntriesAreLeftOutOrCutDown() async throws {
        let entries = [
            #"{"id": "o/\u001b[31mred"}"#, #"{"id": "../x"}"#, #"{"id": "o/m/x"}"#, #"{"id": 5}"#, "{}",
            #"{"id": "o/a", "downloads": -1, "likes": 1e400, "tags": ["license:\u0007"], "gated": "manual"}"#,
            #"{"id": "o/b", "downloads": "9", "gguf": {"total": 1e99}, "siblings": [{"rfilename": "m-\u001bQ4_0.gguf"}, 5, {}]}"#,
            #"{"id": "o/c", "gguf": [], "siblings": {"rfilename": "../../m-Q8_0.gguf"}, "cardData": {"license": "a\nb"}}"#,
            #"{"id": "o/a"}"#,
        ]
        lab.hub.disturb { $0.path == "/api/models" ? .text("[\(entries.joined(separator: ","))]") : Reply(404) }
        let rows = try await search().rows
        #expect(rows.map(\.id) == ["o/a", "o/b", "o/c"])
        #expect(rows.allSatisfy { $0.license == nil && $0.downloads == 0 && $0.likes == 0 && $0.fits == nil })
        #expect(rows.map(\.gated) == [true, false, false])
        let text = try JSON.text(rows)
        #expect(!text.unicodeScalars.contains { $0.value < 32 } && !text.contains("u001b"))
    }

    @Test(arguments: ["", "  ", "a\u{1b}[31m", "a\nb", "\u{0}", "\u{202E}x", String(repeating: "a", count: 201)])
    func wordsThatNoNameHoldsAreNotSent(words: String) async throws {
        #expect(await HubLab.code { _ = try await search(words) } == "bad-reference")
        #expect(lab.hub.server.requests.isEmpty)
    }

    @Test func wordsStayWords() async throws {
        publish("o/tiny", downloads: 1)
        #expect(try await search("a&limit=1000#?%20/../ü").rows.isEmpty)
        let request = try #require(lab.hub.server.requests.first)
        #expect(request.path == "/api/models" && request.query("limit") == "20")
    }

    @Test func aGatedRepositoryIsListedAsSuch() async throws {
        publish("o/tiny", downloads: 1, access: .gated)
        let row = try #require(try await search().rows.first)
        #expect(row.gated && row.quantizations.count == 2)
    }
}
