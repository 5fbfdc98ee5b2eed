import Testing

@testable import HearthBase

/// Something that goes on until it is let go.
private struct Gate: Sendable {
    private let stream: AsyncStream<Void>
    private let source: AsyncStream<Void>.Continuation

    init() { (stream, source) = AsyncStream.makeStream() }

    func open() { source.finish() }

    /// Also in a task that was cancelled.
    func wait() async {
        let stream = stream
        await Task { for await _ in stream {} }.value
    }
}

private func until(_ condition: () -> Bool) async { while !condition() { await Task.yield() } }

@Suite(.timeLimit(.minutes(10))) struct TurnQueueTests {
    private let queue = TurnQueue()
    private let order = Locked<[Int]>([])

    /// Somebody whose turn it is until the gate opens.
    private func holder(_ gate: Gate) async -> Task<Void, Never> {
        let began = Gate()
        let task = Task {
            await queue.turn {
                began.open()
                await gate.wait()
            }
        }
        await began.wait()
        return task
    }

    @Test func whoIsCancelledGivesTheirPlaceUpAtOnce() async throws {
        let gate = Gate()
        let holder = await holder(gate)
        var waiting: [Task<Void, any Error>] = []
        for number in 0..<3 {
            waiting.append(Task { try await queue.turnUnlessCancelled { order.withLock { $0.append(number) } } })
            await until { queue.waitingCount == number + 1 }
        }
        waiting[1].cancel()
        await #expect(throws: CancellationError.self) { try await waiting[1].value }
        // The one before them goes on, and the others wait.
        #expect(queue.waitingCount == 2 && order.withLock { $0.isEmpty })
        gate.open()
        await holder.value
        try await waiting[0].value
        try await waiting[2].value
        #expect(order.withLock { $0 } == [0, 2])
        #expect(try await queue.turnUnlessCancelled { 7 } == 7)
    }

    @Test func smallerOnesComeFirst() async {
        let gate = Gate()
        let holder = await holder(gate)
        var tasks: [Task<Void, Never>] = []
        for (number, size) in [9, 5, 0, 5, 9, 1].enumerated() {
            tasks.append(Task { await queue.turn(size: size) { order.withLock { $0.append(number) } } })
            await until { queue.waitingCount == number + 1 }
        }
        gate.open()
        await holder.value
        for task in tasks { await task.value }
        #expect(order.withLock { $0 } == [2, 5, 1, 3, 0, 4])
    }

    @Test func whoWasCancelledBeforeTakesNoTurn() async throws {
        let gate = Gate()
        let task = Task {
            await gate.wait()
            try await queue.turnUnlessCancelled { order.withLock { $0.append(1) } }
        }
        task.cancel()
        gate.open()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(order.withLock { $0.isEmpty } && queue.waitingCount == 0)
        #expect(try await queue.turnUnlessCancelled { 7 } == 7)
    }

    @Test func whoMustNotGiveUpWaitsOn() async {
        let gate = Gate()
        let holder = await holder(gate)
        let task = Task { await queue.turn { order.withLock { $0.append(1) } } }
        await until { queue.waitingCount == 1 }
        task.cancel()
        for _ in 0..<100 { await Task.yield() }
        #expect(queue.waitingCount == 1)
        gate.open()
        await holder.value
        await task.value
        #expect(order.withLock { $0 } == [1])
    }

    /// Cancelled at any moment, also in that of their turn, nobody keeps it.
    @Test func noTurnIsLost() async {
        for round in 0..<300 {
            let tasks = (0..<4).map { number in
                Task {
                    try await queue.turnUnlessCancelled {
                        order.withLock { $0.append(number) }
                        await Task.yield()
                    }
                }
            }
            for _ in 0..<round % 5 { await Task.yield() }
            tasks[round % 4].cancel()
            tasks[(round / 4) % 4].cancel()
            for task in tasks { _ = await task.result }
            #expect(queue.waitingCount == 0)
        }
        #expect(await queue.turn { 7 } == 7)
    }
}

@Suite(.timeLimit(.minutes(10))) struct AbandonableTests {
    private struct Refusal: Error {}

    @Test func givesBackWhatComesOfIt() async throws {
        #expect(try await abandonable { 7 } == 7)
        await #expect(throws: Refusal.self) { try await abandonable { throw Refusal() } }
    }

    @Test func whoIsCancelledWaitsNoLonger() async {
        let gate = Gate()
        let ended = Gate()
        let began = Gate()
        let isCancelled = Locked<Bool?>(nil)
        let caller = Task {
            try await abandonable {
                began.open()
                await gate.wait()
                isCancelled.withLock { $0 = Task.isCancelled }
                ended.open()
            }
        }
        await began.wait()
        caller.cancel()
        await #expect(throws: CancellationError.self) { try await caller.value }
        #expect(isCancelled.withLock { $0 } == nil)
        // It goes on without its caller, and is told so.
        gate.open()
        await ended.wait()
        #expect(isCancelled.withLock { $0 } == true)
    }

    @Test func whoWasCancelledBeforeBeginsNothing() async {
        let gate = Gate()
        let isBegun = Locked(false)
        let caller = Task {
            await gate.wait()
            try await abandonable { isBegun.withLock { $0 = true } }
        }
        caller.cancel()
        gate.open()
        await #expect(throws: CancellationError.self) { try await caller.value }
        #expect(!isBegun.withLock { $0 })
    }
}
