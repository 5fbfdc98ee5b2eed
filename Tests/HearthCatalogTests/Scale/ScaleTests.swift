import Foundation
import HearthTestSupport
import Testing

@testable import HearthCatalog

/// The tables of docs/scale.md; `HEARTH_TESTS=full` prints them; each simulated device stands for fifty.
@Suite struct ScaleTests {
    private static let total = 1_000_000
    private static let scenarios: [ScaleSimulation.Scenario] = [
        .init(name: "to all at once"),
        .init(name: "at once, announced to all", isAnnounced: true),
        .init(name: "at once, the list cached for an hour", mustRevalidate: false),
        .init(name: "1, 10, 50 and 100 % on four days", rollout: [(0, 1), (1, 10), (2, 50), (3, 100)]),
        .init(name: "5 % a day", rollout: (0..<7).map { ($0, 5 * ($0 + 1)) }),
        .init(name: "1 %, then halted", rollout: [(0, 1), (1, 0)]),
    ]

    @Test func theTablesOfTheDocument() throws {
        let devices = TestExtent.isFull ? Self.total / 50 : 600
        let results = try Self.scenarios.map { scenario in
            (scenario, try ScaleSimulation(scenario, devices: devices, seed: 7))
        }
        if TestExtent.isFull { Self.print(results) }
        func result(_ index: Int) -> ScaleSimulation { results[index].1 }
        let tolerance = TestExtent.isFull ? 0.015 : 0.07
        for day in 0..<ScaleSimulation.days {
            let wanted = [0.01, 0.10, 0.50, 1, 1, 1, 1][day]
            #expect(abs(result(3).updated(after: day) - wanted) < tolerance, "day \(day)")
        }
        #expect(abs(result(4).updated(after: 6) - 0.35) < tolerance)
        #expect(result(5).updated(after: 6) < 0.01 + tolerance)
        #expect(
            result(0).updated(after: 0) == 1, "a list that is asked for each time brings the release at the first start"
        )
        #expect(result(2).checksInFirstDay(of: 1) < result(0).checksInFirstDay(of: 1))
        // A message to all users makes the only peak that matters.
        #expect(result(1).peakRate(of: 1) > 2 * result(0).peakRate(of: 1))
        #expect(result(3).peakRate(of: 1) < result(0).peakRate(of: 1))
    }

    private static func print(_ results: [(ScaleSimulation.Scenario, ScaleSimulation)]) {
        func number(_ value: Double, _ digits: Int = 0) -> String {
            value.formatted(.number.precision(.fractionLength(digits)).locale(Locale(identifier: "en")))
        }
        var lines = [
            "| release | after a day | after 3 days | after 7 days | list, requests on day 1 | list, peak a second | files, peak Gbit/s |",
            "| --- | --- | --- | --- | --- | --- | --- |",
        ]
        for (scenario, result) in results {
            let shares = [0, 2, 6].map { number(result.updated(after: $0) * 100, 1) + " %" }
            let figures = [
                number(result.checksInFirstDay(of: total)), number(result.peakChecks(of: total)),
                number(result.peakRate(of: total) / 1e9),
            ]
            lines.append("| " + ([scenario.name] + shares + figures).joined(separator: " | ") + " |")
        }
        lines += [
            "",
            "| release | files, TB | from the edges | from the bucket, TB | at 0 $/GB | at 0.01 $/GB | at 0.05 $/GB |",
            "| --- | --- | --- | --- | --- | --- | --- |",
        ]
        for (scenario, result) in results {
            let (bytes, hits) = (result.bytes(of: total), result.hits(of: total))
            let costs = [0, 0.01, 0.05].map { number(bytes / 1e9 * $0) + " $" }
            let figures = [
                number(bytes / 1e12), number(hits * 100, 2) + " %", number(bytes * (1 - hits) / 1e12, 1),
            ]
            lines.append("| " + ([scenario.name] + figures + costs).joined(separator: " | ") + " |")
        }
        Swift.print(lines.joined(separator: "\n"))
    }
}
