import Foundation
import HearthBase

/// The life of one transfer of this process.
extension TransferManager {
    /// From the first look at its folder to the answer for everybody who asked.
    func fly(_ key: TransferKey, _ plan: TransferPlan) async {
        guard let flight = flights[key] else { return }
        let outcome: Result<TransferredFile, any Error>
        do {
            let lock = try await begin(flight, plan)
            watch(flight)
            outcome = .success(try await bring(flight, under: lock))
        } catch {
            outcome = .failure(error)
        }
        flight.watching?.cancel()
        let askers = flight.askers.values
        flight.askers = [:]
        switch outcome {
        case .success(let file) where !askers.isEmpty:
            flight.download.take(.received)
            flight.download.take(.verified(file.path))
            flight.landed = file
            flight.holders = askers.count
        case .success, .failure:
            if case .failure(let error) = outcome, let failure = error as? any HearthFailure {
                flight.download.take(.failed(DownloadFailure(failure)))
            }
            flight.isEnding = true
            await land(flight)
        }
        changes.signal()
        for asker in askers { asker.resume(with: outcome) }
    }

    /// Ends a flight: from now on the file can be asked for anew.
    func land(_ flight: TransferFlight) async {
        flight.renewing?.cancel()
        await flight.lock?.letGo()
        if flights[flight.key] === flight { flights[flight.key] = nil }
        let farewells = flight.farewells
        flight.farewells = []
        for farewell in farewells { farewell.resume() }
        changes.signal()
    }

    /// Takes the folder and writes down what it is for. It stays this flight's until the flight lands: also while nothing
    /// is fetched, and while the file is being installed.
    private func begin(_ flight: TransferFlight, _ plan: TransferPlan) async throws -> TransferLock {
        let folder = flight.folder
        guard let lock = try await TransferLock.acquire(folder.path, fileSystem: fileSystem) else {
            throw await busy(flight.folder, plan.label)
        }
        flight.lock = lock
        flight.renewing = Task { [key = flight.key] in
            do {
                try await lock.keepRenewing()
            } catch let loss as TransferError {
                self.lose(key, loss)
            } catch {}  // cancelled with the flight
        }
        try await blocking { try folder.begin(plan) }
        return lock
    }

    /// Another machine took this one for dead and works in the folder now.
    private func lose(_ key: TransferKey, _ loss: TransferError) {
        guard let flight = flights[key], flight.landed == nil else { return }
        flight.loss = loss
        flight.carryOut(flight.download.take(.cancelledBySystem(DownloadFailure(loss))))
    }

    /// Fetches until the file is whole; stands still while it is paused.
    private func bring(_ flight: TransferFlight, under lock: TransferLock) async throws -> TransferredFile {
        while true {
            switch flight.download.state {
            case .waiting: await standStill(flight)
            case .idle:
                await discard(flight)
                throw Self.cancelled(flight.request.label)
            case .failed:
                if let loss = flight.loss { throw loss }
                throw CancellationError()  // nobody waits for it any more
            default:
                guard let file = try await fetchOnce(flight, under: lock) else { continue }
                // What came too late to stop the last byte still counts.
                switch flight.download.state {
                case .idle, .failed: continue
                case .waiting:
                    flight.download.take(.release)
                    return file
                default: return file
                }
            }
        }
    }

    /// The file; `nil` if it was stopped: then the state says by whom.
    private func fetchOnce(_ flight: TransferFlight, under lock: TransferLock) async throws -> TransferredFile? {
        let task = Task { [transfer, request = flight.request, board = flight.board] in
            try await transfer.fetch(request, under: lock) { reading in
                board.post(reading)
                lock.tell(reading.phase == .waiting ? reading.hold : nil)
            }
        }
        flight.fetching = task
        defer {
            flight.fetching = nil
            lock.tell(nil)
        }
        do {
            return try await task.value
        } catch is CancellationError where task.isCancelled {
            return nil
        }
    }

    /// Nothing is fetched until somebody wants otherwise.
    private func standStill(_ flight: TransferFlight) async {
        flight.board.post(.paused, total: flight.request.size.exact)
        await withCheckedContinuation { flight.wakeUp = $0 }
    }

    /// Takes the bytes of a flight away; nothing writes to them any more.
    func discard(_ flight: TransferFlight) async {
        let folder = flight.folder
        do {
            try await blocking { try folder.remove() }
        } catch {
            Log.write(.warning, "delivery.transfer", "\(folder.path) stays: \(error)")
        }
    }

    /// How an attempt to remove a folder ended.
    enum Removal: Sendable {
        case gone
        /// Somebody works in it.
        case busy(TransferHolder?)

        var isDone: Bool { if case .gone = self { true } else { false } }
    }

    /// Removes a folder if nobody works in it.
    func remove(_ folder: TransferFolder) async throws -> Removal {
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

    // MARK: - What people want

    /// Looks every half second whether people want the transfer otherwise.
    private func watch(_ flight: TransferFlight) {
        let folder = flight.folder
        let key = flight.key
        flight.watching = Task { [time] in
            var seen: FileIdentity?
            while !Task.isCancelled {
                do {
                    let before = seen
                    let (mark, plan) = try await blocking {
                        let mark = try folder.planMark()
                        return (mark, mark == before ? nil : try folder.plan().plan)
                    }
                    seen = mark
                    if let plan { self.heed(plan.wish, key) }
                    try await time.sleep(for: Self.watchInterval)
                } catch is CancellationError {
                    return
                } catch {
                    Log.write(.info, "delivery.transfer", "\(folder.path): \(error)")
                    do { try await time.sleep(for: Self.watchInterval) } catch { return }
                }
            }
        }
    }

    private func heed(_ wish: TransferPlan.Wish, _ key: TransferKey) {
        guard let flight = flights[key], flight.landed == nil else { return }
        let before = flight.download.state
        switch wish {
        case .running: flight.carryOut(flight.download.take(.release))
        case .paused:
            if case .waiting = flight.download.state { return }
            flight.carryOut(flight.download.take(.hold(.paused)))
        case .cancelled: flight.carryOut(flight.download.take(.cancelledByUser))
        }
        if flight.download.state != before { changes.signal() }
    }

    /// Does in this process what people want of a transfer that it runs.
    func heedHere(_ wish: TransferPlan.Wish, _ key: TransferKey) { heed(wish, key) }

    // MARK: - Sentences

    private func busy(_ folder: TransferFolder, _ label: String) async -> TransferError {
        // The name of whoever holds it only makes the sentence better.
        let holder = try? await blocking { [fileSystem] in
            try TransferLock.holder(of: folder.path, fileSystem: fileSystem, now: Date())
        }
        return TransferError.busy(label, holder: holder)
    }

    private static func cancelled(_ label: String) -> TransferControlError {
        TransferControlError(
            .cancelled, "the transfer of \(label) was cancelled, and what had come of it is removed",
            context: ErrorContext(file: label), disposition: .interrupted)
    }
}

extension HearthError where Domain == TransferErrorDomain {
    /// Somebody else fetches the file; names the process where it is known.
    static func busy(_ label: String, holder: TransferHolder?) -> Self {
        Self(
            .busy, "\(holder?.description ?? "another process") is fetching \(label)",
            context: ErrorContext(
                file: label, found: holder.map { "\($0)" },
                remedy: "Wait for it, or end it: `hearth transfers list` shows its key."),
            disposition: .tryLater)
    }
}
