import HearthBase
import HearthInference

/// Counts answers and their times for Prometheus.
package final class AnswerMetrics: Sendable {
    /// A histogram with fixed bounds in seconds.
    private struct Histogram {
        let bounds: [Double]
        var counts: [UInt64]
        var sum = 0.0

        init(_ bounds: [Double]) {
            self.bounds = bounds
            counts = Array(repeating: 0, count: bounds.count + 1)
        }

        mutating func add(_ value: Double, times: Int = 1) {
            counts[bounds.firstIndex { value <= $0 } ?? bounds.count] += UInt64(times)
            sum += value * Double(times)
        }

        func lines(_ name: String, _ help: String) -> [String] {
            var lines = ["# HELP \(name) \(help)", "# TYPE \(name) histogram"]
            var total: UInt64 = 0
            for (bound, count) in zip(bounds, counts) {
                total += count
                lines.append("\(name)_bucket{le=\"\(bound)\"} \(total)")
            }
            total += counts[bounds.count]
            return lines + ["\(name)_bucket{le=\"+Inf\"} \(total)", "\(name)_sum \(sum)", "\(name)_count \(total)"]
        }
    }

    private struct State {
        var firstToken = Histogram([0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60])
        var step = Histogram([0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1])
        var promptTokens: UInt64 = 0
        var cachedTokens: UInt64 = 0
        var generatedTokens: UInt64 = 0
        var answers: [String: UInt64] = [:]
        var failures: UInt64 = 0
    }

    private let state = Locked(State())

    package init() {}

    /// Counts a complete answer.
    func count(_ summary: GenerationSummary) {
        state.withLock { state in
            let usage = summary.usage
            state.promptTokens += UInt64(max(0, usage.promptTokens))
            state.cachedTokens += UInt64(max(0, usage.cachedTokens))
            state.generatedTokens += UInt64(max(0, usage.generatedTokens))
            // Reasons come from engines; a hostile one could invent any number.
            let isKnown = state.answers[summary.reason.rawValue] != nil || state.answers.count < 32
            state.answers[isKnown ? summary.reason.rawValue : "other", default: 0] += 1
            if usage.generatedTokens > 0 { state.firstToken.add(summary.timings.firstTokenSeconds) }
            let rate = summary.timings.decodeTokensPerSecond
            if rate > 0, usage.generatedTokens > 1 { state.step.add(1 / rate, times: usage.generatedTokens - 1) }
        }
    }

    /// Counts a request that failed or whose client left.
    func countFailure() { state.withLock { $0.failures += 1 } }

    /// The counts as text of Prometheus.
    /// - Parameter running: the requests in progress by model.
    package func text(running: [String: Int]) -> String {
        let state = state.withLock { $0 }
        var lines = state.firstToken.lines(
            "hearth_first_token_seconds", "Time from a request to the first token of its answer.")
        lines += state.step.lines("hearth_decode_step_seconds", "Time of a token after the first, by answer.")
        func add(_ name: String, _ help: String, _ value: UInt64) {
            lines += ["# HELP \(name) \(help)", "# TYPE \(name) counter", "\(name) \(value)"]
        }
        add("hearth_prompt_tokens_total", "Tokens of prompts, with the reused ones.", state.promptTokens)
        add("hearth_prompt_tokens_reused_total", "Tokens of prompts that were in the cache.", state.cachedTokens)
        add("hearth_generated_tokens_total", "Tokens of answers.", state.generatedTokens)
        add("hearth_answers_failed_total", "Requests without a complete answer.", state.failures)
        lines += ["# HELP hearth_answers_total Complete answers.", "# TYPE hearth_answers_total counter"]
        lines += state.answers.sorted { $0.key < $1.key }.map {
            "hearth_answers_total{reason=\"\($0.key)\"} \($0.value)"
        }
        lines += ["# HELP hearth_answers_running Requests in progress.", "# TYPE hearth_answers_running gauge"]
        lines += running.sorted { $0.key < $1.key }.map { model, count in
            let name = model.filter { $0 != "\"" && $0 != "\\" && $0 != "\n" }
            return "hearth_answers_running{model=\"\(name)\"} \(count)"
        }
        return lines.joined(separator: "\n") + "\n"
    }
}
