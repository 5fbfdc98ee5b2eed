#if Llama
    import HearthBase

    /// The number of threads with which one model computes: a configured number, or one that follows from the times of its steps and from
    /// what the machine has left.
    ///
    /// Used on the engine's thread only, as is the ``CoreLoad`` that all models of an engine share: the threads that compute for one
    /// of them are no strangers to the others.
    final class StepThreads {
        /// The threads that compute the next step, the engine's own among them.
        private(set) var count: Int
        /// `nil` for a configured number, or on a machine of one core.
        private var tuner: ThreadTuner?
        /// `nil` as long as no engine has the model.
        private(set) var load: CoreLoad?
        private var timedStreams = 1
        private let time: TimeSource

        /// - Parameters:
        ///   - count: the threads to begin with.
        ///   - adapts: whether another number may do better.
        init(count: Int, adapts: Bool, time: TimeSource = .system) {
            self.time = time
            let tuner = ThreadTuner(maximum: LlamaConfiguration.coreCount)
            self.tuner = adapts && tuner.isUseful ? tuner : nil
            self.count = self.tuner?.count ?? max(1, count)
        }

        /// From now on the steps are those of the engine that counts with `load`.
        func count(with load: CoreLoad) { self.load = load }

        /// Before a prompt: as many threads as the machine has cores for.
        func choose() {
            guard tuner != nil, let available = load?.lately() else { return }
            adjust { $0.begin(available: available) }
        }

        /// Before a step of so many answers is given its threads: the times of more or fewer of them tell nothing about it.
        func expect(streams: Int) {
            guard streams != timedStreams else { return }
            timedStreams = streams
            adjust { $0.forgetTimes() }
        }

        /// Runs one token's step of all answers, and learns from the time it takes.
        func runDecodeStep(_ step: () -> Int32) -> Int32 {
            let (status, seconds) = accounted(by: { nil }, step)
            guard status == 0 else { return status }
            adjust { tuner in
                // The machine's accounts are read a few times a second, the time of each step is known anyway.
                guard tuner.observe(step: seconds) else { return }
                let available = load?.available()
                // Where it is only too soon to tell, the next step asks again.
                if available != nil || load?.isKnown != true { tuner.take(available: available) }
            }
            return status
        }

        /// Runs a step in which prompts or other texts are read. Between two of them the machine's word is taken, as before a prompt:
        /// programs come and go while a long one is read, and prompts may follow each other without a pause.
        /// - Parameter others: how many threads it was that computed, if not ``count``; asked after the step.
        func runPrefillStep(by others: () -> Int? = { nil }, _ step: () throws -> Int32) rethrows -> Int32 {
            let (status, seconds) = try accounted(by: others, step)
            if tuner?.observe(prompts: seconds) == true { choose() }
            return status
        }

        private func accounted(
            by others: () -> Int?, _ step: () throws -> Int32
        ) rethrows -> (status: Int32, seconds: Double) {
            let watch = time.stopwatch()
            guard let load else { return (try step(), watch.elapsed.seconds) }
            let before = load.threadTime
            let status = try step()
            load.add(thread: load.threadTime - before, count: others() ?? count)
            return (status, watch.elapsed.seconds)
        }

        private func adjust(_ change: (inout ThreadTuner) -> Void) {
            guard var tuner else { return }
            change(&tuner)
            self.tuner = tuner
            guard tuner.count != count else { return }
            count = tuner.count
            Log.write(.debug, "threads", "\(count) of \(tuner.maximum) threads from now on")
        }
    }
#endif
