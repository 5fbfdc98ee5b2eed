import Foundation
import HearthBase

/// What there is, and watching it.
extension TransferManager {
    /// Every transfer of the home folder, whoever runs it, in the order of their keys.
    ///
    /// Looks at the folders; nothing is locked and nothing changed, and what cannot be read is listed as orphaned.
    /// - Throws: ``FileError``.
    public func list() async throws -> [TransferSummary] {
        let folders = try await blocking { [folder, fileSystem] in
            try TransferFolder.all(in: folder, fileSystem: fileSystem).map {
                try Look(at: $0, fileSystem: fileSystem, now: Date())
            }
        }
        return folders.map { summary($0) }
    }

    /// The list, and then a new one whenever something changes in this process, at most ten a second. Ends with its
    /// consumer.
    public nonisolated func states() -> AsyncStream<[TransferSummary]> {
        let changes = changes.stream()
        let (stream, continuation) = AsyncStream.makeStream(
            of: [TransferSummary].self, bufferingPolicy: .bufferingNewest(1))
        let task = Task { [weak self, time] in
            var shown: [TransferSummary]?
            for await _ in changes {
                do {
                    guard let list = try await self?.list() else { break }
                    if list != shown { continuation.yield(list) }
                    shown = list
                    try await time.sleep(for: Self.sampleInterval)
                } catch is CancellationError {
                    break
                } catch {
                    Log.write(.warning, "delivery.transfer", "the transfers cannot be listed: \(error)")
                }
            }
            continuation.finish()
        }
        continuation.onTermination = { _ in task.cancel() }
        return stream
    }

    /// What one look at a folder shows.
    struct Look: Sendable {
        let key: TransferKey
        let plan: TransferFolder.FoundPlan
        let bytes: TransferFolder.Bytes
        let holder: TransferHolder?

        init(at folder: TransferFolder, fileSystem: any FileSystem, now: Date) throws {
            key = folder.key
            plan = try folder.plan()
            bytes = try folder.bytes(plan.plan)
            holder = try TransferLock.holder(of: folder.path, fileSystem: fileSystem, now: now)
        }

        /// How a transfer stands that this process does not run.
        var state: TransferSummary.State {
            switch plan {
            case .plan(let plan):
                switch (plan.wish, holder) {
                case (.paused, let holder): return .paused(by: holder)
                case (_, let holder?): return .runningElsewhere(holder).orWaiting
                case (.cancelled, nil): return .orphaned(reason: "it was cancelled")
                case (.running, nil): return isWhole ? .finished : .interrupted
                }
            case .absent, .unreadable:
                if let holder { return .runningElsewhere(holder).orWaiting }
                guard case .unreadable(let problem) = plan else { return .orphaned(reason: "it has no plan") }
                return .orphaned(reason: "its plan cannot be read: \(problem)")
            }
        }

        private var isWhole: Bool { bytes.total.map { $0 > 0 && bytes.recorded == $0 } ?? false }
    }

    private func summary(_ look: Look) -> TransferSummary {
        var summary = TransferSummary(
            key: look.key, state: look.state, plan: look.plan.plan, recordedBytes: look.bytes.recorded,
            allocatedBytes: look.bytes.allocated, totalBytes: look.bytes.total,
            changed: look.bytes.changed ?? look.plan.plan?.created)
        guard let flight = flights[look.key] else { return summary }
        if let last = flight.board.last {
            flight.download.take(.progress(last.fraction))
            // What has come is a little ahead of its record.
            summary.recordedBytes = max(summary.recordedBytes, last.completedBytes)
            summary.totalBytes = last.totalBytes ?? summary.totalBytes
        }
        let state = flight.download.state
        // The network is waited for below the flight, which runs on.
        let hold = flight.board.last.flatMap { $0.phase == .waiting ? $0.hold : nil }
        let this = TransferHolder(process: getpid(), isHere: true, hold: hold)
        switch (state, hold) {
        case (.waiting(.paused), _): summary.state = .paused(by: this)
        case (.waiting(let hold), _), (.downloading, let hold?): summary.state = .waiting(hold, by: this)
        default: summary.state = .running(state)
        }
        return summary
    }
}

extension TransferSummary.State {
    /// Waiting, where its holder says so.
    fileprivate var orWaiting: Self {
        if case .runningElsewhere(let holder) = self, let hold = holder.hold { return .waiting(hold, by: holder) }
        return self
    }
}
