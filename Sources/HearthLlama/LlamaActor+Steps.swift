#if Llama
import HearthBase
import HearthInference

extension LlamaActor {
    /// Admits waiting requests, then computes one batch for each model, and one for vectors.
    /// - Returns: whether there is another step to take.
    func step() -> Bool {
        let waiting = mailbox.withLock { $0.waiting }
        if !waiting.isEmpty {
            deliver()
            // Ended generations are removed first, so that a follow-up finds the sequence of its conversation free.
            for loop in loops.values { forget(loop.endAsked().map(\.request)) }
        }
        let held = admit(waiting)
        for loop in loops.values where !loop.runs.isEmpty {
            let isBesideOthers = loops.values.contains { $0 !== loop && !$0.runs.isEmpty }
            forget(loop.step(isBesideOthers: isBesideOthers).map(\.request))
        }
        stepVectors()
        resumeLoad()
        let holdsVectors = isBeingRead(.text)
        return mailbox.withLock { $0.hasWork(except: held, holdsVectors: holdsVectors) }
    }

    /// Delivers the waiting events before the thread does other work than a step.
    func deliver() { for loop in loops.values { loop.handOver() } }

    /// Computes steps for requests that waited for a model, a saved state or a prompt. It is a job, so it runs after the
    /// current step.
    func serveNow() { serve() }

    /// Begins the requests for which there is room.
    /// - Returns: the requests that wait for a model, a saved state or a prompt.
    private func admit(_ waiting: [GenerationRequest]) -> [GenerationRequest] {
        var held: [GenerationRequest] = []
        // Requests for one model begin in the order of their arrival, but a small one may overtake a large one.
        var full: [GenerationLoop] = []
        // The first request of each model that has no room.
        var blocked: [(loop: GenerationLoop, request: GenerationRequest)] = []
        for request in waiting {
            if request.signal.isSet || request.stopwatch.elapsed >= request.options.timeout {
                request.reply.finish(
                    request.signal.isCancelled
                        ? .failure(CancellationError())
                        : .success(GenerationFacts(promptTokens: 0).summary(reason: .timedOut)))
                forget([request])
                continue
            }
            // Beside other work nothing is prepared.
            if request.isPreparation, mailbox.withLock({ $0.hasAnswers }) {
                request.reply.finish(
                    .failure(LLMError(.busy, "the engine has other work", disposition: .tryLater)))
                forget([request])
                continue
            }
            guard let loop = loop(request.role) else {
                if isBeingRead(request.role) {
                    held.append(request)
                } else {
                    request.reply.finish(.failure(Self.notLoaded))
                    forget([request])
                }
                continue
            }
            if full.contains(where: { $0 === loop }) || waitsForNewModel(request) { continue }
            let admittance = loop.admit(
                request, onRead: { [weak self] in Task { await self?.serveNow() } },
                make: { [weak self] request in Task { await self?.makePrompt(of: request) } })
            switch admittance {
            case .begun:
                mailbox.withLock { $0.begin(request) }
                guard let first = blocked.first(where: { $0.loop === loop })?.request else { continue }
                first.overtaken += 1
                if first.overtaken >= Admission.maximumOvertakings { full.append(loop) }
            case .ended: forget([request])
            case .mustWait: full.append(loop)
            case .lacksRoom:
                // Smaller requests may begin before it, but not without end.
                guard request.overtaken < Admission.maximumOvertakings else {
                    full.append(loop)
                    continue
                }
                if !blocked.contains(where: { $0.loop === loop }) { blocked.append((loop, request)) }
            // A long text of one caller does not hold up the others.
            case .isMade: held.append(request)
            case .readsState:
                full.append(loop)
                held += waiting.filter { self.loop($0.role) === loop }
            }
        }
        return held
    }

    /// Removes requests that have ended.
    func forget(_ ended: [GenerationRequest]) {
        guard !ended.isEmpty else { return }
        mailbox.withLock { $0.remove(ended) }
        for request in ended { request.close() }
    }

    /// Computes one step of the first request for vectors. Texts of different callers take turns.
    private func stepVectors() {
        guard let request = mailbox.withLock({ $0.vectors.first }) else { return }
        do {
            if request.signal.isSet { throw CancellationError() }
            guard let loop = loop(.text) else {
                if isBeingRead(.text) { return }
                throw Self.notLoaded
            }
            try request.check(loop.model.weights.mark)
            deliver()
            // The threads of the generations' contexts sleep during the computation.
            for loop in loops.values { loop.model.sequences.context.rest() }
            // While answers are computed, measured steps have already chosen the number of threads.
            if request.beginsText, loop.runs.isEmpty { loop.model.chooseThreads() }
            guard try request.step(embedder(of: loop)) else { return }
            mailbox.withLock { $0.rotateVectors(removing: request.isDone) }
        } catch {
            request.reply.finish(.failure(error))
            mailbox.withLock { $0.rotateVectors(removing: true) }
        }
    }
}
#endif
