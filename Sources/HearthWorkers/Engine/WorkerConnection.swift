import Foundation
import HearthBase
import HearthInference

/// One worker process and the orders that it carries out.
///
/// Whatever the worker sends is checked. A message that breaks the agreement, or a call that takes too long, ends the
/// process; its end fails the orders under way, each within a second.
final class WorkerConnection: Sendable {
    typealias Sink = @Sendable (GenerationEvent) -> Void

    private struct Order {
        var continuation: CheckedContinuation<EngineReply.Answer, any Error>?
        var onEvent: Sink?
        var onProgress: (@Sendable (Float) -> Void)?
        /// The bytes that its reply and events may still have.
        var allowance: Int
        /// What the worker does for it.
        var work: EngineWork
        /// When it has to be over.
        var deadline: Duration?
        /// The progress of a load, which grows by steps.
        var progress: Float = -1
    }

    private struct State {
        var orders: [UInt32: Order] = [:]
        var last: UInt32 = 0
        var hasGreeted = false
        /// What the process is being ended for; `nil` if this process did not end it.
        var cause: EngineDeath.Cause?
        /// Whether its owner ended it.
        var isDismissed = false
        var death: LLMError?
        var calls: [CallWatch.Call] = []
        var lastWord: Duration = .zero
        var lastProgress: Duration?
        var isWatched = false
        var log = LineBudget()
    }

    let handle: any WorkerHandle
    private let sender: MessageSender
    private let state = Locked(State())
    private let watch: Stopwatch
    private let time: TimeSource
    private let rule: WatchRule
    private let model: String
    private let onDeath: @Sendable (LLMError) -> Void

    /// - Parameters:
    ///   - model: its name in errors.
    ///   - onDeath: called once, unless the process was asked to end.
    init(
        _ handle: any WorkerHandle, model: String, rule: WatchRule = WatchRule(), time: TimeSource = .system,
        onDeath: @escaping @Sendable (LLMError) -> Void
    ) {
        (self.handle, self.model, self.rule, self.time, self.onDeath) = (handle, model, rule, time, onDeath)
        sender = MessageSender(handle.channel)
        watch = time.stopwatch()
        sender.start(name: "hearth.orders")
        Thread {
            ThreadName.current = "hearth.worker"
            self.read()
        }.start()
    }

    /// Whether the worker can take orders.
    var isAlive: Bool { state.withLock { $0.death == nil && $0.cause == nil && !$0.isDismissed } }

    // MARK: Orders

    /// Gives an order and waits for its result.
    /// - Parameters:
    ///   - allowance: the most bytes of all its replies.
    ///   - limit: the longest time, after which the process is ended; `nil` for none.
    ///   - leavesAtOnce: whether a cancelled caller does not wait for the worker.
    /// - Throws: the worker's error; `engine-died`; `CancellationError`.
    func ask(
        _ order: EngineOrder, allowance: Int = WorkerConnection.smallReply, limit: Duration? = nil,
        leavesAtOnce: Bool = true,
        control: ThinkingControl? = nil, onEvent: Sink? = nil, onProgress: (@Sendable (Float) -> Void)? = nil
    ) async throws -> EngineReply.Answer {
        let number = state.withLock { state in
            state.last &+= 1
            return state.last
        }
        let message = order.message(number)
        let pressed = control.map { control in
            Task { [sender, time] in
                // The button is looked at as often as a person would notice.
                while !control.wantsAnswer { try await time.sleep(for: .milliseconds(20)) }
                sender.send(EngineOrder.answerNow.message(number))
            }
        }
        defer { pressed?.cancel() }
        return try await withTaskCancellationHandler {
            try Task.checkCancellation()
            return try await withCheckedThrowingContinuation { continuation in
                let death = state.withLock { state -> LLMError? in
                    if let death = state.death { return death }
                    if state.orders.isEmpty { state.calls = [] }
                    state.lastWord = watch.elapsed
                    state.orders[number] = Order(
                        continuation: continuation, onEvent: onEvent, onProgress: onProgress, allowance: allowance,
                        work: order.work, deadline: limit.map { state.lastWord + $0 })
                    if onProgress != nil { state.lastProgress = state.lastWord }
                    return nil
                }
                if let death { return continuation.resume(throwing: death) }
                sender.send(message)
                // A cancellation before the order went unheard.
                if Task.isCancelled { cancel(number) }
                startWatching()
            }
        } onCancel: {
            cancel(number)
            guard leavesAtOnce else { return }
            let left = state.withLock { state in
                defer { state.orders[number]?.continuation = nil }
                return state.orders[number]?.continuation
            }
            left?.resume(throwing: CancellationError())
        }
    }

    /// Tells the worker, which has a bounded time for its reply.
    private func cancel(_ number: UInt32) {
        state.withLock { state in
            let end = watch.elapsed + .seconds(rule.cancellation)
            if let order = state.orders[number] { state.orders[number]?.deadline = min(order.deadline ?? end, end) }
        }
        sender.send(EngineOrder.cancel.message(number))
    }

    /// Enough for every reply that is no vector, prompt, answer or content.
    static let smallReply = 1 << 20
    /// Enough for a prompt, and for the content of other work.
    static let largeReply = 64 << 20

    /// Asks the worker to save and leave, and ends it after `limit`.
    func end(within limit: Duration) async {
        let farewell = Task { _ = try? await ask(.unload) }
        let timer = Task {
            do { try await time.sleep(for: limit) } catch { return }
            farewell.cancel()
        }
        await farewell.value
        timer.cancel()
        dismiss()
        _ = await handle.ending()
    }

    /// Ends the process at once, because it is no longer needed.
    func dismiss() {
        state.withLock { $0.isDismissed = true }
        handle.kill()
    }

    /// Ends the process at once, because of what it did.
    func kill(_ cause: EngineDeath.Cause) {
        state.withLock { state in if state.cause == nil { state.cause = cause } }
        handle.kill()
    }

    // MARK: Replies

    /// Reads until the process ends.
    private func read() {
        do {
            while let message = try handle.channel.receiveMessage(most: longest) { try take(message) }
        } catch {
            state.withLock { state in if state.cause == nil { state.cause = .crashed("it sent what is no reply") } }
        }
        handle.reap()
        sender.close()
        Task { await bury() }
    }

    /// The most bytes of a message of events: a tool call can hold a whole answer.
    private static let longestEvents = 4 << 20

    /// The most bytes of the message that begins like this, known before it is collected.
    private func longest(_ start: ArraySlice<UInt8>) throws -> Int {
        guard let number = try EngineReply.result(start) else { return Self.longestEvents }
        guard let order = state.withLock({ $0.orders[number] }) else { throw WireError() }
        return order.allowance
    }

    private func take(_ message: [UInt8]) throws(WireError) {
        let (reply, number) = try EngineReply.read(message)
        let hasGreeted = state.withLock { state in
            state.lastWord = watch.elapsed
            return state.hasGreeted
        }
        if case .hello(let version) = reply {
            guard !hasGreeted, version == EngineReply.version else { throw WireError() }
            return state.withLock { $0.hasGreeted = true }
        }
        guard hasGreeted else { throw WireError() }
        switch reply {
        case .hello: break
        case .events(let events):
            for (number, event) in events {
                guard let sink = try charge(event.cost, number).onEvent else { throw WireError() }
                sink(event)
            }
        case .progress(let fraction):
            guard let report = try charge(message.count, number).onProgress else { throw WireError() }
            state.withLock { state in
                // A worker that tells the same again makes no progress.
                guard let order = state.orders[number], fraction >= order.progress + 0.01 else { return }
                state.orders[number]?.progress = fraction
                state.lastProgress = state.lastWord
            }
            report(fraction)
        case .done(let answer): try finish(number, message.count, .success(answer))
        case .failed(let error):
            // Only this side tells of deaths.
            if (error as? LLMError)?.code == .engineDied { throw WireError() }
            try finish(number, message.count, .failure(error))
        case .pulse(let calls): state.withLock { $0.calls = calls }
        case .log(let level, let name, let message):
            guard state.withLock({ $0.log.takes(at: watch.elapsed) }) else { return }
            Log.pass(level, name.boundedLine(maximumBytes: 64), message.boundedLine(maximumBytes: 4096))
        }
    }

    /// The order of a number, which has sent so many bytes more.
    private func charge(_ size: Int, _ number: UInt32) throws(WireError) -> Order {
        let order = state.withLock { state -> Order? in
            state.orders[number]?.allowance -= size
            return state.orders[number]
        }
        guard let order, order.allowance >= 0 else { throw WireError() }
        return order
    }

    private func finish(
        _ number: UInt32, _ size: Int, _ result: Result<EngineReply.Answer, any Error>
    ) throws(WireError) {
        _ = try charge(size, number)
        // Taken under the lock: a cancellation at this moment resumes it too.
        let continuation = state.withLock { state in
            let order = state.orders.removeValue(forKey: number)
            if order?.onProgress != nil { state.lastProgress = nil }
            return order?.continuation
        }
        continuation?.resume(with: result)
    }

    /// Fails the orders under way with what is known of the end.
    private func bury() async {
        let ending = await handle.ending()
        let (orders, death, wasMeant) = state.withLock { state in
            let work = state.calls.first?.kind.work ?? state.orders.values.first?.work ?? .decode
            let death = EngineDeath(work, state.cause ?? EngineDeath.Cause(ending)).error(model)
            state.death = death
            defer { state.orders = [:] }
            return (Array(state.orders.values), death, state.isDismissed)
        }
        // To unload an engine is to stop its answers.
        for order in orders { order.continuation?.resume(throwing: wasMeant ? CancellationError() : death) }
        guard !wasMeant else { return }
        Log.write(.warning, "worker", "\(death.message) \(ending.lastWords)")
        onDeath(death)
    }

    // MARK: Time

    private func startWatching() {
        let starts = state.withLock { state in
            defer { state.isWatched = true }
            return !state.isWatched
        }
        guard starts else { return }
        Task { [weak self, time] in
            while true {
                do { try await time.sleep(for: .milliseconds(250)) } catch { return }
                guard let self, self.look() else { return }
            }
        }
    }

    /// - Returns: whether orders are under way.
    private func look() -> Bool {
        let now = watch.elapsed
        let (goesOn, excess) = state.withLock { state -> (Bool, String?) in
            guard !state.orders.isEmpty, state.death == nil else {
                state.isWatched = false
                return (false, nil)
            }
            let isLate = state.orders.values.contains { $0.deadline.map { now > $0 } ?? false }
            let excess = rule.excess(
                state.calls, silence: (now - state.lastWord).seconds,
                load: state.lastProgress.map { (now - $0).seconds })
            return (true, excess ?? (isLate ? "it did not end in time" : nil))
        }
        if let excess { kill(.time(excess)) }
        return goesOn
    }
}
