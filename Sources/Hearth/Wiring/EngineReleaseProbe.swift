import Foundation
import HearthBase
import HearthDelivery
import HearthInference

/// Tries releases with the engines of this build: loads one, asks it the canary's question, or has it make a vector of that where it
/// only does so, and unloads it before it tells.
public struct EngineReleaseProbe: ReleaseProbe {
    /// Opens the engine for the files of a release.
    public typealias Opening = @Sendable (ReleaseFiles) async throws -> any InferenceEngine

    private let open: @Sendable (ProbeCandidate) async throws -> (any InferenceEngine)?
    private let formats: Set<ModelFormat>
    private let time: TimeSource

    /// A probe by the engine for GGUF models, as the settings want it.
    ///
    /// What is loaded already stays in memory meanwhile. Where that leaves less than the release is going to have it is tried with a
    /// shorter context; where it leaves too little even for that, while the release alone fits, it is not judged: it then
    /// takes the old one's place in memory, on probation.
    /// - Parameter freeMemory: the bytes that could be taken now, `nil` where nobody knows. Blocks at most for the reading of a few
    ///   small files.
    public init(
        configuration: Configuration = Configuration(), deviceMemory: UInt64 = DeviceMemory.read().usable,
        freeMemory: @escaping @Sendable () -> UInt64? = SystemMemory.available
    ) {
        formats = EngineOpening.runsGGUF ? [.gguf] : []
        time = .system
        open = { candidate in
            var settings = configuration
            // What it is asked is nothing to go on from, and would push the user's own out.
            settings.stateFolder = nil
            if candidate.ignoresMemory { settings.ignoresMemory = true }
            let configuration = settings
            let files = candidate.files
            let occupied = try await blocking { ProbeRoom(deviceMemory: deviceMemory, free: freeMemory()).occupied }
            do {
                return try await EngineOpening.open(
                    files.weights, projector: files.projector, configuration: configuration,
                    deviceMemory: deviceMemory, occupied: occupied)
            } catch let error as LLMError where error.code == .doesNotFit && occupied > 0 {
                // Whether it fits alone: if not, that is why it is refused.
                _ = try await blocking {
                    try MemoryPlanning.plan(
                        file: files.weights, projector: files.projector, configuration: configuration,
                        deviceMemory: deviceMemory)
                }
                Log.write(
                    .warning, "probe",
                    "\(candidate.release.identity) is not tried beside what is loaded: \(error.message)")
                return nil
            }
        }
    }

    /// A probe by another engine.
    /// - Parameters:
    ///   - formats: what it runs; releases of other formats are not judged.
    ///   - open: loads the files of a release.
    public init(formats: Set<ModelFormat>, time: TimeSource = .system, open: @escaping Opening) {
        self.formats = formats
        self.time = time
        self.open = { try await open($0.files) }
    }

    public func probe(_ candidate: ProbeCandidate) async throws -> ProbeReport? {
        guard formats.contains(candidate.release.receipt.format) else { return nil }
        let limit = Duration.seconds(candidate.canary.timeoutSeconds)
        return try await withThrowingTaskGroup(of: Outcome.self) { group in
            group.addTask { .ended(try await attempt(candidate)) }
            group.addTask { [time] in
                try await time.sleep(for: limit)
                return .timeIsUp
            }
            defer { group.cancelAll() }
            guard let first = try await group.next() else { throw CancellationError() }
            guard case .ended(let report) = first else {
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

    private enum Outcome: Sendable {
        case ended(ProbeReport?)
        case timeIsUp
    }

    /// - Returns: `nil` where there is no room to try it.
    private func attempt(_ candidate: ProbeCandidate) async throws -> ProbeReport? {
        let memory = PeakMemory()
        let loading = time.stopwatch()
        guard let engine = try await open(candidate) else { return nil }
        let loadSeconds = loading.elapsed.seconds
        do {
            let information = try await engine.modelInformation
            let report =
                information.isEncoderOnly
                ? try await embed(candidate.canary, with: engine, information, loadSeconds: loadSeconds, memory)
                : try await ask(candidate.canary, of: engine, loadSeconds: loadSeconds, memory)
            // Now, and not when nobody has it any more: what comes next counts with its memory.
            await engine.unload()
            return report
        } catch {
            await engine.unload()
            throw error
        }
    }

    private func ask(
        _ canary: Canary, of engine: any InferenceEngine, loadSeconds: Double, _ memory: PeakMemory?
    ) async throws -> ProbeReport {
        let answering = time.stopwatch()
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

    /// Has an encoder make a vector of the prompt, with the context it takes for that.
    /// - Returns: `nil` for one that ranks texts, which nothing here asks for, and where there is no room for that context.
    /// - Throws: `generation-failed` for one that is not finite, or not as long as the model says.
    private func embed(
        _ canary: Canary, with engine: any InferenceEngine, _ information: ModelInformation, loadSeconds: Double,
        _ memory: PeakMemory?
    ) async throws -> ProbeReport? {
        let length = information.embeddingLength
        guard length > 0 else { return nil }
        let embedding = time.stopwatch()
        let vectors: [[Float]]
        do {
            vectors = try await engine.embedding.embed([canary.prompt])
        } catch let error as LLMError where error.code == .doesNotFit {
            return nil
        }
        let seconds = embedding.elapsed.seconds
        guard vectors.count == 1, vectors[0].count == length, vectors[0].allSatisfy(\.isFinite) else {
            throw LLMError(
                .generateFailed, "the vector it makes of a text is not one of \(length) finite numbers",
                context: ErrorContext(model: information.description))
        }
        return ProbeReport(
            text: "", generatedTokens: 0, loadSeconds: loadSeconds, answerSeconds: seconds, tokensPerSecond: 0,
            peakMemoryBytes: memory?.bytes, embeddingLength: length)
    }
}

/// What is left of a device's memory for trying a release beside everything that is loaded.
struct ProbeRoom: Sendable, Hashable {
    /// The bytes a model may count on when it is alone.
    var deviceMemory: UInt64
    /// Those that could be taken now, `nil` where nobody knows: then all is taken to be there.
    var free: UInt64?

    /// What is taken of what models may have; an eighth of what is free stays so.
    var occupied: UInt64 {
        let budget = MemoryPlan.Device(memory: deviceMemory).budget
        return budget - min(budget, free.map { $0 - $0 / 8 } ?? .max)
    }
}
