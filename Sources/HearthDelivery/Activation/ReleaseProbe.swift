import HearthBase

/// Tries a release before it becomes live: an engine loads it and answers a question, or makes a vector where that is all it does.
///
/// Delivery knows no engine: the umbrella module gives one to `ModelManager`. It measures; whether that is good enough is
/// decided by ``Canary/objection(to:)``.
public protocol ReleaseProbe: Sendable {
    /// Loads a release, asks it the canary's prompt and takes the likeliest token each time. A model that only gives vectors makes one
    /// of the prompt.
    ///
    /// The memory is given back before it returns.
    /// - Returns: `nil` where no engine of this build runs such a release, or there is no room to try it beside what is loaded: then
    ///   there is nothing to judge.
    /// - Throws: whatever the engine says; `CancellationError` leaves the release neither accepted nor refused.
    func probe(_ candidate: ProbeCandidate) async throws -> ProbeReport?
}

/// What is to be tried.
public struct ProbeCandidate: Sendable, Hashable {
    public let release: InstalledRelease
    /// What to open: the release's own file, or the file or folder that was prepared from it.
    public let weights: Path
    public let canary: Canary
    /// Whether it is to be loaded although it needs more memory than there is.
    public var ignoresMemory = false

    /// A candidate of the given facts.
    public init(release: InstalledRelease, weights: Path, canary: Canary) {
        self.release = release
        self.weights = weights
        self.canary = canary
    }
}

/// What a probe measured.
public struct ProbeReport: Sendable, Hashable {
    /// The answer, empty where there is a vector.
    public var text: String
    public var generatedTokens: Int
    public var loadSeconds: Double
    /// From the question to its answer's end.
    public var answerSeconds: Double
    /// Tokens a second after the first; 0 if there was only one.
    public var tokensPerSecond: Double
    /// What the process took at most beyond what it had before, in bytes; `nil` where the system does not say.
    public var peakMemoryBytes: UInt64?
    /// Whether the time was up before the answer ended.
    public var isTimedOut: Bool
    /// The numbers of the vector that was made in place of an answer; `nil` for an answer.
    public var embeddingLength: Int?

    /// A report of the given facts.
    public init(
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
    /// What speaks against a release that answered so, for people; `nil` if it passed.
    ///
    /// What could not be measured counts for the release: a single token has no rate, a vector no text, and not every system tells
    /// the memory.
    public func objection(to report: ProbeReport) -> String? {
        if report.isTimedOut { return "it had not answered after \(timeoutSeconds) seconds" }
        if let pattern, report.embeddingLength == nil, !pattern.occurs(in: report.text) {
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

    /// The beginning of an answer, without what a terminal would act on.
    private static func shown(_ text: String) -> String {
        let clean = String(text.unicodeScalars.prefix(80).map { $0.properties.isWhitespace ? " " : Character($0) })
        return "\"" + clean.filter { !($0.unicodeScalars.first?.properties.generalCategory == .control) } + "\""
    }

    private static func rate(_ value: Double) -> String { "\((value * 10).rounded() / 10)" }
}
