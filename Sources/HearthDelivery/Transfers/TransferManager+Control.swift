import Foundation
import HearthBase

/// What people ask of transfers, from whichever process.
extension TransferManager {
    /// Who does what was asked.
    public enum Obeyed: Sendable, Hashable {
        /// This process, which runs the transfer.
        case here
        /// Another process, which runs it and looks within half a second.
        case elsewhere(TransferHolder)
        /// Nobody runs it now: it is written down for whoever does next.
        case nobody
    }

    /// What is thrown away by ``clean(_:isDryRun:)``.
    public enum Cleaning: Sendable, Hashable {
        /// What nobody knows the purpose of, and what was cancelled.
        case orphans
        /// Everything nobody works on: paused and interrupted transfers as well.
        case everythingIdle
    }

    /// Stops a transfer and keeps its bytes; whoever waits for it waits on.
    /// - Throws: ``TransferControlError`` with `unknown-transfer`, `not-resumable` for one without a plan.
    public func pause(_ key: TransferKey) async throws -> Obeyed { try await wish(.paused, key) }

    /// Lets a paused transfer go on. Where nobody runs it, the caller has to: see ``TransferPlan/reference``.
    /// - Throws: as ``pause(_:)``.
    public func resume(_ key: TransferKey) async throws -> Obeyed { try await wish(.running, key) }

    /// Ends a transfer and throws its bytes away; whoever waits for it gets the error `cancelled`.
    /// - Throws: ``TransferControlError`` with `unknown-transfer`; ``TransferError`` with `transfer-busy` when the process
    ///   that runs it does not answer.
    public func cancel(_ key: TransferKey) async throws {
        let folder = try await known(key)
        if let flight = flights[key], flight.landed == nil {
            _ = try await blocking { try folder.wish(.cancelled) }
            heedHere(.cancelled, key)
            return await goodbye(to: flight)
        }
        let isWritten = try await blocking { try folder.wish(.cancelled) }
        let stopwatch = time.stopwatch()
        while case .busy(let holder) = try await remove(folder) {
            // Whoever runs a transfer without a plan cannot be told.
            guard isWritten, stopwatch.elapsed < Self.patience else {
                throw TransferError.busy(key.name, holder: holder)
            }
            try await time.sleep(for: Self.sampleInterval)
        }
    }

    /// Throws away what nobody works on.
    /// - Parameter isDryRun: only says what would go.
    /// - Returns: what is gone, or would be.
    /// - Throws: ``FileError``.
    public func clean(_ cleaning: Cleaning, isDryRun: Bool = false) async throws -> [TransferSummary] {
        var removed: [TransferSummary] = []
        for summary in try await list() where flights[summary.key] == nil && !summary.state.isHeld {
            if cleaning == .orphans, case .orphaned = summary.state {} else if cleaning == .orphans { continue }
            if !isDryRun {
                let folder = TransferFolder(summary.key, in: folder, fileSystem: fileSystem)
                // Somebody may have begun meanwhile.
                guard try await remove(folder).isDone else { continue }
            }
            removed.append(summary)
        }
        return removed
    }

    /// After a restart: brings back every transfer that was under way when its process ended, and throws away those that
    /// were cancelled and not yet gone. Paused ones stay as they are.
    /// - Parameter bringBack: pulls what a plan refers to, as ``ModelManager/pull(_:options:progress:)-(ModelReference,_,_)``
    ///   does. Called once for each reference, three at a time.
    /// - Returns: what was brought back, and the error of what was not.
    /// - Throws: ``FileError`` where the transfers cannot be listed.
    public func restore(
        _ bringBack: @escaping @Sendable (TransferPlan) async throws -> Void
    ) async throws -> [(plan: TransferPlan, error: (any Error)?)] {
        var plans: [TransferPlan] = []
        for summary in try await list() where flights[summary.key] == nil {
            switch summary.state {
            case .interrupted, .finished:
                guard let plan = summary.plan, let reference = plan.reference else { continue }
                if !plans.contains(where: { $0.reference == reference }) { plans.append(plan) }
            case .orphaned where summary.plan?.wish == .cancelled:
                _ = try await remove(TransferFolder(summary.key, in: folder, fileSystem: fileSystem))
            default: continue
            }
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

    private func wish(_ wish: TransferPlan.Wish, _ key: TransferKey) async throws -> Obeyed {
        let folder = try await known(key)
        guard try await blocking({ try folder.wish(wish) }) else {
            throw TransferControlError(
                .notResumable, "nobody knows what the transfer \(key) is for",
                context: ErrorContext(file: key.name, remedy: "Remove it with `hearth transfers cancel \(key)`."))
        }
        if flights[key] != nil {
            heedHere(wish, key)
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
            throw TransferControlError(
                .unknownTransfer, "there is no transfer called \(key.name.quoted)",
                context: ErrorContext(remedy: "See what there is with `hearth transfers list`."))
        }
        return folder
    }
}
