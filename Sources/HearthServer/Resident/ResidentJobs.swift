import Foundation
import HearthBase

/// A command that the resident process runs for a command line, such as a pull. It goes on when its client leaves.
package final class ResidentJob: Sendable {
    /// The streams of the client.
    package enum Stream: String, Sendable { case output = "out", errors = "err" }

    private struct State {
        var cancel: (@Sendable () -> Void)?
        var isCancelled = false
        var result: Int32?
    }

    package let id: String
    /// The words of the command line.
    package let words: [String]
    package let started: Date
    /// The events for the client, one JSON object each: `{"out":"…"}`, `{"err":"…"}`, `{"input":true}`, `{"end":0}`.
    package let events: AsyncStream<[UInt8]>
    /// The lines that the client's user types.
    package let input: AsyncStream<String>
    private let eventSink: AsyncStream<[UInt8]>.Continuation
    private let inputSink: AsyncStream<String>.Continuation
    private let state = Locked(State())

    init(id: String, words: [String], started: Date) {
        self.id = id
        self.words = words
        self.started = started
        // A client whose terminal is stopped loses the oldest pieces of text.
        (events, eventSink) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(8192))
        (input, inputSink) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(64))
    }

    /// Sends text to one of the client's streams.
    package func write(_ text: String, to stream: Stream) { emit([stream.rawValue: .string(text)]) }

    /// Asks the client for a line of input.
    package func askForInput() { emit(["input": .boolean(true)]) }

    /// Takes a line from the client; `nil` for the end of its input.
    package func takeInput(_ line: String?) {
        if let line { inputSink.yield(line) } else { inputSink.finish() }
    }

    /// Sets what ends the job.
    package func onCancel(_ cancel: @escaping @Sendable () -> Void) {
        let isCancelled = state.withLock { state in
            state.cancel = cancel
            return state.isCancelled
        }
        if isCancelled { cancel() }
    }

    /// Ends the job, as an interrupt of its command line would.
    package func cancel() {
        let cancel = state.withLock { state in
            state.isCancelled = true
            return state.cancel
        }
        inputSink.finish()
        cancel?()
    }

    /// Records the exit status.
    func end(_ status: Int32) {
        state.withLock { $0.result = status }
        emit(["end": .integer(status)])
        eventSink.finish()
        inputSink.finish()
    }

    private func emit(_ event: [String: JSONValue]) {
        let line = JSONValue.object(event).text.replacing("\n  ", with: " ").replacing("\n", with: " ")
        eventSink.yield(Array("\(line)\n".utf8))
    }
}

/// The jobs of the resident process.
package final class ResidentJobs: Sendable {
    private struct State {
        var jobs: [String: ResidentJob] = [:]
        var tasks: [String: Task<Void, Never>] = [:]
        var isEnding = false
    }

    /// The most jobs at once.
    private static let limit = 64

    private let state = Locked(State())
    private let time: TimeSource

    package init(time: TimeSource) { self.time = time }

    /// The running jobs, oldest first.
    package var running: [ResidentJob] {
        state.withLock { Array($0.jobs.values) }.sorted { ($0.started, $0.id) < ($1.started, $1.id) }
    }

    package subscript(_ id: String) -> ResidentJob? { state.withLock { $0.jobs[id] } }

    /// Starts a job; `nil` if too many run or the process ends.
    package func start(
        _ words: [String], _ body: @escaping @Sendable (ResidentJob) async -> Int32
    ) -> ResidentJob? {
        let job = ResidentJob(id: String(Claim.newToken().prefix(12)), words: words, started: time.now)
        let isAccepted = state.withLock { state in
            guard !state.isEnding, state.jobs.count < Self.limit else { return false }
            state.jobs[job.id] = job
            return true
        }
        guard isAccepted else { return nil }
        let task = Task {
            let status = await body(job)
            job.end(status)
            state.withLock { state in
                state.jobs[job.id] = nil
                state.tasks[job.id] = nil
            }
        }
        state.withLock { state in if state.jobs[job.id] != nil { state.tasks[job.id] = task } }
        return job
    }

    /// Ends all jobs and waits for them: received bytes are recorded.
    package func end() async {
        let (jobs, tasks) = state.withLock { state in
            state.isEnding = true
            return (Array(state.jobs.values), Array(state.tasks.values))
        }
        for job in jobs { job.cancel() }
        for task in tasks { await task.value }
    }
}
