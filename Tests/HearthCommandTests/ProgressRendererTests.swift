import Foundation
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthStore
import HearthTestSupport
import HearthTransfer
import Testing

@testable import HearthCommand

private func reading(
    _ done: UInt64, of total: UInt64? = 100_000_000, state: TransferState = .downloading, rate: Double? = 10e6
) -> TransferProgress {
    TransferProgress(state: state, completedBytes: done, totalBytes: total, bytesPerSecond: rate, connections: 1)
}

/// What a new renderer shows for its first reading.
private func shown(_ progress: TransferProgress, _ style: ProgressRenderer.Style, label: String = "m") -> String? {
    var renderer = ProgressRenderer(style: style, label: label)
    return renderer.text(for: progress, at: .zero)
}

@Suite struct ProgressRendererTests {
    @Test func aBarShowsEverything() throws {
        let text = try #require(shown(reading(25_000_000), .bar(width: 120), label: "model.gguf"))
        #expect(text.hasPrefix("model.gguf  [##########......"))
        #expect(text.hasSuffix("]   25%  downloading  25.0 MB of 100.0 MB  10.0 MB/s  8 s left"))
    }

    @Test func theTimeOfBytesThatComeAgainIsShown() throws {
        var progress = reading(100_000_000)
        #expect(try #require(shown(progress, .lines)).contains("left") == false)
        progress.repeatedBytes = 80_000_000
        #expect(try #require(shown(progress, .lines)).hasSuffix("8 s left"))
    }

    @Test(arguments: 1...200)
    func aBarNeverReachesTheLastColumn(width: Int) throws {
        for name in ["", "model.gguf", String(repeating: "日本", count: 60)] {
            for done: UInt64 in [0, 1, 50_000_000, 99_999_999, 100_000_000] {
                let text = try #require(shown(reading(done), .bar(width: width), label: name))
                #expect(TerminalText.columns(of: text) <= max(1, width - 1))
            }
        }
    }

    @Test func aBarIsRedrawnAtMostTenTimesASecondAndAtOnceForANewPhase() {
        var renderer = ProgressRenderer(style: .bar(width: 80), label: "m")
        #expect(renderer.text(for: reading(1), at: .zero) != nil)
        #expect(renderer.text(for: reading(2), at: .milliseconds(99)) == nil)
        #expect(renderer.text(for: reading(3), at: .milliseconds(100)) != nil)
        #expect(renderer.text(for: reading(3, state: .verifying), at: .milliseconds(101)) != nil)
    }

    @Test func aLogGetsFewLines() {
        var renderer = ProgressRenderer(style: .lines, label: "m")
        var shown: [String] = []
        for step in 0...1000 {
            let progress = reading(UInt64(step) * 100_000)
            if let text = renderer.text(for: progress, at: .milliseconds(step * 60)) { shown.append(text) }
        }
        #expect((8...20).contains(shown.count))
        #expect(shown.first == "m: 0%, downloading, 0 B of 100.0 MB, 10.0 MB/s, 10 s left")
        #expect(shown.allSatisfy { !$0.contains("\u{1B}") && !$0.contains("\r") })
    }

    @Test(arguments: [
        (99_999_999, "99%"), (100_000_000, "100%"), (0, "0%"), (UInt64.max, "100%"),
    ])
    func aHundredPercentIsTheTruth(done: UInt64, percent: String) throws {
        #expect(try #require(shown(reading(done), .lines)).contains(" \(percent),"))
    }

    @Test(arguments: [nil, 0, -1, .nan, .infinity, 1e300] as [Double?])
    func strangeRatesAreNotShown(rate: Double?) throws {
        let text = try #require(shown(reading(1, rate: rate), .bar(width: 100)))
        #expect(!text.contains("/s"))
    }

    @Test func anUnknownTotalShowsTheBytesAlone() throws {
        let text = try #require(shown(reading(5_000_000, of: nil), .bar(width: 60)))
        #expect(text.contains("downloading  5.0 MB  10.0 MB/s"))
        #expect(!text.contains("%"))
    }

    @Test func eventsAreOneObjectALineWithFixedNames() throws {
        let output = CaptureSink()
        let console = Console(output: output, errors: CaptureSink(), environment: [:])
        let reporter = ProgressDisplay(console: console, label: "m", format: .json, time: ManualClock().time)
        reporter.show(reading(25_000_000))
        reporter.show(reading(50_000_000, of: nil, rate: .infinity))
        let lines = output.contents.split(separator: "\n")
        #expect(lines.count == 2)
        let object = try #require(
            try JSONSerialization.jsonObject(with: Data(lines[0].utf8)) as? [String: Any])
        #expect(
            Set(object.keys) == [
                "event", "phase", "completedBytes", "totalBytes", "bytesPerSecond", "secondsLeft", "connections",
            ])
    }

    @Test func quietSilencesBarsAndTalkButNotErrors() {
        let errors = CaptureSink(width: 80)
        let console = Console(output: CaptureSink(), errors: errors, environment: [:], isQuiet: true)
        console.showBar("bar")
        console.say("talk")
        #expect(errors.contents.isEmpty)
        console.complain("wrong")
        #expect(errors.contents == "wrong\n")
    }

    @Test(arguments: [["TERM": "dumb"], [:]])
    func withoutATerminalThatRedrawsThereAreLines(environment: [String: String]) {
        let errors = CaptureSink(width: environment.isEmpty ? nil : 80)
        let console = Console(output: CaptureSink(), errors: errors, environment: environment)
        let reporter = ProgressDisplay(console: console, label: "m", format: .text, time: ManualClock().time)
        reporter.show(reading(25_000_000))
        reporter.end()
        #expect(errors.contents == "m: 25%, downloading, 25.0 MB of 100.0 MB, 10.0 MB/s, 8 s left\n")
    }

    @Test func talkTakesTheBarAwayFirst() {
        let errors = CaptureSink(width: 80)
        let console = Console(output: CaptureSink(), errors: errors, environment: [:])
        console.showBar("bar")
        console.say("talk")
        #expect(errors.contents == "\r\u{1B}[Kbar\r\u{1B}[Ktalk\n")
    }
}
