import HearthBase
import HearthCatalog

/// Probes a release before it becomes live: an engine loads it and answers a question, or computes a vector.
///
/// Delivery knows no engine: `Hearth` passes one to `ModelManager`. The probe measures; `Canary.objection(to:)` judges.
package protocol ReleaseProbe: Sendable {
    /// Loads a release and answers the canary's prompt with the likeliest tokens. A model that only gives vectors
    /// computes one of the prompt. The memory is freed before the return.
    /// - Returns: `nil` if no engine of this build runs the release, or if there is no memory for it beside the loaded
    ///   models. Then the release is not judged.
    /// - Throws: the engine's error; after a `CancellationError`, the release is neither accepted nor refused.
    func probe(_ candidate: ProbeCandidate) async throws -> ProbeReport?
}

/// A release to probe.
package struct ProbeCandidate: Sendable, Hashable {
    package let release: InstalledRelease
    /// The file to open: the release's weights or its artifact.
    package let weights: Path
    package let canary: Canary
    /// Whether to load the release although it needs more memory than the device has.
    package var ignoresMemory = false

    package init(release: InstalledRelease, weights: Path, canary: Canary) {
        self.release = release
        self.weights = weights
        self.canary = canary
    }
}

/// The measurements of a probe.
package struct ProbeReport: Sendable, Hashable {
    /// The answer, empty for a vector.
    package var text: String
    package var generatedTokens: Int
    package var loadSeconds: Double
    /// The time from the question to the end of the answer.
    package var answerSeconds: Double
    /// Tokens a second after the first; 0 if there was only one.
    package var tokensPerSecond: Double
    /// The peak memory of the process beyond its use before the probe, in bytes; `nil` if unknown.
    package var peakMemoryBytes: UInt64?
    /// Whether the time limit ended the answer.
    package var isTimedOut: Bool
    /// The length of the computed vector; `nil` for an answer.
    package var embeddingLength: Int?

    package init(
        text: String, generatedTokens: Int, loadSeconds: Double, answerSeconds: Double, tokensPerSecond: Double,
        peakMemoryBytes: UInt64?, isTimedOut: Bool = false, embeddingLength: Int? = nil
    ) {
        self.text = text
        self.generatedTokens = generatedTokens
        self.loadSeconds = loadSeconds
        self.answerSeconds = answerSeconds
        self.tokensPerSecond = tokensPerSecond
        self.peakMemoryBytes = peakMemoryBytes
        self.isTimedOut = isTimedOut
        self.embeddingLength = embeddingLength
    }
}

extension Canary {
    /// The objection to a release with these measurements, as text for people; `nil` if it passed.
    ///
    /// A missing measurement is no objection: a single token has no rate, a vector has no text, and not every system
    /// reports the memory.
    package func objection(to report: ProbeReport) -> String? {
        if report.isTimedOut { return "it had not answered after \(timeoutSeconds) seconds" }
        if let pattern, report.embeddingLength == nil, !isAnswered(by: report.text) {
            return "its answer \(Self.shown(report.text)) does not match \(pattern)"
        }
        if let least = minimumTokensPerSecond, report.generatedTokens > 1, report.tokensPerSecond < least {
            return
                "it makes \(Self.rate(report.tokensPerSecond)) tokens a second, at least \(Self.rate(least)) are wanted"
        }
        if let most = maximumMemoryBytes, let taken = report.peakMemoryBytes, taken > most {
            return "it takes \(taken) bytes of memory, at most \(most) are allowed"
        }
        return nil
    }

    /// The beginning of an answer, without control characters.
    private static func shown(_ text: String) -> String {
        let clean = String(text.unicodeScalars.prefix(80).map { $0.properties.isWhitespace ? " " : Character($0) })
        return "\"" + clean.filter { !($0.unicodeScalars.first?.properties.generalCategory == .control) } + "\""
    }

    private static func rate(_ value: Double) -> String { "\((value * 10).rounded() / 10)" }
}
