import Foundation
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthInference
import HearthStore
import HearthWorkers

/// Probes a release with an engine of this build: loads it, generates from the canary's prompt or embeds it, and
/// unloads it before the report.
package struct EngineReleaseProbe: ReleaseProbe {
    private let open: @Sendable (ProbeCandidate) async throws -> (any InferenceEngine)?
    private let formats: Set<ModelFormat>
    private let memory: EngineMemory?
    private let time: TimeSource

    /// A probe with the engines of an app.
    ///
    /// Loaded models stay in memory during the probe. If they leave too little for the release, it is probed with a
    /// shorter context. If even that does not fit, but the release alone would, it is not judged: it then replaces
    /// the old one in memory, on probation.
    /// - Parameter memory: the ledger of the engines that stay loaded; none is loaded during the probe.
    package init(
        configuration: Configuration = Configuration(), engines: EngineRegistry = .standard,
        memory: EngineMemory = EngineMemory(deviceMemory: DeviceMemory.read().usable)
    ) {
        formats = engines.formats
        time = .system
        self.memory = memory
        open = { candidate in
            var settings = configuration
            // The canary's state is of no later use and would evict the user's states.
            settings.stateFolder = nil
            if candidate.ignoresMemory { settings.ignoresMemory = true }
            let configuration = settings
            let files = candidate.files
            let occupied = try await blocking {
                max(ProbeRoom(deviceMemory: memory.deviceMemory, free: memory.free()).occupied, memory.usedBytes)
            }
            do {
                return try await engines.open(
                    EngineRegistry.Request(
                        files: files, configuration: configuration, deviceMemory: memory.deviceMemory,
                        occupied: occupied))
            } catch let error as LLMError where error.code == .doesNotFit && occupied > 0 {
                // A release that does not fit even alone is refused for that reason.
                _ = try await blocking {
                    try MemoryPlanning.plan(
                        file: files.weights, projector: files.projector, configuration: configuration,
                        deviceMemory: memory.deviceMemory)
                }
                Log.write(
                    .warning, "probe",
                    "\(candidate.release.identity) is not probed beside what is loaded: \(error.message)")
                return nil
            }
        }
    }

    /// A probe with another engine.
    /// - Parameters:
    ///   - formats: the formats the engine runs; releases of other formats are not judged.
    ///   - open: loads an engine for the files of a release.
    package init(
        formats: Set<ModelFormat>, time: TimeSource = .system,
        open: @escaping @Sendable (ReleaseFiles) async throws -> any InferenceEngine
    ) {
        self.formats = formats
        self.time = time
        memory = nil
        self.open = { try await open($0.files) }
    }

    package func probe(_ candidate: ProbeCandidate) async throws -> ProbeReport? {
        guard formats.contains(candidate.release.receipt.format) else { return nil }
        guard let memory else { return try await limited(candidate) }
        return try await memory.turn.turnUnlessCancelled { try await limited(candidate) }
    }

    /// Probes within the canary's time limit.
    private func limited(_ candidate: ProbeCandidate) async throws -> ProbeReport? {
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
                // Wait for the engine to notice its cancellation and free its memory. Its result no longer matters.
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

    /// - Returns: `nil` if there is too little memory for the attempt.
    private func attempt(_ candidate: ProbeCandidate) async throws -> ProbeReport? {
        let here = PeakMemory()
        let loading = time.stopwatch()
        guard let engine = try await open(candidate) else { return nil }
        let loadSeconds = loading.elapsed.seconds
        let worker = (engine as? WorkerEngine)?.process
        let memory = { worker.map { PeakMemory.bytes(of: $0) } ?? here?.bytes }
        do {
            let information = try await engine.modelInformation
            let report =
                information.isEncoderOnly
                ? try await embed(candidate.canary, with: engine, information, loadSeconds: loadSeconds, memory)
                : try await ask(candidate.canary, of: engine, loadSeconds: loadSeconds, memory)
            // Unload now rather than with the last reference: the next load needs the memory.
            await engine.reader.unload()
            return report
        } catch {
            await engine.reader.unload()
            throw error
        }
    }

    private func ask(
        _ canary: Canary, of engine: any InferenceEngine, loadSeconds: Double, _ memory: () -> UInt64?
    ) async throws -> ProbeReport {
        let answering = time.stopwatch()
        let options = GenerationOptions(
            sampling: .greedy, maximumNewTokens: canary.maximumNewTokens, timeout: .seconds(canary.timeoutSeconds))
        let text = Locked("")
        let summary = try await engine.generate([ChatMessage(.user, canary.prompt)], options: options) { event in
            if case .text(let piece) = event { text.withLock { $0 += piece } }
        }
        return ProbeReport(
            text: text.withLock { $0 }, generatedTokens: summary.usage.generatedTokens, loadSeconds: loadSeconds,
            answerSeconds: answering.elapsed.seconds, tokensPerSecond: summary.timings.decodeTokensPerSecond,
            peakMemoryBytes: memory(), isTimedOut: summary.reason == .timedOut)
    }

    /// Embeds the canary's prompt with an encoder, in the context it needs.
    /// - Returns: `nil` for a reranker, which Hearth does not use, and if there is too little memory for the context.
    /// - Throws: `generation-failed` for a vector that is not finite or of the wrong length.
    private func embed(
        _ canary: Canary, with engine: any InferenceEngine, _ information: ModelInformation, loadSeconds: Double,
        _ memory: () -> UInt64?
    ) async throws -> ProbeReport? {
        let length = information.embeddingLength
        guard length > 0 else { return nil }
        let embedding = time.stopwatch()
        let vectors: [[Float]]
        do {
            vectors = try await engine.reader.embed([canary.prompt])
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
            peakMemoryBytes: memory(), embeddingLength: length)
    }
}

/// Memory left on a device for probing a release beside all loaded engines.
struct ProbeRoom: Sendable, Hashable {
    /// The memory available to a single model, in bytes.
    var deviceMemory: UInt64
    /// The free memory in bytes, `nil` if unknown: then all counts as free.
    var free: UInt64?

    /// The part of the models' budget in use; an eighth of the free memory is kept as a reserve.
    var occupied: UInt64 {
        let budget = MemoryPlan.Device(memory: deviceMemory).budget
        return budget - min(budget, free.map { $0 - $0 / 8 } ?? .max)
    }
}
