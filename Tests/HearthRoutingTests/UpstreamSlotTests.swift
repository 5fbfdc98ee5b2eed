import HearthBase
import HearthInference
import HearthTestSupport
import Testing

@testable import HearthRouting

/// Slots of an upstream and the rules of its failures.
@Suite(.timeLimit(.minutes(1))) struct UpstreamSlotTests {
    @Test func othersWaitInTheirOrder() async throws {
        let slots = UpstreamSlots(2, of: "far")
        try await slots.take()
        try await slots.take()
        let order = Locked<[Int]>([])
        var tasks: [Task<Void, any Error>] = []
        for number in 0..<5 {
            tasks.append(
                Task {
                    try await slots.take()
                    order.withLock { $0.append(number) }
                    slots.giveBack()
                })
            while slots.load.waiting <= number { await Task.yield() }
        }
        #expect(slots.load == (2, 5))
        tasks[2].cancel()
        await #expect(throws: CancellationError.self) { try await tasks[2].value }
        slots.giveBack()
        for number in [0, 1, 3, 4] { try await tasks[number].value }
        #expect(order.withLock { $0 } == [0, 1, 3, 4])
        slots.giveBack()
        #expect(slots.load == (0, 0))
    }

    @Test func aWaitEndsWithItsTimeAndKeepsNoSlot() async throws {
        let clock = ManualClock()
        let slots = UpstreamSlots(1, of: "far")
        try await slots.take(within: .seconds(1), of: clock.time)
        let late = Task { try await slots.take(within: .seconds(1), of: clock.time) }
        let left = Task { try await slots.take(within: .seconds(9), of: clock.time) }
        while slots.load.waiting < 2 { await Task.yield() }
        await clock.sleepers(atLeast: 2)
        clock.advance(by: .seconds(1))
        let error = await #expect(throws: LLMError.self) { try await late.value }
        #expect(error?.code == .timedOut)
        left.cancel()
        await #expect(throws: CancellationError.self) { try await left.value }
        #expect(slots.load == (1, 0))
        let next = Task { try await slots.take(within: .seconds(9), of: clock.time) }
        while slots.load.waiting < 1 { await Task.yield() }
        slots.giveBack()
        try await next.value
        slots.giveBack()
        #expect(slots.load == (0, 0))
    }

    @Test func tooManyDoNotWait() async throws {
        let slots = UpstreamSlots(1, of: "far")
        try await slots.take()
        let tasks = (0..<UpstreamSlots.maximumWaiting).map { _ in Task { try await slots.take() } }
        while slots.load.waiting < UpstreamSlots.maximumWaiting { await Task.yield() }
        let error = await #expect(throws: LLMError.self) { try await slots.take() }
        #expect(error?.code == .busy && error?.context.retryAfterSeconds == 1)
        for task in tasks { task.cancel() }
        for task in tasks { _ = await task.result }
        #expect(slots.load == (1, 0))
        let cancelled = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await slots.take()
        }
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        slots.giveBack()
        #expect(slots.load == (0, 0))
    }

    // MARK: The circuit

    @Test func threeFailuresOpenTheCircuit() {
        var circuit = UpstreamCircuit()
        for second in 0..<3 {
            #expect(circuit.verdict("m", hasOthers: true, at: .seconds(second)) == .go)
            circuit.begin()
            circuit.end("m", .failed, at: .seconds(second))
        }
        #expect(circuit.isOpen)
        #expect(
            circuit.verdict("m", hasOthers: true, at: .seconds(3)) == .failing(retryAfter: .seconds(29), checks: false))
        // A request that only this server can answer is not refused without a look.
        #expect(circuit.verdict("m", hasOthers: false, at: .seconds(3)) == .checkFirst)
        #expect(
            circuit.verdict("m", hasOthers: true, at: .seconds(32)) == .failing(retryAfter: .seconds(1), checks: true))
        circuit.checked(isHealthy: true, at: .seconds(33))
        #expect(circuit.verdict("m", hasOthers: true, at: .seconds(33)) == .go)
        circuit.begin()
        // One request at a time tries it.
        #expect(
            circuit.verdict("m", hasOthers: true, at: .seconds(33)) == .failing(retryAfter: .seconds(1), checks: false))
        circuit.end("m", .answered, at: .seconds(34))
        #expect(!circuit.isOpen && circuit.verdict("m", hasOthers: true, at: .seconds(34)) == .go)
    }

    @Test func silenceOpensTheCircuitAtOnce() {
        var circuit = UpstreamCircuit()
        circuit.end("m", .silent, at: .zero)
        #expect(circuit.isOpen)
        circuit.checked(isHealthy: false, at: .seconds(40))
        #expect(
            circuit.verdict("m", hasOthers: true, at: .seconds(41)) == .failing(retryAfter: .seconds(29), checks: false)
        )
    }

    @Test func aPauseIsForOneModelAndHasALimit() {
        var circuit = UpstreamCircuit()
        circuit.end("m", .limited(retryAfter: .seconds(1_000_000)), at: .zero)
        #expect(circuit.verdict("m", hasOthers: true, at: .zero) == .paused(retryAfter: UpstreamCircuit.longestPause))
        #expect(circuit.verdict("other", hasOthers: true, at: .zero) == .go)
        #expect(circuit.verdict("m", hasOthers: false, at: UpstreamCircuit.longestPause) == .go)
        circuit.end("m", .limited(retryAfter: nil), at: .zero)
        #expect(circuit.verdict("m", hasOthers: false, at: .zero) == .paused(retryAfter: UpstreamCircuit.pause))
    }

    @Test func anErrorTellsWhatItTells() {
        func outcome(_ code: ErrorCode<ModelInformation>, found: String? = nil) -> UpstreamCircuit.Outcome {
            UpstreamCircuit.Outcome(LLMError(code, "x", context: ErrorContext(found: found)))
        }
        #expect(outcome(.unreachable) == .failed)
        #expect(outcome(.unreachable, found: "status 502") == .failed)
        #expect(outcome(.unreachable, found: "status 500") == .other)
        #expect(outcome(.timedOut) == .silent)
        #expect(outcome(.rateLimited) == .limited(retryAfter: nil))
        for code in [ErrorCode<ModelInformation>.unauthorised, .generateFailed, .exceededContextWindowSize, .busy] {
            #expect(outcome(code) == .other)
        }
        #expect(UpstreamCircuit.Outcome(CancellationError()) == .other)
    }
}
