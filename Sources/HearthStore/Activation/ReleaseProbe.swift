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
    /// The answers to different questions: the canary's, and one of the probe's own. Empty for a vector.
    package var answers: [Answer] = []

    /// What a model wrote as the answer to one question.
    package struct Answer: Sendable, Hashable {
        /// Thinking and answer together.
        package var text: String
        package var generatedTokens: Int
        /// The numbers of the tokens, as far as the engine reports them.
        package var tokens: [Int32]
        /// The bytes that formed no whole character.
        package var droppedBytes: Int

        package init(text: String, generatedTokens: Int, tokens: [Int32] = [], droppedBytes: Int = 0) {
            (self.text, self.generatedTokens) = (text, generatedTokens)
            (self.tokens, self.droppedBytes) = (tokens, droppedBytes)
        }
    }

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
        if let fault = report.fault { return fault }
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
    fileprivate static func shown(_ text: String) -> String {
        let clean = String(text.unicodeScalars.prefix(80).map { $0.properties.isWhitespace ? " " : Character($0) })
        return "\"" + clean.filter { !($0.unicodeScalars.first?.properties.generalCategory == .control) } + "\""
    }

    private static func rate(_ value: Double) -> String { "\((value * 10).rounded() / 10)" }
}

extension ProbeReport {
    /// Fewer tokens than these can be the same in a right answer.
    static let loopTokens = 8

    /// Why the answers are those of a broken model, as text for people; `nil` if they may be right.
    ///
    /// One question can have an answer that looks like this. Two different ones show a fault of the model.
    var fault: String? {
        guard answers.count > 1 else { return nil }
        if answers.allSatisfy({ $0.generatedTokens == 0 && !$0.isVisible }) {
            return "it ends every answer before its first token"
        }
        if answers.allSatisfy({ !$0.isVisible }) {
            return answers.contains { $0.droppedBytes > 0 || $0.text.contains("\u{FFFD}") }
                ? "its answers hold no whole character" : "its answers hold tokens and no text"
        }
        let isLoop = answers.allSatisfy { $0.tokens.count > 0 && Set($0.tokens).count == 1 }
        if isLoop, answers.contains(where: { $0.tokens.count >= Self.loopTokens }) {
            return "it repeats one token for ever, such as \(Canary.shown(answers.last?.text ?? ""))"
        }
        return nil
    }
}

extension ProbeReport.Answer {
    /// Whether a person would see something.
    fileprivate var isVisible: Bool {
        text.unicodeScalars.contains { scalar in
            scalar != "\u{FFFD}" && !scalar.properties.isWhitespace
                && ![.control, .format, .unassigned, .surrogate].contains(scalar.properties.generalCategory)
        }
    }
}
