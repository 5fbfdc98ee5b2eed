import Foundation
import HearthBase
import HearthInference

/// An engine in a process of its own, which starts anew after its death.
package final class WorkerEngine: InferenceEngine, TokenReader {
    /// How a worker is started and what it opens.
    package struct Launch: Sendable {
        /// The model's name in errors.
        package var model: String
        /// What the worker opens, as ``EngineService/Open`` reads it.
        package var content: [UInt8]
        /// Starts the process.
        package var start: @Sendable () throws -> any WorkerHandle

        package init(model: String, content: [UInt8], start: @escaping @Sendable () throws -> any WorkerHandle) {
            (self.model, self.content, self.start) = (model, content, start)
        }
    }

    private struct Facts: Sendable {
        var information: ModelInformation
        var capabilities: EngineCapabilities
    }

    private struct State {
        var connection: WorkerConnection?
        var facts: Facts?
        var restart = RestartRule()
        var isUnloaded = false
    }

    private let launch: Launch
    private let time: TimeSource
    private let clock: Stopwatch
    private let rule: WatchRule
    private let state = Locked(State())
    /// Starts run one after the other.
    private let starts = TurnQueue()

    private init(_ launch: Launch, rule: WatchRule, time: TimeSource) {
        (self.launch, self.rule, self.time, clock) = (launch, rule, time, time.stopwatch())
    }

    /// Starts a worker and opens its engine.
    /// - Parameter progress: 0...1.
    /// - Throws: errors of the load; `engine-died`; `CancellationError`.
    package static func open(
        _ launch: Launch, time: TimeSource = .system, progress: @escaping @Sendable (Float) -> Void = { _ in }
    ) async throws -> WorkerEngine { try await open(launch, rule: WatchRule(), time: time, progress: progress) }

    static func open(
        _ launch: Launch, rule: WatchRule, time: TimeSource = .system,
        progress: @escaping @Sendable (Float) -> Void = { _ in }
    ) async throws -> WorkerEngine {
        let engine = WorkerEngine(launch, rule: rule, time: time)
        _ = try await engine.start(progress)
        return engine
    }

    deinit { state.withLock { $0.connection }?.dismiss() }

    /// The number of the worker's process; `nil` while there is none.
    package var process: Int32? { state.withLock { $0.connection }.flatMap { $0.isAlive ? $0.handle.process : nil } }

    // MARK: Life

    /// The living worker; starts one after a death.
    private func connection() async throws -> WorkerConnection {
        if let connection = state.withLock({ $0.connection }), connection.isAlive { return connection }
        return try await starts.turnUnlessCancelled { try await self.start { _ in } }
    }

    private func start(_ progress: @escaping @Sendable (Float) -> Void) async throws -> WorkerConnection {
        let (living, wait, isUnloaded) = state.withLock { state in
            (state.connection, state.restart.wait(at: clock.elapsed), state.isUnloaded)
        }
        if let living, living.isAlive { return living }
        guard !isUnloaded else { throw LLMError(.modelNotLoaded, "no model is loaded") }
        if wait > .zero { try await time.sleep(for: wait) }
        let handle = try await blocking { [launch] in try launch.start() }
        let connection = WorkerConnection(handle, model: launch.model, rule: rule, time: time) { [weak self] death in
            guard let self, death.isOwnDeath else { return }
            self.state.withLock { $0.restart.died(at: self.clock.elapsed) }
        }
        do {
            guard
                case .opened(let information, let capabilities) = try await connection.ask(
                    .open(launch.content), leavesAtOnce: false, onProgress: progress)
            else { throw WireError() }
            state.withLock { state in
                state.connection = connection
                state.facts = Facts(information: information, capabilities: capabilities)
            }
            return connection
        } catch {
            connection.dismiss()
            throw error is WireError ? Self.malformed(launch.model) : error
        }
    }

    package func unload() async {
        let connection = state.withLock { state in
            state.isUnloaded = true
            return state.connection
        }
        await connection?.end(within: .seconds(5))
    }

    // MARK: Engine

    package var modelInformation: ModelInformation { get async throws { try facts.information } }

    package var capabilities: EngineCapabilities { get async throws { try facts.capabilities } }

    /// Refuses a text that cannot fit before it is sent.
    private func check(_ messages: [ChatMessage], _ options: GenerationOptions) throws {
        let information = try facts.information
        // The engine counts the tokens of a text for which its window could grow.
        let reach = max(information.contextLength, information.trainedContextLength ?? 0)
        do {
            try TextLimit.check(messages, options, window: options.limited(reach))
        } catch {
            throw error.advised(
                window: information.contextLength, trained: information.trainedContextLength, limit: options.window)
        }
    }

    private var facts: Facts {
        get throws {
            let (facts, isUnloaded) = state.withLock { ($0.facts, $0.isUnloaded) }
            guard let facts, !isUnloaded else { throw LLMError(.modelNotLoaded, "no model is loaded") }
            return facts
        }
    }

    package func generate(
        _ messages: [ChatMessage], options: GenerationOptions,
        onEvent: @escaping @Sendable (GenerationEvent) -> Void
    ) async throws -> GenerationSummary {
        try check(messages, options)
        let connection = try await connection()
        // A token has few bytes; reports of tokens have many.
        let each = 1024 + 256 * min(options.tokenReports?.alternatives ?? 0, 1 << 10)
        let window = try facts.information.contextLength
        let reported = options.tokenReports?.includesPrompt == true ? window : 0
        let tokens = reported + min(max(0, options.maximumNewTokens), 2 * window)
        let answer = try await guarded(.generate(messages, options)) {
            try await connection.ask(
                .generate(messages, options), allowance: WorkerConnection.smallReply + each * tokens,
                limit: min(options.timeout, .seconds(1 << 31)) + .seconds(60), leavesAtOnce: false,
                control: options.thinking.control, onEvent: onEvent)
        }
        guard case .summary(let summary) = answer else { throw broken(connection) }
        return summary
    }

    package func prepare(_ messages: [ChatMessage], options: GenerationOptions) async throws {
        let connection = try await connection()
        _ = try await guarded(.generate(messages, options)) {
            try await connection.ask(.prepare(messages, options), leavesAtOnce: false)
        }
    }

    /// A worker that has died holds nothing.
    package func forget() async {
        guard let connection = state.withLock({ $0.connection }), connection.isAlive else { return }
        _ = try? await connection.ask(.forget)
    }

    package func embed(_ texts: [String]) async throws -> [[Float]] {
        let connection = try await connection()
        let length = try facts.information.embeddingLength
        let answer = try await guarded(.embed(texts)) {
            try await connection.ask(
                .embed(texts), allowance: WorkerConnection.smallReply + 4 * texts.count * (length + 1))
        }
        guard case .vectors(let vectors) = answer, vectors.count == texts.count,
            vectors.allSatisfy({ $0.count == length })
        else { throw broken(connection) }
        return vectors
    }

    package func rank(_ query: String, _ documents: [String]) async throws -> [Float] {
        let connection = try await connection()
        let order = EngineOrder.rank(query, documents)
        let answer = try await guarded(order) {
            try await connection.ask(order, allowance: WorkerConnection.smallReply + 16 * documents.count)
        }
        guard case .vectors(let scores) = answer, scores.count == documents.count,
            scores.allSatisfy({ $0.count == 1 && $0[0].isFinite })
        else { throw broken(connection) }
        return scores.map { $0[0] }
    }

    package func tokenize(
        _ text: String, controlTokens: Bool, wholePrompt: Bool, limit: Int?
    ) async throws -> [TokenID] {
        let order = EngineOrder.tokenize(text, controlTokens: controlTokens, wholePrompt: wholePrompt, limit: limit)
        let connection = try await connection()
        let answer = try await guarded(order) {
            try await connection.ask(order, allowance: WorkerConnection.smallReply + 8 * text.utf8.count)
        }
        guard case .tokens(let tokens) = answer else { throw broken(connection) }
        return tokens
    }

    package func count(_ messages: [ChatMessage]) async throws -> Int {
        let connection = try await connection()
        let answer = try await guarded(.count(messages)) { try await connection.ask(.count(messages)) }
        guard case .count(let count) = answer else { throw broken(connection) }
        return count
    }

    package func pieces(of tokens: [TokenID]) async throws -> [[UInt8]] {
        let connection = try await connection()
        let answer = try await guarded(.pieces(tokens)) {
            try await connection.ask(.pieces(tokens), allowance: WorkerConnection.smallReply + 1024 * tokens.count)
        }
        guard case .pieces(let pieces) = answer, pieces.count == tokens.count else { throw broken(connection) }
        return pieces
    }

    package func rendered(
        _ messages: [ChatMessage], options: GenerationOptions
    ) async throws -> (text: String, tokenCount: Int) {
        try check(messages, options)
        let connection = try await connection()
        let answer = try await guarded(.rendered(messages, options)) {
            try await connection.ask(.rendered(messages, options), allowance: WorkerConnection.largeReply)
        }
        guard case .rendered(let text, let count) = answer else { throw broken(connection) }
        return (text, count)
    }

    /// Refuses an order that has ended the worker twice.
    private func guarded(
        _ order: EngineOrder, _ ask: () async throws -> EngineReply.Answer
    ) async throws -> EngineReply.Answer {
        let refusal = state.withLock { state in
            state.restart.hasKilled ? state.restart.refuses(order.digest, at: clock.elapsed) : nil
        }
        if let refusal {
            throw LLMError(
                .engineDied, "this request ended the engine of \(launch.model) twice",
                context: ErrorContext(
                    model: launch.model, remedy: "Ask something else, or ask again later."),
                disposition: .tryLater
            ).retry(after: refusal)
        }
        do {
            return try await ask()
        } catch let error as LLMError where error.isOwnDeath {
            state.withLock { $0.restart.killed(order.digest, at: clock.elapsed) }
            throw error
        }
    }

    /// The error of an answer of another kind than asked for; the worker is ended.
    private func broken(_ connection: WorkerConnection) -> LLMError {
        connection.kill(.crashed("it sent what is no reply"))
        return Self.malformed(launch.model)
    }

    private static func malformed(_ model: String) -> LLMError {
        EngineDeath(.decode, .crashed("it sent what is no reply")).error(model)
    }
}

extension LLMError {
    fileprivate func retry(after wait: Duration) -> LLMError {
        var error = self
        error.context.retryAfterSeconds = wait.seconds
        return error
    }
}

extension EngineOrder {
    /// The digest of what is asked, which is the same when it is asked again.
    var digest: SHA256Digest {
        func nameless(_ messages: [ChatMessage]) -> [ChatMessage] {
            messages.map { message in
                var message = message
                message.id = ""
                return message
            }
        }
        let order: EngineOrder =
            switch self {
            case .generate(let messages, let options): .generate(nameless(messages), options)
            case .rendered(let messages, let options): .rendered(nameless(messages), options)
            case .count(let messages): .count(nameless(messages))
            default: self
            }
        return SHA256Digest(hashing: order.message(0))
    }
}
