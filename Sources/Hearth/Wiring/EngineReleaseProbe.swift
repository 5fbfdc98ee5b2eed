import Foundation
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthInference
import HearthStore
import HearthWorkers

/// Probes a release with an engine of this build: loads it and checks its weights, generates from the canary's prompt and
/// one of its own, or embeds the canary's, and unloads it before the report.
package struct EngineReleaseProbe: ReleaseProbe {
    private let open: @Sendable (ProbeCandidate) async throws -> (any InferenceEngine)?
    private let formats: Set<ModelFormat>
    private let memory: EngineMemory?
    private let time: TimeSource
    private let measurement: @Sendable () -> (@Sendable () -> UInt64?)

    /// A probe with the engines of an app.
    ///
    /// Loaded models stay in memory during the probe. If they leave too little for the release, it is probed with a
    /// shorter context. If even that does not fit, but the release alone would, it is not judged: it then replaces
    /// the old one in memory, on probation.
    /// - Parameters:
    ///   - memory: the ledger of the engines that stay loaded; none is loaded during the probe.
    ///   - measurement: starts to measure the memory of this process, for engines that run in it.
    package init(
        configuration: Configuration = Configuration(), engines: EngineRegistry = .standard,
        memory: EngineMemory = EngineMemory(deviceMemory: DeviceMemory.read().usable),
        measurement: @escaping @Sendable () -> (@Sendable () -> UInt64?) = PeakMemory.measurement
    ) {
        formats = engines.formats
        time = .system
        self.measurement = measurement
        self.memory = memory
        open = { candidate in
            var settings = configuration
            // The canary's state is of no later use and would evict the user's states.
            settings.stateFolder = nil
            if candidate.ignoresMemory { settings.ignoresMemory = true }
            let configuration = settings
            let files = candidate.files
            let occupied = await blocking {
                max(ProbeRoom(deviceMemory: memory.deviceMemory, free: memory.free()).occupied, memory.usedBytes)
            }
            do {
                var request = EngineRegistry.Request(
                    files: files, configuration: configuration, deviceMemory: memory.deviceMemory, occupied: occupied)
                request.checksWeights = true
                return try await engines.open(request)
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
        measurement = PeakMemory.measurement
        memory = nil
        self.open = { try await open($0.files) }
    }

    package func probe(_ candidate: ProbeCandidate) async throws -> ProbeReport? {
        guard formats.contains(candidate.release.receipt.format) else { return nil }
        guard let memory else { return try await limited(candidate) }
        return try await memory.turn.turnUnlessCancelled { try await limited(candidate) }
    }

    /// Probes within the canary's time limit, and that of the probe's own question after it.
    private func limited(_ candidate: ProbeCandidate) async throws -> ProbeReport? {
        let limit = Duration.seconds(candidate.canary.timeoutSeconds)
        let isAnswered = Locked(false)
        return try await withThrowingTaskGroup(of: Outcome.self) { group in
            group.addTask { .ended(try await attempt(candidate, isAnswered)) }
            group.addTask { [time] in
                try await time.sleep(for: limit)
                if isAnswered.withLock({ $0 }) { try await time.sleep(for: .seconds(Self.question.timeoutSeconds)) }
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
    private func attempt(_ candidate: ProbeCandidate, _ isAnswered: Locked<Bool>) async throws -> ProbeReport? {
        let here = measurement()
        let loading = time.stopwatch()
        guard let engine = try await open(candidate) else { return nil }
        let loadSeconds = loading.elapsed.seconds
        let worker = (engine as? WorkerEngine)?.process
        let memory = { worker.map { PeakMemory.bytes(of: $0) } ?? here() }
        do {
            let information = try await engine.modelInformation
            let makesVectors =
                if information.isEncoderOnly { true } else {
                    await blocking { Self.makesVectors(candidate.files.weights) }
                }
            let report =
                makesVectors
                ? try await embed(candidate.canary, with: engine, information, loadSeconds: loadSeconds, memory)
                : try await ask(candidate.canary, of: engine, loadSeconds: loadSeconds, memory, isAnswered)
            // Unload now rather than with the last reference: the next load needs the memory.
            await engine.reader.unload()
            return report
        } catch {
            await engine.reader.unload()
            throw error
        }
    }

    /// Whether a file declares how its tokens become one vector: such a model was trained for that, and may have lost
    /// its words.
    private static func makesVectors(_ weights: Path) -> Bool {
        // A file that is no GGUF has an engine of an app, which answers.
        guard let header = try? GGUFHeader(file: weights, extent: .metadata) else { return false }
        return header.metadata["\(header.architecture ?? "").pooling_type"]?.integer ?? 0 > 0
    }

    /// The probe's own question: longer than most canaries, since some faults show only behind many tokens.
    static let question = Canary(
        prompt: """
            A farmer has seven sheep, two dogs and a cat. In spring four lambs are born. How many animals live on the \
            farm now? Answer in one sentence.
            """, maximumNewTokens: 8, timeoutSeconds: 600)

    /// Asks the canary's question, then the probe's own one.
    private func ask(
        _ canary: Canary, of engine: any InferenceEngine, loadSeconds: Double, _ memory: () -> UInt64?,
        _ isAnswered: Locked<Bool>
    ) async throws -> ProbeReport {
        let answering = time.stopwatch()
        let first = try await answer(canary, of: engine)
        var report = ProbeReport(
            text: first.answerText, generatedTokens: first.answer.generatedTokens, loadSeconds: loadSeconds,
            answerSeconds: answering.elapsed.seconds, tokensPerSecond: first.summary.timings.decodeTokensPerSecond,
            peakMemoryBytes: memory(), isTimedOut: first.summary.reason == .timedOut)
        guard !report.isTimedOut, canary.objection(to: report) == nil else { return report }
        isAnswered.withLock { $0 = true }
        do {
            let second = try await answer(Self.question, of: engine)
            if second.summary.reason != .timedOut { report.answers = [first.answer, second.answer] }
        } catch let error as LLMError where error.code == .exceededContextWindowSize {
            Log.write(.info, "probe", "the model is not asked a second question: \(error.message)")
        }
        return report
    }

    private typealias Answered = (answer: ProbeReport.Answer, answerText: String, summary: GenerationSummary)

    /// Asks one question, with the likeliest tokens.
    private func answer(_ question: Canary, of engine: any InferenceEngine) async throws -> Answered {
        var options = GenerationOptions(
            sampling: .greedy, maximumNewTokens: question.maximumNewTokens, timeout: .seconds(question.timeoutSeconds))
        options.tokenReports = .tokensOnly
        let written = Locked((all: "", answer: "", tokens: [Int32]()))
        let summary = try await engine.generate([ChatMessage(.user, question.prompt)], options: options) { event in
            written.withLock { written in
                switch event {
                case .text(let piece):
                    written.all += piece
                    written.answer += piece
                case .thinking(let piece): written.all += piece
                case .toolCall(let call): written.all += call.name
                case .token(let report): written.tokens.append(report.chosen.token)
                default: break
                }
            }
        }
        let (all, text, tokens) = written.withLock { $0 }
        let answer = ProbeReport.Answer(
            // llama.cpp writes such a word for a token of its vocabulary that has no text.
            text: all.replacing(/\[EMPTY_[0-9]+\]/, with: ""), generatedTokens: summary.usage.generatedTokens,
            tokens: tokens,
            droppedBytes: summary.droppedBytes)
        return (answer, text, summary)
    }

    /// Embeds the canary's prompt with an encoder, in the context it needs.
    /// - Returns: `nil` for a model that ranks texts, after a text was ranked, and if there is too little memory for the
    ///   context.
    /// - Throws: `generation-failed` for a vector that is not finite or of the wrong length.
    private func embed(
        _ canary: Canary, with engine: any InferenceEngine, _ information: ModelInformation, loadSeconds: Double,
        _ memory: () -> UInt64?
    ) async throws -> ProbeReport? {
        let length = information.embeddingLength
        guard length > 0 else {
            guard try await engine.capabilities.contains(.ranking) else { return nil }
            do {
                _ = try await engine.reader.rank(canary.prompt, [canary.prompt])
            } catch let error as LLMError where error.code == .doesNotFit {}
            return nil
        }
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
