import Foundation
import HearthBase

/// Running one transfer of this process.
extension TransferManager {
    /// Runs a transfer from locking its folder to resuming its waiters.
    package func run(_ key: TransferKey, _ plan: TransferPlan) async {
        guard let transfer = queued[key] else { return }
        let outcome: Result<TransferredFile, any Error>
        do {
            let lock = try await begin(transfer, plan)
            watch(transfer)
            outcome = .success(try await fetchThroughPauses(transfer, under: lock))
        } catch {
            outcome = .failure(error)
            if (error as? TransferError)?.code == .checksumMismatch { await setCorrupted(transfer.folder) }
        }
        transfer.watching?.cancel()
        let waiters = transfer.waiters.values
        transfer.waiters = [:]
        switch outcome {
        case .success(let file) where !waiters.isEmpty:
            transfer.file = file
            transfer.users = waiters.count
        case .success, .failure:
            transfer.isEnding = true
            await finish(transfer)
        }
        for waiter in waiters { waiter.resume(with: outcome) }
    }

    /// Ends a transfer and releases its lock: from now on the file can be requested anew.
    package func finish(_ transfer: QueuedTransfer) async {
        transfer.renewing?.cancel()
        await transfer.lock?.end()
        if queued[transfer.key] === transfer { queued[transfer.key] = nil }
        let endWaiters = transfer.endWaiters
        transfer.endWaiters = []
        for waiter in endWaiters { waiter.resume() }
    }

    /// Locks the folder and writes the plan. The lock is held until the transfer finishes: also while it is paused and
    /// while the file is being installed.
    private func begin(_ transfer: QueuedTransfer, _ plan: TransferPlan) async throws -> TransferLock {
        let folder = transfer.folder
        let isSynced = transfer.request.isSynced
        guard let lock = try await TransferLock.acquire(folder.path, fileSystem: fileSystem, isSynced: isSynced) else {
            // The name of the holder only improves the sentence.
            let holder = try? await blocking { [fileSystem] in
                try TransferLock.holder(of: folder.path, fileSystem: fileSystem, now: Date())
            }
            throw TransferError.busy(plan.label, holder: holder)
        }
        transfer.lock = lock
        transfer.renewing = Task { [key = transfer.key] in
            do {
                try await lock.keepRenewing()
            } catch let loss as TransferError {
                self.stop(key, .lost(loss))
            } catch {}  // cancelled with the transfer
        }
        try await blocking { try folder.begin(plan, isSynced: isSynced) }
        return lock
    }

    /// Stops a transfer whose file has not arrived.
    private func stop(_ key: TransferKey, _ reason: QueuedTransfer.Stop) {
        guard let transfer = queued[key], transfer.file == nil else { return }
        transfer.stop(reason)
    }

    /// Fetches until the file is whole; waits while it is paused.
    private func fetchThroughPauses(_ transfer: QueuedTransfer, under lock: TransferLock) async throws
        -> TransferredFile
    {
        while true {
            switch transfer.stop {
            case nil:
                guard let file = try await fetchUntilStopped(transfer, under: lock) else { continue }
                // A pause that came after the last byte changes nothing.
                switch transfer.stop {
                case nil, .paused: return file
                case .cancelled, .abandoned, .lost: continue
                }
            case .paused:
                let held = try await blocking { [fetcher = transfer.fetcher, request = transfer.request] in
                    try fetcher.recordedBytes(of: request)
                }
                transfer.reporter.report(.waiting(.paused), holding: held, of: transfer.request.size.exact)
                // It may have been resumed or cancelled meanwhile.
                guard case .paused = transfer.stop else { continue }
                await withCheckedContinuation { transfer.pause = $0 }
            case .cancelled:
                await discard(transfer, isSynced: true)
                throw Self.cancelled(transfer.request.label)
            case .abandoned: throw CancellationError()
            case .lost(let loss): throw loss
            }
        }
    }

    /// Fetches the file; returns `nil` if the transfer was stopped.
    private func fetchUntilStopped(_ queued: QueuedTransfer, under lock: TransferLock) async throws -> TransferredFile?
    {
        let task = Task { [fetcher = queued.fetcher, request = queued.request, reporter = queued.reporter] in
            try await fetcher.fetch(request, under: lock, reporter)
        }
        queued.fetching = task
        defer {
            queued.fetching = nil
            lock.tell(nil)
        }
        do {
            return try await task.value
        } catch is CancellationError where task.isCancelled {
            return nil
        }
    }

    /// Records that a file brought wrong bytes in its last attempt.
    private func setCorrupted(_ folder: TransferFolder) async {
        do {
            try await blocking { try folder.setCorrupted() }
        } catch {
            Log.write(.warning, "\(folder.path) does not record its wrong bytes: \(error)")
        }
    }

    /// Whether the last attempt to fetch a file brought wrong bytes.
    /// - Throws: ``FileError``.
    package func isCorrupted(_ request: TransferRequest) async throws -> Bool {
        // A request without a key has no transfer.
        guard let key = try? TransferKey(request), queued[key] == nil else { return false }
        let folder = TransferFolder(key, in: folder, fileSystem: fileSystem)
        return try await blocking { try folder.plan().plan?.isCorrupted == true }
    }

    /// Removes the folder of a transfer; nothing writes to it any more.
    /// - Parameter isSynced: whether a power cut must not bring the transfer back.
    package func discard(_ transfer: QueuedTransfer, isSynced: Bool) async {
        let folder = transfer.folder
        do {
            try await blocking { try folder.remove(isSynced: isSynced) }
        } catch {
            Log.write(.warning, "\(folder.path) stays: \(error)")
        }
    }

    /// How an attempt to remove a folder ended.
    package enum Removal: Sendable {
        case gone
        /// A process works in it.
        case busy(TransferHolder?)

        package var isDone: Bool { if case .gone = self { true } else { false } }
    }

    /// Removes a folder if no process works in it.
    package func remove(_ folder: TransferFolder) async throws -> Removal {
        try await blocking { [fileSystem] in
            guard try folder.exists() else { return .gone }
            guard let lock = try TransferLock.tryAcquire(folder.path, fileSystem: fileSystem) else {
                return .busy(try TransferLock.holder(of: folder.path, fileSystem: fileSystem, now: Date()))
            }
            defer { lock.release() }
            try folder.remove()
            return .gone
        }
    }

    // MARK: - Requests of people

    /// Looks every half second whether the plan was changed or removed.
    private func watch(_ transfer: QueuedTransfer) {
        let folder = transfer.folder
        let key = transfer.key
        transfer.watching = Task { [time] in
            var seen: FileIdentity?
            while !Task.isCancelled {
                do {
                    try await time.sleep(for: Self.watchInterval)
                    let before = seen
                    let (mark, plan) = try await blocking {
                        let mark = try folder.planMark()
                        return (mark, mark == before ? nil : try folder.plan().plan)
                    }
                    seen = mark
                    if mark == nil { self.stop(key, .cancelled) }
                    if let plan { self.follow(isPaused: plan.isPaused, key) }
                } catch is CancellationError {
                    return
                } catch {
                    Log.write(.info, "\(folder.path): \(error)")
                }
            }
        }
    }

    /// Pauses or resumes a transfer of this process as its plan says.
    package func follow(isPaused: Bool, _ key: TransferKey) {
        guard let transfer = queued[key], transfer.file == nil else { return }
        if isPaused { transfer.stop(.paused) } else { transfer.resume() }
    }

    // MARK: - Sentences

    private static func cancelled(_ label: String) -> TransferError {
        TransferError(
            .cancelled, "the transfer of \(label) was cancelled, and its bytes are removed",
            context: ErrorContext(
                file: label, remedy: "Another command or an app asked for that; pull the model again to fetch it anew.")
        )
    }
}

extension HearthError where Domain == TransferState {
    /// Another process fetches the file; names it if it is known.
    static func busy(_ label: String, holder: TransferHolder?) -> Self {
        Self(
            .busy, "\(holder?.description ?? "another process") is fetching \(label)",
            context: ErrorContext(
                file: label, field: "transfer", found: holder.map { "\($0)" },
                remedy: "Wait for it, or cancel that transfer."),
            disposition: .tryLater)
    }
}
