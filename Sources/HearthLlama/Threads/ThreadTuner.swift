#if Llama
    /// How many threads compute: a decision without effects, from what the machine has left and from measured steps.
    ///
    /// ggml's threads spin while they wait for each other, so a thread that shares its core with another program slows all
    /// of them: on a machine of two cores two threads beside two busy programs compute 3 tokens a second, where one computes
    /// 68. A step too many is therefore given up at once, and a step more only tried where a core lies idle.
    ///
    /// | what is seen | what is done |
    /// | --- | --- |
    /// | fewer cores are left than threads compute | as many threads as cores are left |
    /// | a core lies idle | the larger number on trial for some steps |
    /// | the trial is not faster, or one step of it much slower | back, and not again for a while |
    /// | two steps in a row much slower than usual | half the threads, and the larger number not again for a while |
    /// | the machine says nothing of its cores | twice the threads on trial now and then, up to those it began with |
    struct ThreadTuner: Sendable, Hashable {
        /// The most threads, one for each core.
        let maximum: Int
        /// The threads that compute the next step.
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
        /// Numbers that did not pay, and for how many seconds of computing they are not tried again.
        private var refused: [Int: Double] = [:]
        private var penalty = Self.firstPenalty

        /// Seconds of computing between two looks at the machine: several ticks of the kernel's accounts.
        static let period = 0.1
        static let trialSteps = 6
        /// A step that takes so many times as long as usual is more than noise.
        static let slowFactor = 1.6
        static let firstPenalty = 2.0
        static let longestPenalty = 30.0
        /// The part of a core that need not be idle for it to count as free: the system itself takes some.
        static let tolerance = 0.35

        /// Begins with one thread less than there are cores.
        init(maximum: Int) {
            self.maximum = max(1, maximum)
            first = max(1, maximum - 1)
            count = first
        }

        /// Whether there is anything to decide.
        var isUseful: Bool { maximum > 1 }

        /// Before a prompt: steps of it are too long to try anything, so the machine's word is taken.
        /// - Parameter available: the cores that no other program uses, `nil` when it is not known.
        mutating func begin(available: Double?) {
            endTrial()
            slowSteps = 0
            sinceReading = 0
            guard let available else { return }
            let ceiling = Self.whole(available, maximum)
            count = ceiling > count && isRefused(ceiling) ? count : ceiling
        }

        /// After each token.
        /// - Parameter seconds: the time its step took.
        /// - Returns: whether it is time for ``take(available:)``.
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

        /// After each step with prompts in it: these are of all sizes, and their time says nothing of the number of threads.
        /// - Returns: whether it is time for ``begin(available:)``.
        mutating func observe(prompts seconds: Double) -> Bool {
            guard seconds > 0, seconds.isFinite else { return false }
            pass(seconds)
            return sinceReading >= Self.period
        }

        private mutating func pass(_ seconds: Double) {
            sinceReading += seconds
            for key in refused.keys { refused[key, default: 0] -= seconds }
        }

        /// From now on a step is more or less work than before: its time tells nothing about those until now.
        mutating func forgetTimes() {
            endTrial()
            usual = [:]
            slowSteps = 0
        }

        /// What the machine has left, in cores that no other program uses; `nil` where it does not say.
        mutating func take(available: Double?) {
            sinceReading = 0
            // Otherwise what was given up once would never come back.
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
            // The first step wakes threads and says nothing good.
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
#endif
