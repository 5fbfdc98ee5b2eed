/// The confidences that divide a classifier's answers into bands.
package struct RoutingThresholds: Sendable, Hashable {
    /// From this confidence on, an answer is accepted: 0.90.
    package var green: Double
    /// From this confidence on, an answer is accepted as uncertain: 0.60. Below it, the cloud is asked.
    package var yellow: Double

    /// Makes thresholds, by default those of seed 002.
    package init(green: Double = 0.90, yellow: Double = 0.60) {
        self.green = green
        self.yellow = yellow
    }

    /// The band of a confidence. No comparison with NaN is true, so it is unsure.
    package func band(of confidence: Double) -> ConfidenceBand {
        if confidence >= green { return .green }
        if confidence >= yellow { return .yellow }
        return .unsure
    }
}

/// How much an answer of a classifier is worth.
package enum ConfidenceBand: String, Sendable, Hashable, Codable {
    /// Accepted.
    case green
    /// Accepted as uncertain.
    case yellow
    /// Worth another opinion.
    case unsure
}
