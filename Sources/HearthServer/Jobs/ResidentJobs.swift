import Foundation
import Hearth
import HearthBase

/// A pull that the resident process carries out for another process. It goes on when its client leaves.
package final class ResidentJob: Sendable {
    /// The kinds of jobs.
    package enum Kind: String, Sendable {
        case pull
        /// Unfinished transfers of earlier processes go on.
        case restore
        /// The saved models are loaded.
        case open
        /// Newer releases of the models in use are looked for.
        case update
    }

    package let id: String
    package let kind: Kind
    /// The reference of the model that is pulled.
    package let model: String?
    package let started: Date
    /// The events for the client as lines of JSON.
    let events: AsyncStream<[UInt8]>
    private let sink: AsyncStream<[UInt8]>.Continuation

    init(_ kind: Kind, _ model: String?, started: Date) {
        id = String(Claim.newToken().prefix(12))
        self.kind = kind
        self.model = model
        self.started = started
        // A client whose terminal is stopped loses the oldest readings.
        (events, sink) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1024))
    }

    func emit(_ event: PullEvent) { sink.yield(event.line) }

    fileprivate func end() { sink.finish() }

    /// The job for listings.
    var facts: JSONValue {
        var facts: JSONMembers = [
            "id": .string(id), "kind": .string(kind.rawValue), "started": .string(started.formatted(.iso8601)),
        ]
        facts["model"] = model.map { .string($0) }
        return .object(facts)
    }
}

/// The jobs of the resident process.
package final class ResidentJobs: Sendable {
    private struct State {
        var jobs: [String: (job: ResidentJob, task: Task<Void, Never>?)] = [:]
        var isEnding = false
    }

    /// The most jobs at once.
    private static let limit = 64

    private let state = Locked(State())
    private let time: TimeSource

    package init(time: TimeSource) { self.time = time }

    /// The running jobs, oldest first.
    package var running: [ResidentJob] {
        state.withLock { $0.jobs.values.map(\.job) }.sorted { ($0.started, $0.id) < ($1.started, $1.id) }
    }

    /// Starts a job; `nil` if too many run or the process ends.
    package func start(
        _ kind: ResidentJob.Kind, _ model: String? = nil, _ body: @escaping @Sendable (ResidentJob) async -> Void
    ) -> ResidentJob? {
        let job = ResidentJob(kind, model, started: time.now)
        let isAccepted = state.withLock { state in
            guard !state.isEnding, state.jobs.count < Self.limit else { return false }
            state.jobs[job.id] = (job, nil)
            return true
        }
        guard isAccepted else { return nil }
        let task = Task {
            await body(job)
            job.end()
            state.withLock { _ = $0.jobs.removeValue(forKey: job.id) }
        }
        let isEnding = state.withLock { state in
            state.jobs[job.id]?.task = task
            return state.isEnding
        }
        if isEnding { task.cancel() }
        return job
    }

    /// Ends a job; its bytes are kept.
    /// - Returns: whether it runs.
    package func cancel(_ id: String) -> Bool {
        guard let found = state.withLock({ $0.jobs[id] }) else { return false }
        found.task?.cancel()
        return true
    }

    /// Ends all jobs and waits for them: received bytes are recorded.
    package func end() async {
        let tasks = state.withLock { state in
            state.isEnding = true
            return state.jobs.values.compactMap(\.task)
        }
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
    }
}
