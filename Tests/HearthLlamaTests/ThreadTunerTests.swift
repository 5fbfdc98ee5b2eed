#if Llama
import HearthBase
import HearthInference
@testable import HearthLlama
import HearthTestSupport
import Testing

@Suite struct ThreadTunerTests {
    /// Runs steps on a machine with a given time for each number of threads, until `seconds` have passed.
    private func run(
        _ tuner: inout ThreadTuner, seconds: Double, available: (Int) -> Double?, step: (Int) -> Double
    ) -> (tokens: Int, counts: [Int]) {
        var time = 0.0
        var counts: [Int] = []
        while time < seconds {
            counts.append(tuner.count)
            time += step(tuner.count)
            if tuner.observe(step: step(tuner.count)) { tuner.take(available: available(tuner.count)) }
        }
        return (counts.count, counts)
    }

    /// Tokens a second by threads on two cores, beside 0, 1 and 2 busy programs (measured).
    static let machine: [(neighbours: Double, one: Double, two: Double)] = [
        (0, 95, 140), (1, 92, 42), (2, 68, 2.7),
    ]

    @Test(arguments: machine)
    func isNeverFarFromTheBestFixedCount(neighbours: Double, one: Double, two: Double) {
        var tuner = ThreadTuner(maximum: 2)
        tuner.begin(available: 2 - min(1, neighbours))
        let result = run(&tuner, seconds: 3, available: { _ in 2 - min(1, neighbours) }) {
            1 / ($0 == 1 ? one : two)
        }
        #expect(Double(result.tokens) >= 0.9 * 3 * max(one, two))
    }

    @Test func givesCoresToOtherPrograms() {
        var tuner = ThreadTuner(maximum: 2)
        tuner.begin(available: 2)
        #expect(tuner.count == 2)
        _ = run(&tuner, seconds: 1, available: { _ in 2 }) { $0 == 1 ? 1 / 95 : 1 / 140 }
        #expect(tuner.count == 2)
        // Two programs start: the first slow step requests a reading, which reports them.
        let asked = tuner.observe(step: 0.37)
        #expect(asked)
        tuner.take(available: 1)
        #expect(tuner.count == 1)
        // The two programs end.
        _ = run(&tuner, seconds: 0.5, available: { _ in 2 }) { $0 == 1 ? 1 / 95 : 1 / 140 }
        #expect(tuner.count == 2)
    }

    @Test func followsTheStepTimesWithoutReadings() {
        var tuner = ThreadTuner(maximum: 8)
        #expect(tuner.count == 7)
        for _ in 0..<20 where tuner.observe(step: 0.01) { tuner.take(available: nil) }
        #expect(tuner.count == 7)
        for _ in 0..<2 where tuner.observe(step: 0.1) { tuner.take(available: nil) }
        #expect(tuner.count == 3)
    }

    /// After other programs end, the number of threads grows again, also if only the step times show it.
    @Test func growsAgainWithoutReadings() {
        var tuner = ThreadTuner(maximum: 8)
        func free(_ count: Int) -> Double { 0.1 / Double(count) }
        _ = run(&tuner, seconds: 1, available: { _ in nil }, step: free)
        #expect(tuner.count == 7)
        // Other programs use all but four cores.
        _ = run(&tuner, seconds: 4, available: { _ in nil }) { $0 > 4 ? 0.5 : free($0) }
        #expect(tuner.count == 3)
        let crowded = run(&tuner, seconds: 30, available: { _ in nil }) { $0 > 4 ? 0.5 : free($0) }
        #expect(crowded.counts.count { $0 > 4 } < 12)
        _ = run(&tuner, seconds: 40, available: { _ in nil }, step: free)
        #expect(tuner.count == 7)
    }

    @Test func stepsWithPromptsRequestReadings() {
        var tuner = ThreadTuner(maximum: 4)
        tuner.begin(available: 4)
        let asked = (0..<9).map { _ in tuner.observe(prompts: 0.03) }
        #expect(asked == [false, false, false, true, true, true, true, true, true])
        tuner.begin(available: 2)
        #expect(tuner.count == 2)
        let again = tuner.observe(prompts: 0.03)
        #expect(!again)
        for seconds in [0, -1, .nan, .infinity] as [Double] {
            let wantsReading = tuner.observe(prompts: seconds)
            #expect(!wantsReading)
        }
    }

    /// A core that is idle but makes no step faster, such as the second thread of a busy core.
    @Test func triesUselessNumbersLessAndLessOften() {
        var tuner = ThreadTuner(maximum: 2)
        let result = run(&tuner, seconds: 20, available: { _ in 2 }) { $0 == 1 ? 0.01 : 0.013 }
        let trials = zip(result.counts, result.counts.dropFirst()).filter { $0 < $1 }.count
        #expect((1...5).contains(trials))
        #expect(Double(result.tokens) > 0.95 * 2000)
    }

    @Test(arguments: [0, -1, .nan, .infinity] as [Double])
    func ignoresInvalidTimes(seconds: Double) {
        var tuner = ThreadTuner(maximum: 4)
        let wantsReading = tuner.observe(step: seconds)
        #expect(!wantsReading)
        tuner.take(available: seconds)
        tuner.begin(available: seconds)
        #expect((1...4).contains(tuner.count))
        #expect(ThreadTuner(maximum: 0).count == 1)
        #expect(!ThreadTuner(maximum: 1).isUseful)
    }

    @Test func countsTheCoresThatOtherProgramsLeave() {
        var reading: CoreLoad.Reading? = CoreLoad.Reading(time: 0, idle: 0, process: 0, thread: 0)
        let load = CoreLoad { reading }
        // Both threads computed for 0.9 seconds; one tenth of a core was idle.
        load.add(thread: 0.9, count: 2)
        reading = CoreLoad.Reading(time: 1, idle: 0.1, process: 1.8, thread: 0.9)
        #expect(load.available().map { abs($0 - 1.9) < 1e-9 } == true)
        // It is too soon for a reading.
        reading?.time = 1.01
        #expect(load.available() == nil)
        // The process's other threads do not count as the engine's.
        load.add(thread: 0.5, count: 1)
        reading = CoreLoad.Reading(time: 2, idle: 0.1, process: 2.8, thread: 1.4)
        #expect(load.available().map { abs($0 - 0.5) < 1e-9 } == true)
        reading = nil
        #expect(load.available() == nil)
    }

    /// The thread that made the load had used processor time before.
    @Test func startsWithTheAccountsOfItsThread() {
        var reading: CoreLoad.Reading?
        let load = CoreLoad { reading }
        #expect(!load.isKnown)
        reading = CoreLoad.Reading(time: 5, idle: 3, process: 9, thread: 0)
        load.add(thread: 7, count: 2)
        load.restart()
        #expect(load.isKnown)
        reading = CoreLoad.Reading(time: 6, idle: 4, process: 10, thread: 1)
        #expect(load.available() == 2)
    }
}

extension RealModel {
    @Suite struct AdaptingThreads {
        @Test func giveTheSameAnswer() async throws {
            let engine = try await LlamaActor.load(
                TestModel.path, configuration: LlamaConfiguration(contextLength: 512))
            // An engine without earlier requests: otherwise the state of another prompt would be copied, and the
            // rest computed in other pieces, whose sums differ in the last digits.
            let fixed = try await LlamaActor.load(
                TestModel.path, configuration: LlamaConfiguration(contextLength: 512, threadCount: 1))
            let options = GenerationOptions.greedy(maximumNewTokens: TestExtent.isFull ? 60 : 16)
            let story = [ChatMessage(.user, "Write a very long story about a fox.")]
            let one = try await Answer(engine.generate(story, options: options)).text
            #expect(try await Answer(engine.generate(story, options: options)).text == one)
            #expect(try await Answer(fixed.generate(story, options: options)).text.prefix(20) == one.prefix(20))
        }
    }
}
#endif
