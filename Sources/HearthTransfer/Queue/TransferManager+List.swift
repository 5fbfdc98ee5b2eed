import Foundation
import HearthBase

/// Listing transfers.
extension TransferManager {
    /// Every transfer of the home folder, of any process, in the order of their keys.
    ///
    /// Reads the folders; locks and changes nothing. A transfer with an unreadable plan is listed as orphaned.
    /// - Throws: ``FileError``.
    package func list() async throws -> [TransferSummary] {
        let folders = try await blocking { [folder, fileSystem] in
            try TransferFolder.all(in: folder, fileSystem: fileSystem).map {
                try Look(at: $0, fileSystem: fileSystem, now: Date())
            }
        }
        return folders.map { summary($0) }
    }

    /// The facts of a transfer that its folder shows.
    struct Look: Sendable {
        package let key: TransferKey
        package let plan: TransferFolder.FoundPlan
        package let bytes: TransferFolder.Bytes
        package let holder: TransferHolder?

        init(at folder: TransferFolder, fileSystem: any FileSystem, now: Date) throws {
            key = folder.key
            plan = try folder.plan()
            bytes = try folder.bytes(plan.plan)
            holder = try TransferLock.holder(of: folder.path, fileSystem: fileSystem, now: now)
        }

        /// The state of a transfer that this process does not run.
        package var state: TransferSummary.State {
            switch plan {
            case .plan(let plan):
                if let holder { return .held(plan.isPaused ? .waiting(.paused) : hold, by: holder) }
                if plan.isCorrupted == true { return .corrupted }
                return plan.isPaused ? .paused : isWhole ? .finished : .interrupted
            case .absent, .unreadable:
                if let holder { return .held(hold, by: holder) }
                guard case .unreadable(let problem) = plan else { return .orphaned(reason: "it has no plan") }
                return .orphaned(reason: "its plan cannot be read: \(problem)")
            }
        }

        /// The part of the state that the holder's lease tells.
        private var hold: TransferState? { holder?.hold.map { .waiting($0) } }

        private var isWhole: Bool { bytes.total.map { $0 > 0 && bytes.recorded == $0 } ?? false }
    }

    private func summary(_ look: Look) -> TransferSummary {
        var summary = TransferSummary(
            key: look.key, state: look.state, plan: look.plan.plan, recordedBytes: look.bytes.recorded,
            allocatedBytes: look.bytes.allocated, totalBytes: look.bytes.total,
            changed: look.bytes.changed ?? look.plan.plan?.created)
        guard let transfer = queued[look.key] else { return summary }
        let last = transfer.reporter.last
        if let last {
            // The received bytes are a little ahead of their record.
            summary.recordedBytes = max(summary.recordedBytes, last.presentBytes)
            summary.totalBytes = last.totalBytes ?? summary.totalBytes
        }
        var state = last?.state ?? .connecting
        if case .paused = transfer.stop { state = .waiting(.paused) }
        let hold = state.hold.flatMap { $0 == .paused ? nil : $0 }
        summary.state = .held(state, by: TransferHolder(process: getpid(), isHere: true, hold: hold))
        return summary
    }
}
