import Foundation
import HearthBase

/// Pausing, resuming, cancelling and restoring transfers, from any process.
extension TransferManager {
    /// The process that carries out a request.
    package enum Obeyed: Sendable, Hashable {
        /// This process, which runs the transfer.
        case here
        /// Another process, which runs it and looks within half a second.
        case elsewhere(TransferHolder)
        /// None: the request is written down for the next process that runs the transfer.
        case nobody
    }

    /// Pauses a transfer and keeps its bytes; its waiters keep waiting.
    /// - Throws: ``TransferError`` with `unknown-transfer`, `not-resumable` for one without a plan.
    package func pause(_ key: TransferKey) async throws -> Obeyed { try await setPaused(true, key) }

    /// Resumes a paused transfer. If no process runs it, the caller fetches it again: see ``TransferPlan/tag``.
    /// - Throws: as ``pause(_:)``.
    package func resume(_ key: TransferKey) async throws -> Obeyed { try await setPaused(false, key) }

    /// Ends a transfer and removes its bytes; its waiters get the error `cancelled`.
    /// - Throws: ``TransferError`` with `unknown-transfer`; ``TransferError`` with `transfer-busy` if the
    ///   process that runs it does not answer.
    package func cancel(_ key: TransferKey) async throws {
        let folder = try await known(key)
        if let transfer = queued[key], transfer.file == nil {
            transfer.stop(.cancelled)
            return await waitForEnd(of: transfer)
        }
        try await blocking { try folder.removePlan() }
        let stopwatch = time.stopwatch()
        while case .busy(let holder) = try await remove(folder) {
            guard stopwatch.elapsed < Self.cancelLimit else { throw TransferError.busy(key.name, holder: holder) }
            try await time.sleep(for: Self.cancelInterval)
        }
    }

    /// Stops every fetch of this process and keeps the received bytes; waiters get `CancellationError`. Returns when the
    /// bytes are recorded.
    package func stopAll() async {
        let running = queued.values.filter { $0.file == nil }
        for transfer in running {
            transfer.isEnding = true
            transfer.stop(.abandoned)
        }
        for transfer in running { await waitForEnd(of: transfer) }
    }

    /// Removes transfers that no process works on.
    /// - Parameters:
    ///   - onlyOrphans: whether only transfers without a readable plan are removed, cancelled ones included; if not,
    ///     paused and interrupted transfers too.
    ///   - isDryRun: removes nothing.
    /// - Returns: the transfers that are gone, or would be.
    /// - Throws: ``FileError``.
    package func clean(onlyOrphans: Bool, isDryRun: Bool = false) async throws -> [TransferSummary] {
        var removed: [TransferSummary] = []
        for summary in try await list() where queued[summary.key] == nil && !summary.state.isHeld {
            if onlyOrphans, case .orphaned = summary.state {} else if onlyOrphans { continue }
            if !isDryRun {
                let folder = TransferFolder(summary.key, in: folder, fileSystem: fileSystem)
                // A process may have begun to work on it meanwhile.
                guard try await remove(folder).isDone else { continue }
            }
            removed.append(summary)
        }
        return removed
    }

    /// Continues every transfer that was under way when its process ended. Paused and corrupted ones stay as they are.
    /// - Parameter bringBack: fetches again for a plan's tag. Called once for each tag, three at a time.
    /// - Returns: the plans, each with the error if it was not restored.
    /// - Throws: ``FileError`` if the transfers cannot be listed.
    package func restore(
        _ bringBack: @escaping @Sendable (TransferPlan) async throws -> Void
    ) async throws -> [(plan: TransferPlan, error: (any Error)?)] {
        var plans: [TransferPlan] = []
        for summary in try await list().continuable where queued[summary.key] == nil {
            guard let plan = summary.plan, let tag = plan.tag else { continue }
            if !plans.contains(where: { $0.tag == tag }) { plans.append(plan) }
        }
        return await withTaskGroup(of: (Int, (any Error)?).self) { group in
            var outcomes = [(any Error)?](repeating: nil, count: plans.count)
            for (index, plan) in plans.enumerated() {
                if index >= 3, let (done, error) = await group.next() { outcomes[done] = error }
                group.addTask {
                    do {
                        try await bringBack(plan)
                        return (index, nil)
                    } catch {
                        return (index, error)
                    }
                }
            }
            for await (done, error) in group { outcomes[done] = error }
            return zip(plans, outcomes).map { (plan: $0, error: $1) }
        }
    }

    private func setPaused(_ isPaused: Bool, _ key: TransferKey) async throws -> Obeyed {
        let folder = try await known(key)
        guard try await blocking({ try folder.setPaused(isPaused) }) else {
            throw TransferError(
                .notResumable, "the transfer \(key) has no readable plan",
                context: ErrorContext(file: key.name, remedy: "Cancel the transfer."))
        }
        if queued[key] != nil {
            follow(isPaused: isPaused, key)
            return .here
        }
        let holder = try await blocking { [fileSystem] in
            try TransferLock.holder(of: folder.path, fileSystem: fileSystem, now: Date())
        }
        return holder.map { .elsewhere($0) } ?? .nobody
    }

    private func known(_ key: TransferKey) async throws -> TransferFolder {
        let folder = TransferFolder(key, in: folder, fileSystem: fileSystem)
        guard try await blocking({ try folder.exists() }) else {
            throw TransferError(
                .unknownTransfer, "there is no transfer called \(key.name.quoted)",
                context: ErrorContext(remedy: "Name one of the transfers on this device."))
        }
        return folder
    }
}
