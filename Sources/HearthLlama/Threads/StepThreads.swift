import HearthBase

/// The number of threads with which one model computes: a configured number, or one adapted to the times of its
/// steps and to the machine's free cores.
///
/// Only the engine's thread uses it and the ``CoreLoad`` that all models of an engine share. The cores that one
/// model computes with count as the engine's own for the others.
final class StepThreads {
    /// The number of threads for the next step, with the engine's own.
    private(set) var count: Int
    /// `nil` for a configured number, or on a machine of one core.
    private var tuner: ThreadTuner?
    /// `nil` until an engine owns the model.
    private(set) var load: CoreLoad?
    private var timedStreams = 1
    private let time: TimeSource

    /// Makes the number of threads of a model.
    /// - Parameters:
    ///   - count: the initial number.
    ///   - adapts: whether the number is adapted.
    init(count: Int, adapts: Bool, time: TimeSource = .system) {
        self.time = time
        let tuner = ThreadTuner(maximum: LlamaConfiguration.coreCount)
        self.tuner = adapts && tuner.isUseful ? tuner : nil
        self.count = self.tuner?.count ?? max(1, count)
    }

    /// Reports later steps to the engine's `load`.
    func count(with load: CoreLoad) { self.load = load }

    /// Sets the number of threads to the machine's free cores. Called before a prompt.
    func choose() {
        guard tuner != nil, let available = load?.recentlyAvailable() else { return }
        adjust { $0.begin(available: available) }
    }

    /// Sets the number of answers in the next step. Times of steps with another number are dropped.
    func expect(streams: Int) {
        guard streams != timedStreams else { return }
        timedStreams = streams
        adjust { $0.forgetTimes() }
    }

    /// Computes one token of each answer and measures its time.
    func runDecodeStep(_ step: () -> Int32) -> Int32 {
        let (status, seconds) = accounted(by: { nil }, step)
        guard status == 0 else { return status }
        adjust { tuner in
            // The kernel's accounts are read a few times a second; the time of each step is known anyway.
            guard tuner.observe(step: seconds) else { return }
            let available = load?.available()
            // If it is too soon for a reading, the next step tries again.
            if available != nil || load?.isKnown != true { tuner.take(available: available) }
        }
        return status
    }

    /// Runs a step that computes prompts or texts for vectors. As before a prompt, the free cores then set the
    /// number of threads: the load of the machine changes during a long prompt, and prompts may follow each other
    /// without a pause.
    /// - Parameter others: the number of threads that computed, if not ``count``; called after the step.
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
