import Foundation
import HearthBase
import HearthInference
import HearthTestSupport
import Testing

@testable import HearthWorkers

/// A worker within the test's process: the other side of its channel is a service or the test itself.
final class LocalWorker: WorkerHandle {
    let channel: FrameChannel
    let far: FrameChannel
    let process: Int32 = 1
    /// Whether its end counts as its own doing.
    let isOwnDoing: Bool
    private let ended = Locked(false)
    private let waiting = Locked<[CheckedContinuation<Void, Never>]>([])

    init(isOwnDoing: Bool = true) throws {
        (channel, far) = try FrameChannel.pair()
        self.isOwnDoing = isOwnDoing
    }

    var isKilled: Bool { ended.withLock { $0 } }

    /// Serves an engine.
    func serve(_ engine: @escaping @Sendable () async throws -> any InferenceEngine) {
        let far = far
        Thread {
            EngineService(far) { _, progress in
                progress(0.5)
                return try await engine()
            }.run()
            self.kill()
        }.start()
    }

    func kill() {
        ended.withLock { $0 = true }
        far.shutdown()
        channel.shutdown()
        for waiter in waiting.withLock({ waiting in
            defer { waiting = [] }
            return waiting
        }) { waiter.resume() }
    }

    func reap() { kill() }

    func ending() async -> WorkerEnding {
        await withCheckedContinuation { continuation in
            let isOver = ended.withLock { isOver in
                if !isOver { waiting.withLock { $0.append(continuation) } }
                return isOver
            }
            if isOver { continuation.resume() }
        }
        return WorkerEnding(reason: "signal 9", lastWords: "GGML_ASSERT", isOwnDoing: isOwnDoing)
    }
}

@Suite(.timeLimit(.minutes(2))) struct WorkerEngineTests {
    private let workers = Locked<[LocalWorker]>([])

    /// An engine whose workers serve the scripts in order.
    private func engine(
        _ scripts: [ScriptedEngine], time: TimeSource = .system, rule: WatchRule = WatchRule(),
        isOwnDoing: Bool = true
    ) async throws -> WorkerEngine {
        let rest = Locked(scripts)
        let launch = WorkerEngine.Launch(model: "tiny", content: []) { [workers] in
            let worker = try LocalWorker(isOwnDoing: isOwnDoing)
            let engine = rest.withLock { $0.isEmpty ? nil : $0.removeFirst() }
            worker.serve {
                guard let engine else { throw LLMError(.cannotLoad, "no further worker") }
                return engine
            }
            workers.withLock { $0.append(worker) }
            return worker
        }
        return try await WorkerEngine.open(launch, rule: rule, time: time)
    }

    /// Lets time pass in steps.
    private func pass(_ clock: ManualClock, _ step: Duration) -> Task<Void, Never> {
        Task {
            while !Task.isCancelled {
                clock.advance(by: step)
                await Task.yield()
            }
        }
    }

    private var last: LocalWorker? { workers.withLock { $0.last } }

    private func texts(_ engine: WorkerEngine, _ content: String = "a") async throws -> ([String], FinishReason) {
        let texts = Locked<[String]>([])
        let summary = try await engine.generate([ChatMessage(.user, content)], options: GenerationOptions()) { event in
            if case .text(let text) = event { texts.withLock { $0.append(text) } }
        }
        return (texts.withLock { $0 }, summary.reason)
    }

    @Test func answersComeInOrder() async throws {
        let pieces = (0..<500).map { "\($0) " }
        let script = ScriptedEngine([pieces.map { .text($0) } + [.finish(.endOfGeneration)]], capabilities: [.schema])
        let engine = try await engine([script])
        #expect(try await engine.modelInformation.description == "scripted")
        #expect(try await engine.capabilities == [.schema])
        let (texts, reason) = try await texts(engine)
        #expect(texts == pieces && reason == .endOfGeneration)
        await engine.unload()
        #expect(last?.isKilled == true)
        await #expect(throws: LLMError.self) { try await engine.modelInformation }
    }

    @Test func errorsKeepTheirCode() async throws {
        let script = ScriptedEngine([
            [.fail(LLMError(.exceededContextWindowSize, "too long", disposition: .usage))],
            [.fail(CancellationError())],
        ])
        let engine = try await engine([script])
        let error = await #expect(throws: LLMError.self) { try await texts(engine) }
        #expect(error?.code == .exceededContextWindowSize && error?.disposition == .usage)
        await #expect(throws: CancellationError.self) { try await texts(engine) }
    }

    @Test func aLoadThatFailsSaysWhy() async throws {
        let error = await #expect(throws: LLMError.self) { try await engine([]) }
        #expect(error?.code == .cannotLoad)
        #expect(last?.isKilled == true)
    }

    @Test func cancellationReachesTheEngine() async throws {
        let script = ScriptedEngine([
            [.text("a"), .waitForCancellation, .finish(.endOfGeneration)], [.text("b"), .finish(.endOfGeneration)],
        ])
        let engine = try await engine([script])
        let answer = Task { try await texts(engine) }
        await script.stalled()
        answer.cancel()
        await #expect(throws: CancellationError.self) { try await answer.value }
        #expect(try await texts(engine).0 == ["b"])
    }

    /// A death ends its own requests, and the next one starts another worker.
    @Test func aDeathIsAnErrorAndTheNextAnswerComes() async throws {
        let dying = ScriptedEngine([[.text("a"), .waitForCancellation]])
        let next = ScriptedEngine([[.text("b"), .finish(.endOfGeneration)]])
        let engine = try await engine([dying, next])
        let answer = Task { try await texts(engine) }
        await dying.stalled()
        last?.kill()
        let error = await #expect(throws: LLMError.self) { try await answer.value }
        #expect(error?.code == .engineDied && error?.context.found == "crashed" && error?.context.field == "decode")
        #expect(try await texts(engine, "another").0 == ["b"])
    }

    /// A request that ended two workers is refused; others are answered.
    @Test func aDeadlyRequestIsRefused() async throws {
        let scripts = (0..<2).map { _ in ScriptedEngine([[.waitForCancellation]]) }
        let good = ScriptedEngine([[.text("b"), .finish(.endOfGeneration)]])
        let patient = WatchRule(load: .infinity, silence: .infinity)
        let clock = ManualClock()
        // Far less than the ten minutes of the refusal.
        let passing = pass(clock, .milliseconds(1))
        defer { passing.cancel() }
        let engine = try await engine(scripts + [good], time: clock.time, rule: patient)
        for script in scripts {
            let answer = Task { try await texts(engine, "deadly") }
            await script.stalled()
            last?.kill()
            await #expect(throws: LLMError.self) { try await answer.value }
        }
        #expect(try await texts(engine, "harmless").0 == ["b"])
        let error = await #expect(throws: LLMError.self) { try await texts(engine, "deadly") }
        #expect(error?.code == .engineDied && error?.disposition == .tryLater)
        #expect(workers.withLock { $0.count } == 3)
    }

    /// Ends that another process caused neither refuse a request nor delay the next worker.
    @Test func aKillFromOutsideIsNoFaultOfTheRequest() async throws {
        let scripts = (0..<4).map { _ in ScriptedEngine([[.waitForCancellation]]) }
        let good = ScriptedEngine([[.text("b"), .finish(.endOfGeneration)]])
        let engine = try await engine(scripts + [good], time: ManualClock().time, isOwnDoing: false)
        for script in scripts {
            let answer = Task { try await texts(engine, "same") }
            await script.stalled()
            last?.kill()
            let error = await #expect(throws: LLMError.self) { try await answer.value }
            #expect(error?.code == .engineDied && error?.context.found == "killed" && error?.isOwnDeath == false)
        }
        #expect(try await texts(engine, "same").0 == ["b"])
    }

    /// A worker that breaks the agreement in any way is ended, and its request fails.
    @Test(arguments: 0..<14) func aHostileWorkerIsEnded(way: Int) async throws {
        let worker = try LocalWorker()
        let launch = WorkerEngine.Launch(model: "evil", content: []) { worker }
        let far = worker.far
        Thread {
            func say(_ message: [UInt8]) { try? far.send([1] + message) }
            guard let order = try? far.receiveMessage(most: 1 << 20), let number = try? EngineOrder.read(order).number
            else { return }
            if way != 0 { say(EngineReply.hello(way == 1 ? 99 : EngineReply.version).message()) }
            let opened = EngineReply.done(
                .opened(ModelInformation(description: "evil", contextLength: 8), EngineCapabilities()))
            if way == 2 { return say(EngineReply.done(.count(1)).message(number)) }
            say(opened.message(number))
            guard let order = try? far.receiveMessage(most: 1 << 20), let number = try? EngineOrder.read(order).number
            else { return }
            switch way {
            case 3: say([77])
            case 4: say(EngineReply.done(.done).message(number &+ 5))
            case 5: say(EngineReply.events([(number &+ 5, .text("a"))]).message())
            case 6: say(EngineReply.done(.tokens([1])).message(number))
            case 7: try? far.send([7, 7])
            case 9: say(EngineReply.failed(LLMError(.engineDied, "evil")).message(number))
            case 10: say([6] + EngineReply.done(.done).message(number).dropFirst())
            case 11:
                // More calls than a machine has threads, in one pulse.
                let call = CallWatch.Call(kind: .step, wallSeconds: 0, processorSeconds: 0, silentSeconds: 0)
                var pulse = EngineReply.pulse([call]).message()
                pulse.replaceSubrange(5..<9, with: [0, 2, 0, 0])
                say(pulse + Array(repeating: Array(pulse.dropFirst(9)), count: 511).joined())
            case 12: say([3, 0, 0, 0, 0] + Array(repeating: [UInt8(number), 0, 0, 0, 3], count: 1 << 17).joined())
            case 13:
                // The beginning of a result, whose end does not come.
                try? far.send([0, 4] + [UInt8(number), 0, 0, 0] + [UInt8](repeating: 0, count: 1_000_000))
                while (try? far.send([0] + [UInt8](repeating: 0, count: 1_000_000))) != nil {}
            default:
                let flood = EngineReply.events([(number, .text(String(repeating: "x", count: 1 << 19)))]).message()
                while (try? far.send([1] + flood)) != nil {}
            }
        }.start()
        let error = await #expect(throws: LLMError.self) {
            let engine = try await WorkerEngine.open(launch)
            var options = GenerationOptions()
            options.maximumNewTokens = 4
            _ = try await engine.generate([ChatMessage(.user, "a")], options: options) { _ in }
        }
        #expect(error?.code == .engineDied)
        #expect(worker.isKilled)
    }

    /// A worker that says nothing, or whose call does not end, is ended.
    @Test(arguments: [nil, CallWatch.Kind.template, .tokenizer, .step]) func aWorkerThatDoesNotEndIsEnded(
        kind: CallWatch.Kind?
    ) async throws {
        let worker = try LocalWorker()
        let launch = WorkerEngine.Launch(model: "slow", content: []) { worker }
        let far = worker.far
        Thread {
            try? far.send([1] + EngineReply.hello(EngineReply.version).message())
            while let order = try? far.receiveMessage(most: 1 << 20), let read = try? EngineOrder.read(order) {
                if case .open = read.order {
                    let facts = ModelInformation(description: "slow", contextLength: 8)
                    try? far.send([1] + EngineReply.done(.opened(facts, EngineCapabilities())).message(read.number))
                } else if let kind {
                    let call = CallWatch.Call(kind: kind, wallSeconds: 31, processorSeconds: 3, silentSeconds: 31)
                    try? far.send([1] + EngineReply.pulse([call]).message())
                }
            }
        }.start()
        let clock = ManualClock()
        let engine = try await WorkerEngine.open(launch, time: clock.time)
        let passing = pass(clock, .seconds(1))
        defer { passing.cancel() }
        let error = await #expect(throws: LLMError.self) {
            _ = try await engine.generate([ChatMessage(.user, "a")], options: GenerationOptions()) { _ in }
        }
        #expect(error?.code == .engineDied)
    }
}

@Suite struct WorkerRuleTests {
    @Test func aWorkerTellsABoundedNumberOfLines() {
        var budget = LineBudget()
        let taken = (0..<3 * LineBudget.perMinute).count { _ in budget.takes(at: .seconds(59)) }
        #expect(taken == LineBudget.perMinute)
        let isTakenLater = budget.takes(at: .seconds(60))
        #expect(isTakenLater)
    }

    @Test func startsAnewAfterLongerAndLongerWaits() {
        var rule = RestartRule()
        var now = Duration.seconds(100)
        var waits: [Double] = []
        for _ in 0..<8 {
            rule.died(at: now)
            let wait = rule.wait(at: now)
            waits.append(wait.seconds)
            now += wait
        }
        #expect(waits == [0, 1, 2, 4, 8, 16, 30, 30])
        now += .seconds(61)
        rule.died(at: now)
        #expect(rule.wait(at: now) == .zero)
    }

    @Test func refusesForTenMinutes() {
        var rule = RestartRule()
        let request = SHA256Digest(hashing: [UInt8](1...3))
        rule.killed(request, at: .seconds(1))
        #expect(rule.refuses(request, at: .seconds(1)) == nil)
        rule.killed(request, at: .seconds(2))
        #expect(rule.refuses(request, at: .seconds(2)) == .seconds(600))
        #expect(rule.refuses(SHA256Digest(hashing: [UInt8](1...4)), at: .seconds(2)) == nil)
        #expect(rule.refuses(request, at: .seconds(602)) == nil)
    }

    @Test func watchesEachKindOfCall() {
        let rule = WatchRule()
        func call(
            _ kind: CallWatch.Kind, _ wall: Double, _ processor: Double, _ silent: Double, bytes: UInt64 = 0
        ) -> Bool {
            let call = CallWatch.Call(
                kind: kind, wallSeconds: wall, processorSeconds: processor, silentSeconds: silent, bytes: bytes)
            return rule.excess([call], silence: 0, load: nil) != nil
        }
        #expect(!call(.template, 19, 1.9, 19) && call(.template, 3, 2.1, 3) && call(.tokenizer, 21, 0.1, 21))
        // A long text has more time, and a worker that lies about its bytes has not for ever.
        #expect(!call(.tokenizer, 50, 9, 50, bytes: 2 << 20) && call(.tokenizer, 27, 26.1, 27, bytes: 2 << 20))
        #expect(!call(.template, 50, 9, 50, bytes: 2 << 20) && call(.template, 800, 771, 800, bytes: .max))
        #expect(!call(.step, 100, 100, 29) && call(.step, 31, 1, 31))
        #expect(rule.excess([], silence: 19, load: nil) == nil && rule.excess([], silence: 21, load: nil) != nil)
        #expect(rule.excess([], silence: 60, load: 119) == nil && rule.excess([], silence: 60, load: 121) != nil)
    }
}
