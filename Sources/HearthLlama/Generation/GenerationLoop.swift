#if Llama
    import CLlama
    import HearthBase
    import HearthInference

    /// Tells the model of one load from that of another, for who must not keep it.
    final class LoadMark: Sendable {}

    /// Answers the requests of one model, all that run a step further at a time, in one batch.
    ///
    /// Unchecked as its model is: only the thread of the actor that made it may touch it; when the actor is gone, whoever lets go
    /// last.
    final class GenerationLoop: @unchecked Sendable {
        let model: LoadedModel
        let mark = LoadMark()
        private let time: TimeSource
        /// Those that are answered, in the order in which they came.
        private(set) var runs: [GenerationRun] = []
        /// The next one, whose prompt is made and has no room yet.
        private(set) var next: GenerationRun?
        private var batch: TokenBatch
        /// How much of a prompt is read while others wait.
        private(set) var pace: StepPace

        /// - Parameter load: of the engine, on whose thread it is made.
        init(_ model: LoadedModel, load: CoreLoad, time: TimeSource) {
            self.model = model
            model.moveHere(load)
            self.time = time
            batch = TokenBatch(capacity: model.context.batchSize)
            pace = StepPace(bounds: min(32, model.chunkSize)...min(256, model.chunkSize))
        }

        enum Admittance {
            case begun, mustWait
            /// It failed, or had nothing to compute.
            case ended
        }

        /// Lets a request begin if there is room for it; asked again and again with the one that came first.
        func admit(_ request: GenerationRequest) -> Admittance {
            do {
                if request.signal.isCancelled { throw CancellationError() }
                guard model.context.hasMemory else { throw LLMError.encoderOnly }
                // The prompt of one that has to wait is made once.
                if let next, next.request.isSame(as: request) { return admit(next) }
                guard runs.count < model.admission.sequences else { return .mustWait }
                let prompt = try Prompt(request, for: model)
                return admit(try GenerationRun(request, prompt: prompt, model: model, time: time))
            } catch {
                next = nil
                request.reply.finish(.failure(error))
                return .ended
            }
        }

        /// Keeps nothing more of a request that has not begun.
        func letGo(of request: GenerationRequest) {
            if next?.request.isSame(as: request) == true { next = nil }
        }

        /// Lets a request begin whose prompt is made.
        func admit(_ run: GenerationRun) -> Admittance {
            if run.request.isPreparation, model.conversations.table.holds(run.prompt.ledger) {
                next = nil
                run.endPrepared()
                return .ended
            }
            let needs = runs.map(\.need)
            guard model.admission.admits(run.need, beside: needs),
                let place = model.conversations.begin(
                    run.prompt, need: run.need, beside: needs.reduce(0, +), model)
            else {
                next = run
                return .mustWait
            }
            next = nil
            // Beside others the number of threads has just been chosen, from better evidence.
            if runs.isEmpty { model.chooseThreads() }
            run.begin(in: place.sequence, miss: place.plan.miss)
            runs.append(run)
            return .begun
        }

        /// Ends what nobody waits for any more, or what has no time left.
        /// - Returns: those that have ended.
        func endAsked() -> [GenerationRun] {
            for run in runs { run.endIfAsked() }
            return sweep()
        }

        /// Computes one batch for all that run.
        /// - Parameter isBesideOthers: another model answers too, and waits for the end of the step.
        /// - Returns: those that have ended.
        func step(isBesideOthers: Bool = false) -> [GenerationRun] {
            for run in runs { run.endIfAsked() }
            // What failed before is no cause of what fails now.
            _ = LlamaLog.shared.takeProblems()
            computePicture()
            computeTokens(isBesideOthers: isBesideOthers)
            // What the others do next may take longer than a token.
            if isBesideOthers {
                handOver()
                model.context.rest()
            }
            return sweep()
        }

        /// Ends everything at once.
        /// - Returns: what ran.
        func end(throwing error: any Error) -> [GenerationRun] {
            next = nil
            for run in runs { run.fail(error) }
            return sweep()
        }

        /// Shows what the answers hold back for their next pieces, before something that takes longer than a step of them.
        func handOver() { for run in runs { run.handOver() } }

        private func sweep() -> [GenerationRun] {
            let ended = runs.filter { $0.phase == .finished }
            guard !ended.isEmpty else { return [] }
            for run in ended { model.conversations.end(run.sequence, model) }
            runs.removeAll { $0.phase == .finished }
            // Somebody else may compute next.
            if runs.isEmpty { model.context.rest() }
            // Its pixels stay from one part of a picture to the next, and the next part may never be asked for.
            if !runs.contains(where: \.hasPicturesLeft) { model.projector?.letGoOfPixels() }
            return ended
        }

        /// A picture is a computation of its own: one in each step, so that answers go on between two of them.
        private func computePicture() {
            for run in runs {
                guard case .picture(let picture)? = run.step else { continue }
                handOver()
                // A picture is encoded with threads of its own.
                model.context.rest()
                model.listeners.members = [run.request.signal]
                let status: Int32
                do {
                    status = try model.counted(by: { picture.wasEncoded ? model.projector?.threadCount : nil }) {
                        try picture.compute(in: model.context.raw, at: run.position, of: run.sequence)
                    }
                } catch {
                    return run.fail(error)
                }
                if picture.wasEncoded { run.didEncodePicture() }
                guard status == 0 else { return didFail([run], status) }
                model.didCompute(picture.ledger, in: run.sequence)
                return run.didCompute(picture.ledger.count, odds: nil)
            }
        }

        private struct Part {
            let run: GenerationRun
            let tokens: ArraySlice<llama_token>
            let odds: Int32?
        }

        private func computeTokens(isBesideOthers: Bool) {
            var wanted: [(run: GenerationRun, range: Range<Int>)] = []
            for run in runs {
                if case .tokens(let range)? = run.step { wanted.append((run, range)) }
            }
            guard !wanted.isEmpty else { return }
            let plan = BatchPlan(
                wanted.map { BatchPlan.Want(tokens: $0.range.count, isAnswering: $0.run.phase == .decode) },
                limits: BatchPlan.Limits(
                    capacity: model.chunkSize, besideOthers: pace.tokens, isBesideOthers: isBesideOthers))
            batch.removeAll()
            var parts: [Part] = []
            for (want, count) in zip(wanted, plan.shares) where count > 0 {
                let run = want.run
                let tokens = run.tokens(want.range.prefix(count))
                let wantsOdds = run.wantsOdds(after: count)
                batch.append(
                    tokens, at: run.position, of: run.sequence, outputs: wantsOdds ? .last : .none)
                parts.append(Part(run: run, tokens: tokens, odds: wantsOdds ? Int32(batch.count - 1) : nil))
            }
            model.listeners.members = parts.map(\.run.request.signal)
            let watch = time.stopwatch()
            // The steps of a prompt are of all sizes and tell nothing of the number of threads.
            let isDecode = parts.allSatisfy { $0.run.phase == .decode && $0.tokens.count == 1 }
            if !isDecode { handOver() }
            let status =
                isDecode
                ? model.timed(streams: parts.count) { model.context.decode(batch) }
                : model.counted { model.context.decode(batch) }
            guard status == 0 else { return didFail(parts.map(\.run), status) }
            pace.observe(tokens: batch.count, seconds: watch.elapsed.seconds)
            for part in parts { model.didCompute(part.tokens, in: part.run.sequence) }
            for part in parts { part.run.didCompute(part.tokens.count, odds: part.odds) }
        }

        /// Brings memory and ledgers in step again. A computation that was given up has nobody left who wants it.
        private func didFail(_ runs: [GenerationRun], _ status: Int32) {
            for run in runs { model.truncateMemory(run.sequence, to: run.position) }
            guard status != 2 else { return runs.forEach { $0.endIfAsked() } }
            let cause = LlamaLog.shared.takeProblems().last
            let error = LLMError(
                .generateFailed,
                "the engine failed while it was answering (status \(status)\(cause.map { ": \($0)" } ?? ""))",
                context: ErrorContext(
                    model: model.information.description,
                    remedy: "Try again; if it happens again, load the model with a smaller context."))
            for run in runs {
                model.clearMemory(run.sequence)
                run.fail(error)
            }
        }
    }
#endif
