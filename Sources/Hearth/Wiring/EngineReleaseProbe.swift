import Foundation
import HearthBase
import HearthDelivery
import HearthInference

/// Tries releases with the engines of this build: loads one, asks it the canary's question, and lets go of it.
public struct EngineReleaseProbe: ReleaseProbe {
    /// Opens the engine for the files of a release.
    public typealias Opening = @Sendable (ReleaseFiles) async throws -> any InferenceEngine

    private let open: Opening
    private let formats: Set<ModelFormat>
    private let time: TimeSource

    /// A probe by the engine for GGUF models, as the settings want it.
    public init(configuration: Configuration = Configuration(), deviceMemory: UInt64 = DeviceMemory.read().usable) {
        self.init(formats: EngineOpening.runsGGUF ? [.gguf] : []) { files in
            try await EngineOpening.open(
                files.weights, projector: files.projector, configuration: configuration, deviceMemory: deviceMemory)
        }
    }

    /// A probe by another engine.
    /// - Parameters:
    ///   - formats: what it runs; releases of other formats are not judged.
    ///   - open: loads the files of a release.
    public init(formats: Set<ModelFormat>, time: TimeSource = .system, open: @escaping Opening) {
        self.formats = formats
        self.time = time
        self.open = open
    }

    public func probe(_ candidate: ProbeCandidate) async throws -> ProbeReport? {
        guard formats.contains(candidate.release.receipt.format) else { return nil }
        let limit = Duration.seconds(candidate.canary.timeoutSeconds)
        return try await withThrowingTaskGroup(of: ProbeReport?.self) { group in
            group.addTask { try await attempt(candidate) }
            group.addTask { [time] in
                try await time.sleep(for: limit)
                return nil
            }
            defer { group.cancelAll() }
            guard let first = try await group.next() else { throw CancellationError() }
            guard let report = first else {
                // The engine stops at the next look at its flag; it is waited for, so that its memory is given back. How it
                // ended no longer matters: its time was up.
                group.cancelAll()
                _ = try? await group.next()
                return ProbeReport(
                    text: "", generatedTokens: 0, loadSeconds: limit.seconds, answerSeconds: 0, tokensPerSecond: 0,
                    peakMemoryBytes: nil, isTimedOut: true)
            }
            return report
        }
    }

    private func attempt(_ candidate: ProbeCandidate) async throws -> ProbeReport {
        let memory = PeakMemory()
        let loading = time.stopwatch()
        let engine = try await open(candidate.files)
        let loadSeconds = loading.elapsed.seconds
        let answering = time.stopwatch()
        let canary = candidate.canary
        let options = GenerationOptions(
            sampling: .greedy, maximumNewTokens: canary.maximumNewTokens, timeout: .seconds(canary.timeoutSeconds))
        var text = ""
        var summary: GenerationSummary?
        for try await event in engine.generate([ChatMessage(.user, canary.prompt)], options: options) {
            switch event {
            case .text(let piece): text += piece
            case .finish(let facts): summary = facts
            case .phase, .truncated, .picturesLeftOut, .thinking, .toolCall: break
            }
        }
        // A stream that ends without its facts was cancelled.
        guard let summary else { throw CancellationError() }
        return ProbeReport(
            text: text, generatedTokens: summary.usage.generatedTokens, loadSeconds: loadSeconds,
            answerSeconds: answering.elapsed.seconds, tokensPerSecond: summary.timings.decodeTokensPerSecond,
            peakMemoryBytes: memory?.bytes, isTimedOut: summary.reason == .timedOut)
    }
}
