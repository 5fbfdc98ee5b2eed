import Foundation
import HearthBase
import HearthInference

/// The worker's side: serves one engine to the process at the other end of the channel, until that ends.
package final class EngineService: Sendable {
    /// Opens the engine of a worker.
    /// - Parameters:
    ///   - content: of the order, as the other side of the program made it.
    ///   - progress: 0...1.
    package typealias Open =
        @Sendable (_ content: [UInt8], _ progress: @escaping @Sendable (Float) -> Void) async throws ->
        any InferenceEngine

    /// An order under way. Its fields are used on the reading thread only.
    private final class Running: @unchecked Sendable {
        var task: Task<Void, Never>?
        let control = ThinkingControl()
    }

    /// Does other work on a model's files.
    package typealias Work =
        @Sendable (_ content: [UInt8], _ progress: @escaping @Sendable (Float) -> Void) async throws -> [UInt8]

    private struct State {
        var engine: (any InferenceEngine)?
        var running: [UInt32: Running] = [:]
    }

    private let channel: FrameChannel
    private let logLevel: Log.Level?
    private let replies: MessageSender
    private let open: Open
    private let work: Work
    private let state = Locked(State())

    /// The bytes of replies that wait for the other side, before the engine waits too.
    private static let waitingReplies = 4 << 20
    /// The longest order: a conversation with its pictures.
    private static let longestOrder = 1 << 30
    /// The time between two looks at the calls into the model's own code.
    private static let pulseSeconds = 0.25

    /// - Parameter logLevel: the lowest level of entries of the log that the other side hears; `nil` for none.
    package init(
        _ channel: FrameChannel, logLevel: Log.Level? = nil, open: @escaping Open,
        work: @escaping Work = { _, _ in [] }
    ) {
        self.channel = channel
        self.logLevel = logLevel
        self.open = open
        self.work = work
        replies = MessageSender(channel, limit: Self.waitingReplies)
    }

    /// Serves on the calling thread until the channel ends or an unload was carried out.
    package func run() {
        replies.start(name: "hearth.replies")
        replies.send(EngineReply.hello(EngineReply.version).message())
        if let logLevel {
            let log: Log.Handler = { [replies] entry in
                let message = ([entry.message] + entry.fields.map(\.description)).joined(separator: " ")
                replies.send(EngineReply.log(entry.level, name: entry.name, message: message).message())
            }
            Log.use(log, threshold: logLevel)
        }
        startPulse()
        // A process that can no longer read its orders is of no use, for whatever reason.
        while let message = try? channel.receiveMessage(most: Self.longestOrder),
            let (order, number) = try? EngineOrder.read(message)
        {
            accept(order, number)
        }
        for running in state.withLock({ Array($0.running.values) }) { running.task?.cancel() }
        replies.close()
    }

    private func accept(_ order: EngineOrder, _ number: UInt32) {
        switch order {
        case .cancel: state.withLock { $0.running[number] }?.task?.cancel()
        case .answerNow: state.withLock { $0.running[number] }?.control.answerNow()
        default:
            let running = Running()
            state.withLock { $0.running[number] = running }
            running.task = Self.begin { [self] in
                let reply: EngineReply
                do {
                    reply = .done(try await perform(order, number, running.control))
                } catch {
                    reply = .failed(error)
                }
                state.withLock { $0.running[number] = nil }
                replies.send(reply.message(number))
            }
        }
    }

    /// Starts work on the calling thread, so that orders reach the engine in their order.
    private static func begin(_ body: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
        guard #available(macOS 26, iOS 26, tvOS 26, visionOS 26, *) else { return Task { await body() } }
        return Task.immediate { await body() }
    }

    private func perform(
        _ order: EngineOrder, _ number: UInt32, _ control: ThinkingControl
    ) async throws -> EngineReply.Answer {
        if case .open(let content) = order { return try await open(content, number) }
        if case .work(let content) = order { return .content(try await work(content, progress(of: number))) }
        guard let engine = state.withLock({ $0.engine }) else { throw LLMError(.modelNotLoaded, "no model is loaded") }
        let reader = engine.reader
        switch order {
        case .generate(let messages, var options):
            options.thinking.control = control
            return .summary(
                try await engine.generate(messages, options: options) { [replies] event in
                    replies.send(EngineReply.event(event, of: number), joining: EngineReply.eventsHead)
                })
        case .prepare(let messages, let options): try await reader.prepare(messages, options: options)
        case .embed(let texts): return .vectors(try await reader.embed(texts))
        case .rank(let query, let documents):
            return .vectors(try await reader.rank(query, documents).map { [$0] })
        case .tokenize(let text, let controlTokens, let wholePrompt, let limit):
            return .tokens(
                try await reader.tokenize(
                    text, controlTokens: controlTokens, wholePrompt: wholePrompt, limit: limit))
        case .count(let messages): return .count(try await reader.count(messages))
        case .pieces(let tokens): return .pieces(try await reader.pieces(of: tokens))
        case .rendered(let messages, let options):
            let rendered = try await reader.rendered(messages, options: options)
            return .rendered(rendered.text, rendered.tokenCount)
        case .unload: await reader.unload()
        case .forget: await reader.forget()
        case .open, .work, .cancel, .answerNow: break
        }
        return .done
    }

    private func open(_ content: [UInt8], _ number: UInt32) async throws -> EngineReply.Answer {
        let engine = try await open(content, progress(of: number))
        state.withLock { $0.engine = engine }
        return .opened(try await engine.modelInformation, try await engine.capabilities)
    }

    private func progress(of number: UInt32) -> @Sendable (Float) -> Void {
        { [replies] in replies.send(EngineReply.progress(min(max(0, $0), 1)).message(number)) }
    }

    /// Tells which calls into the model's own code take long, and that this process lives.
    private func startPulse() {
        Thread { [weak self] in
            ThreadName.current = "hearth.pulse"
            var beat = 0
            while true {
                Thread.sleep(forTimeInterval: Self.pulseSeconds)
                guard let self, !self.replies.isClosed else { return }
                let long = CallWatch.shared.calls.filter { $0.wallSeconds >= Self.pulseSeconds }
                beat += 1
                // Once a second while an order is under way, as a sign of life.
                let isBusy = self.state.withLock { !$0.running.isEmpty }
                if !long.isEmpty || isBusy && beat.isMultiple(of: 4) {
                    self.replies.send(EngineReply.pulse(long).message())
                }
            }
        }.start()
    }
}
