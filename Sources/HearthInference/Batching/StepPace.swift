/// Decides how many prompt tokens go into a call that other requests wait for, from the time of earlier calls.
///
/// The number takes about ``target``, so that answers continue smoothly, and new and cancelled requests wait briefly.
/// It is never below the ``bounds``: a processor then spends its time fetching weights instead of computing.
package struct StepPace: Sendable, Hashable {
    /// The seconds that the prompts of one call may take.
    package let target: Double
    /// The fewest and the most tokens.
    package let bounds: ClosedRange<Int>
    private var secondsPerToken: Double?

    /// Makes a pace without measurements.
    /// - Parameters:
    ///   - target: seconds.
    ///   - bounds: of ``tokens``, 1 at least.
    package init(target: Double = 0.06, bounds: ClosedRange<Int> = BatchPlan.tile...256) {
        self.target = target
        self.bounds = max(1, bounds.lowerBound)...max(1, bounds.upperBound)
    }

    /// The prompt tokens to compute: the fewest before the first measurement.
    package var tokens: Int {
        guard let secondsPerToken else { return bounds.lowerBound }
        let fitting = target / secondsPerToken
        // Numbers above the bounds have the same result, and one too large for an integer would end the process.
        return fitting < Double(bounds.upperBound)
            ? max(bounds.lowerBound, Int(fitting)) : bounds.upperBound
    }

    /// Learns from a call. Calls of few tokens are ignored: there each weight is fetched for one or two tokens.
    /// - Parameters:
    ///   - tokens: the computed tokens of prompts.
    ///   - seconds: the duration of the call; a value that is no positive number is ignored.
    package mutating func observe(tokens: Int, seconds: Double) {
        guard tokens >= bounds.lowerBound, seconds > 0, seconds.isFinite else { return }
        let seen = seconds / Double(tokens)
        // The average adapts quickly, because a wrong value costs only one call.
        secondsPerToken = secondsPerToken.map { ($0 + seen) / 2 } ?? seen
    }
}
