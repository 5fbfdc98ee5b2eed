/// Decides how many threads compute, from the machine's free cores and from measured steps, without effects.
///
/// ggml's threads spin while they wait for each other, so a thread that shares its core with another program slows
/// all of them: on a machine of two cores with two busy programs, two threads compute 3 tokens a second and one
/// computes 68. Too large a number is therefore reduced at once, and a larger number is only tried if a core is
/// idle.
///
/// | observation | decision |
/// | --- | --- |
/// | fewer cores are left than threads compute | as many threads as cores are left |
/// | a core lies idle | a trial of the larger number for some steps |
/// | the trial is not faster, or one step of it much slower | the number before, and no new trial for some time |
/// | two steps in a row much slower than usual | half the threads, and no trial of the larger number for some time |
/// | the machine does not report its cores | a trial of twice the threads at intervals, up to the initial number |
struct ThreadTuner: Sendable, Hashable {
    /// The most threads, one for each core.
    let maximum: Int
    /// The number of threads for the next step.
    private(set) var count: Int
    private let first: Int

    private struct Trial: Sendable, Hashable {
        let from: Int
        let usual: Double
        var steps: [Double] = []
    }

    /// The usual time of a step, by the number of threads.
    private var usual: [Int: Double] = [:]
    private var trial: Trial?
    private var slowSteps = 0
    private var sinceReading = 0.0
    /// The rejected numbers, with the seconds of computation until they may be tried again.
    private var refused: [Int: Double] = [:]
    private var penalty = Self.firstPenalty

    /// The seconds of computation between two readings of the kernel's accounts: several of their ticks.
    static let period = 0.1
    static let trialSteps = 6
    /// The factor above the usual time from which a step counts as slow, beyond noise.
    static let slowFactor = 1.6
    static let firstPenalty = 2.0
    static let longestPenalty = 30.0
    /// The part of a core that may be busy while the core counts as free: the system itself uses some.
    static let tolerance = 0.35

    /// Begins with one thread less than the number of cores.
    init(maximum: Int) {
        self.maximum = max(1, maximum)
        first = max(1, maximum - 1)
        count = first
    }

    /// Whether more than one number is possible.
    var isUseful: Bool { maximum > 1 }

    /// Sets the number of threads to the free cores before a prompt, whose steps are too long for trials.
    /// - Parameter available: the cores that no other program uses, `nil` if unknown.
    mutating func begin(available: Double?) {
        endTrial()
        slowSteps = 0
        sinceReading = 0
        guard let available else { return }
        let ceiling = Self.whole(available, maximum)
        count = ceiling > count && isRefused(ceiling) ? count : ceiling
    }

    /// Records the time of a token's step.
    /// - Parameter seconds: the time of the step.
    /// - Returns: whether ``take(available:)`` is due.
    mutating func observe(step seconds: Double) -> Bool {
        guard seconds > 0, seconds.isFinite else { return false }
        pass(seconds)
        if trial != nil {
            observeTrial(seconds)
            return sinceReading >= Self.period
        }
        if let before = usual[count], seconds > before * Self.slowFactor {
            slowSteps += 1
            if slowSteps >= 2, count > 1 {
                refuse(count)
                count = max(1, count / 2)
                slowSteps = 0
            }
            return true
        }
        slowSteps = 0
        usual[count] = usual[count].map { $0 * 0.8 + seconds * 0.2 } ?? seconds
        return sinceReading >= Self.period
    }

    /// Records the time of a step with prompts. Such steps differ in size, so their times say nothing about the
    /// number of threads.
    /// - Returns: whether ``begin(available:)`` is due.
    mutating func observe(prompts seconds: Double) -> Bool {
        guard seconds > 0, seconds.isFinite else { return false }
        pass(seconds)
        return sinceReading >= Self.period
    }

    private mutating func pass(_ seconds: Double) {
        sinceReading += seconds
        for key in refused.keys { refused[key, default: 0] -= seconds }
    }

    /// Drops all measured times, because the next steps have another size.
    mutating func forgetTimes() {
        endTrial()
        usual = [:]
        slowSteps = 0
    }

    /// Applies the number of cores that no other program uses; `nil` if the machine does not report it.
    mutating func take(available: Double?) {
        sinceReading = 0
        // Without a report, a number that was once rejected is tried again.
        let ceiling = available.map { Self.whole($0, maximum) } ?? max(count, min(first, count * 2))
        if ceiling < count {
            trial = nil
            count = ceiling
        } else if ceiling > count, trial == nil, !isRefused(ceiling), let usual = usual[count] {
            trial = Trial(from: count, usual: usual)
            count = ceiling
        }
    }

    private mutating func observeTrial(_ seconds: Double) {
        guard var current = trial else { return }
        current.steps.append(seconds)
        trial = current
        // The first step also wakes the threads; the median of the trial leaves its time out.
        if seconds > current.usual * Self.slowFactor {
            giveUp(current)
        } else if current.steps.count == Self.trialSteps {
            let median = current.steps.sorted()[Self.trialSteps / 2]
            guard median < current.usual * 0.97 else { return giveUp(current) }
            usual[count] = median
            penalty = Self.firstPenalty
            trial = nil
        }
    }

    private mutating func giveUp(_ trial: Trial) {
        refuse(count)
        count = trial.from
        self.trial = nil
    }

    private mutating func endTrial() {
        guard let trial else { return }
        count = trial.from
        self.trial = nil
    }

    private mutating func refuse(_ count: Int) {
        refused[count] = penalty
        penalty = min(Self.longestPenalty, penalty * 2)
    }

    private func isRefused(_ count: Int) -> Bool { refused[count, default: 0] > 0 }

    private static func whole(_ available: Double, _ maximum: Int) -> Int {
        guard available.isFinite else { return maximum }
        return min(maximum, max(1, Int(min(Double(maximum), max(0, available + tolerance)))))
    }
}
