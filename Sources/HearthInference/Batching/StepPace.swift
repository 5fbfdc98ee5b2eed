/// Decides how many prompt tokens go into a call that other requests wait for, from the time of earlier calls.
///
/// As many as take about ``target``, so that answers continue smoothly, a new request starts soon and a cancelled one leaves
/// soon. Never fewer than ``least``, below which a processor spends its time fetching weights rather than computing.
package struct StepPace: Sendable, Hashable {
    /// The seconds that the prompts of one call may take.
    package let target: Double
    /// The fewest and the most tokens.
    package let bounds: ClosedRange<Int>
    private var secondsPerToken: Double?

    /// Nothing learned yet.
    /// - Parameters:
    ///   - target: seconds.
    ///   - bounds: of ``tokens``, 1 at least.
    package init(target: Double = 0.06, bounds: ClosedRange<Int> = 32...256) {
        self.target = target
        self.bounds = max(1, bounds.lowerBound)...max(1, bounds.upperBound)
    }

    /// The tokens to compute: twice the fewest before anything is known.
    package var tokens: Int {
        guard let secondsPerToken else { return min(bounds.upperBound, 2 * bounds.lowerBound) }
        let fitting = target / secondsPerToken
        // Anything above the bounds is the same, and a number too large for an integer would end the process.
        return fitting < Double(bounds.upperBound)
            ? max(bounds.lowerBound, Int(fitting)) : bounds.upperBound
    }

    /// Learns from a call. Calls of few tokens tell nothing: there each weight is fetched for a token or two.
    /// - Parameters:
    ///   - tokens: all that were computed, of prompts and of answers.
    ///   - seconds: what that took; what is no time is ignored.
    package mutating func observe(tokens: Int, seconds: Double) {
        guard tokens >= bounds.lowerBound, seconds > 0, seconds.isFinite else { return }
        let seen = seconds / Double(tokens)
        // Quick to believe, since one wrong guess costs one call.
        secondsPerToken = secondsPerToken.map { ($0 + seen) / 2 } ?? seen
    }
}
