#if Llama
import Foundation
import HearthBase
import HearthInference
@testable import HearthLlama
import HearthTestSupport
import Testing

/// Models of one engine on a machine without other programs.
@Suite(.enabled(if: LlamaConfiguration.coreCount > 1)) struct StepThreadsTests {
    private static let cores = LlamaConfiguration.coreCount

    /// A machine on which only the engine's steps use processor time.
    private final class Machine {
        let clock = ManualClock()
        var reading = CoreLoad.Reading(time: 0, idle: 0, process: 0, thread: 0)

        func load() -> CoreLoad {
            CoreLoad {
                self.reading
            } clock: {
                self.reading.thread
            }
        }

        /// Lets `count` threads compute for `seconds`.
        func pass(_ seconds: Double, _ count: Int) {
            clock.advance(by: .seconds(seconds))
            reading.time += seconds
            reading.thread += seconds
            reading.process += seconds * Double(count)
            reading.idle += seconds * Double(cores - count)
        }

        /// Runs one step of a prompt, of 0.2 s.
        func step(_ threads: StepThreads) {
            _ = threads.runPrefillStep {
                pass(0.2, threads.count)
                return 0
            }
        }
    }

    /// Two models that compute in turns do not count each other's threads as other programs.
    @Test(arguments: [true, false])
    func twoModelsShareTheCores(otherAdapts: Bool) {
        let machine = Machine()
        let load = machine.load()
        let models = [true, otherAdapts].map {
            StepThreads(count: Self.cores, adapts: $0, time: machine.clock.time)
        }
        for model in models { model.count(with: load) }
        for _ in 0..<5 {
            for model in models { machine.step(model) }
            #expect(models.map(\.count) == [Self.cores, Self.cores])
        }
    }

    /// As with pictures, which a projector encodes with its own threads.
    @Test func otherThreadsThanTheOwnAreCountedByTheirNumber() {
        let machine = Machine()
        let load = machine.load()
        let threads = StepThreads(count: 1, adapts: false, time: machine.clock.time)
        threads.count(with: load)
        _ = threads.runPrefillStep(by: { 4 }) {
            machine.reading.time += 1
            machine.reading.thread += 1
            machine.reading.process += 4
            return 0
        }
        #expect(load.available() == 4)
    }

    /// When the number of answers changes, a trial ends before the next step.
    @Test func aStepOfMoreAnswersEndsATrial() {
        let machine = Machine()
        let threads = StepThreads(count: Self.cores, adapts: true, time: machine.clock.time)
        threads.count(with: machine.load())
        let before = threads.count
        threads.expect(streams: 1)
        while threads.count == before {
            _ = threads.runDecodeStep {
                machine.pass(0.02, threads.count)
                return 0
            }
        }
        threads.expect(streams: 2)
        #expect(threads.count == before)
    }

    /// A reading by another model stays valid for a short time.
    @Test func aRecentReadingIsReused() {
        let machine = Machine()
        let load = machine.load()
        #expect(load.recentlyAvailable() == nil)
        machine.pass(0.2, 1)
        let available = load.available()
        #expect(available == Double(Self.cores))
        #expect(load.available() == nil && load.recentlyAvailable() == available)
        machine.reading.time += 1.5
        #expect(load.recentlyAvailable() == 0)
        load.restart()
        #expect(load.recentlyAvailable() == nil)
    }

    @Test func aConfiguredNumberStays() {
        let machine = Machine()
        let threads = StepThreads(count: 1, adapts: false, time: machine.clock.time)
        threads.count(with: machine.load())
        for _ in 0..<5 { machine.step(threads) }
        #expect(threads.count == 1)
        threads.choose()
        #expect(threads.runDecodeStep { 0 } == 0)
        #expect(threads.count == 1)
    }

    /// A failed step is not measured, and its status is returned.
    @Test func aStepThatFailsIsReported() {
        let threads = StepThreads(count: 1, adapts: true)
        #expect(threads.runDecodeStep { 2 } == 2)
        #expect(threads.runPrefillStep { -1 } == -1)
    }
}

extension RealModel {
    @Suite(.enabled(if: LlamaConfiguration.coreCount > 1)) struct CountedTogether {
        @Test func allModelsOfAnEngineShareItsLoad() async throws {
            let engine = LlamaActor(
                configuration: LlamaConfiguration(contextLength: 512, deviceMemory: 16 << 30, stateBytes: 0))
            for role in EngineRole.allCases { try await engine.load(TestModel.path(.window), role: role) }
            let (known, all) = await engine.loads
            #expect(known.count == EngineRole.allCases.count && known.allSatisfy { $0 == all })
            await engine.unload()
        }

        /// On a machine with many cores and changing load, the number of thread pools stays small.
        @Test(.enabled(if: TestExtent.isFull)) func poolsAreKeptForAFewNumbersOnly() async throws {
            try await blocking {
                let model = try LoadedModel(
                    path: TestModel.path(.window),
                    configuration: LlamaConfiguration(contextLength: 256, threadCount: 1, stateBytes: 0),
                    progress: { _ in true })
                var batch = TokenBatch(capacity: 1)
                batch.append([5], at: 0, outputs: .last)
                for count in [2, 3, 4, 5, 6, 2] {
                    model.sequences.context.setThreadCount(count)
                    model.sequences.context.clear()
                    #expect(model.sequences.context.decode(batch) == 0)
                    #expect(model.sequences.context.poolCount <= 4)
                }
                #expect(model.sequences.context.poolCount == 4)
            }
        }

        #if os(Linux)
        /// Threads sleep while another context computes, because it may need their cores.
        @Test func threadsThatRestTakeNoCore() async throws {
            // Threads inherit the name of the thread that created them.
            let name = "resting \(UInt16.random(in: 0 ... .max))"
            let taken = try await onThread(named: name) {
                let contexts = try [2, 1].map { count in
                    try LoadedModel(
                        path: TestModel.path(.window),
                        configuration: LlamaConfiguration(
                            contextLength: 256, threadCount: count, stateBytes: 0),
                        progress: { _ in true }
                    )
                }
                var batch = TokenBatch(capacity: 1)
                batch.append([5], at: 0, outputs: .last)
                func compute(_ model: LoadedModel) throws {
                    model.sequences.context.clear()
                    guard model.sequences.context.decode(batch) == 0 else {
                        throw LLMError(.generateFailed, "no token")
                    }
                }
                try compute(contexts[0])
                contexts[0].sequences.context.rest()
                let before = try Self.helperSeconds(name)
                let watch = TimeSource.system.stopwatch()
                while watch.elapsed < .milliseconds(100) { try compute(contexts[1]) }
                let taken = try Self.helperSeconds(name) - before
                // The threads wake up for the next computation.
                try compute(contexts[0])
                return taken
            }
            #expect(taken < 0.02)
        }

        /// The processor time of all threads with a name, except the calling one.
        private static func helperSeconds(_ name: String) throws -> Double {
            let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/thread-self")
            let tasks = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")
            return tasks.reduce(0) { sum, task in
                // Threads of other tests start and end.
                func read(_ file: String) -> String? {
                    try? String(contentsOfFile: "/proc/self/task/\(task)/\(file)", encoding: .utf8)
                }
                guard !own.hasSuffix("/\(task)"), read("comm")?.hasPrefix(name) == true,
                    let time = read("schedstat")?.split(separator: " ").first.flatMap({ Double($0) })
                else { return sum }
                return sum + time * 1e-9
            }
        }

        private func onThread<Result: Sendable>(
            named name: String, _ body: @escaping @Sendable () throws -> Result
        ) async throws -> Result {
            try await withCheckedThrowingContinuation { continuation in
                let thread = Thread {
                    Thread.current.name = name
                    continuation.resume(with: Swift.Result { try body() })
                }
                thread.stackSize = 8 << 20
                thread.start()
            }
        }
        #endif

        /// A program that starts while vectors are made gets its cores, and the number of threads is reported.
        @Test(.enabled(if: TestExtent.isFull)) func vectorsAreMadeWithTheFreeCores() async throws {
            try await blocking {
                let cores = LlamaConfiguration.coreCount
                var reading = CoreLoad.Reading(time: 0, idle: 0, process: 0, thread: 0)
                var free = Double(cores)
                let load = CoreLoad {
                    reading.time += 1
                    reading.idle += free
                    return reading
                }
                let model = try LoadedModel(
                    path: TestModel.path, configuration: LlamaConfiguration(contextLength: 2048, stateBytes: 0),
                    progress: { _ in true })
                model.moveHere(load)
                let embedder = try model.wholeEmbedder()
                #expect(model.threads.count == cores)
                let text = String(repeating: "word ", count: 700)
                var counts: [Int] = []
                _ = try embedder.embed(text, 0, signal: StopSignal()) {
                    free = 0
                    counts.append(embedder.threadCount)
                }
                #expect(counts.first == cores && counts.last == 1)
            }
        }
    }
}

extension LlamaActor {
    /// The core measures of the models' steps, and that of the engine.
    fileprivate var loads: ([ObjectIdentifier?], ObjectIdentifier) {
        (loops.values.map { $0.model.threads.load.map { ObjectIdentifier($0) } }, ObjectIdentifier(load))
    }
}
#endif
