import Foundation
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthTransfer

/// Downloads that outlive the app: unfinished ones are left to the system when the app leaves the front, and installed
/// when it is back.
///
/// While the app is in front, models are pulled as usual. The system writes no model: it brings bytes beside those that
/// the pull has, and the next pull checks and installs them.
///
/// ```swift
/// let downloads = BackgroundDownloads(hearth.manager)
/// await downloads.start()                 // at launch
/// try await downloads.handOver()          // when the scene becomes inactive
/// await downloads.finish()                // when it is active again
/// ```
/// Make one for each home, at each launch, also at one in the background.
public actor BackgroundDownloads {
    /// What the session of the system reports, in the order of the reports.
    private let reports: AsyncStream<PieceReport>
    let manager: ModelManager
    let session: any OutsideSession
    let fileSystem: any FileSystem
    private let identifier: String
    private let headers: @Sendable (URL) -> [String: String]
    let provider: (any DownloadURLProvider)?
    /// One event at a time is decided and carried out.
    private let turns = TurnQueue()
    private var state: BackgroundTransfer
    /// Held while the system has orders for a file, so that no process fetches the same bytes.
    private var locks: [SHA256Digest: (lock: TransferLock, renewing: Task<Void, Never>)] = [:]
    private var reading: Task<Void, Never>?
    /// Whether the events of a launch in the background were reported, until they are carried out.
    private var isDelivered = false
    private var watchers: [UUID: AsyncStream<Void>.Continuation] = [:]

    /// Downloads over a session that is played in tests.
    package init(
        _ manager: ModelManager, identifier: String, provider: (any DownloadURLProvider)? = nil,
        headers: @escaping @Sendable (URL) -> [String: String] = { _ in [:] }, limits: PieceLimits = PieceLimits(),
        session: @Sendable (Landing, @escaping @Sendable (PieceReport) -> Void) -> any OutsideSession
    ) {
        let (reports, source) = AsyncStream.makeStream(of: PieceReport.self)
        self.reports = reports
        self.manager = manager
        self.identifier = identifier
        self.provider = provider
        self.headers = headers
        fileSystem = manager.transfers.fileSystem
        state = BackgroundTransfer(launch: [UInt8].random(8).hexadecimal, limits: limits)
        let landing = Landing(transfers: manager.transfers.folder, fileSystem: fileSystem)
        self.session = session(landing) { source.yield($0) }
    }

    deinit {
        reading?.cancel()
        for (lock, renewing) in locks.values {
            renewing.cancel()
            lock.release()
        }
    }

    /// Compares what the system has with the disk: pieces that it brought are taken over, and bytes that it has lost are
    /// ordered anew. Call it at launch, and when the app is in front again.
    public func start() async {
        if reading == nil {
            reading = Task { [weak self, reports] in
                await self?.takeInLeftOvers()
                for await report in reports { await self?.take(report) }
            }
        }
        await take(.ask)
        await answered()
    }

    /// Waits until everything that the system reports at a launch in the background is carried out: pieces lie in the
    /// home, and interrupted tasks go on. Then the app's delegate calls the system's completion handler.
    /// - Parameter identifier: the session of `application(_:handleEventsForBackgroundURLSession:completionHandler:)`.
    /// - Returns: `false`, at once, for a session of another part of the app.
    @discardableResult
    public func handleEvents(forSession identifier: String) async -> Bool {
        guard identifier == self.identifier else { return false }
        await start()
        await wait { $0.isDelivered && !$0.state.isAsking }
        isDelivered = false
        return true
    }

    /// Waits until the system has no order any more.
    public func landed() async { await wait { $0.state.isSettled && $0.state.files.isEmpty } }

    /// Waits for the system's reply to the questions for its tasks.
    private func answered() async { await wait { !$0.state.isAsking } }

    /// The files that the system has orders for.
    var outside: Set<SHA256Digest> { Set(state.files.keys) }

    /// The bytes of a file that are here or have arrived at the system; `nil` for a file that it has no order for.
    func completedBytes(of digest: SHA256Digest) -> UInt64? { state.completedBytes(of: digest) }

    // MARK: - Events

    private func take(_ report: PieceReport) async {
        switch report {
        case .tasks(let orders): await inTurn { await $0.compare(orders) }
        case .delivered: isDelivered = true
        case .progress, .landed, .failed: await take(.report(report))
        }
        notifyWatchers()
    }

    private nonisolated func inTurn<Result: Sendable>(
        _ body: @Sendable (isolated BackgroundDownloads) async throws -> Result
    ) async rethrows -> Result {
        try await turns.turn { try await body(self) }
    }

    /// Decides about an event and carries the decision out.
    func take(_ event: BackgroundTransfer.Event) async {
        await inTurn { await $0.perform($0.state.take(event)) }
        notifyWatchers()
    }

    /// Leaves a file to the system, unless another process works on it.
    func offer(_ digest: SHA256Digest, size: UInt64, address: URL, _ plan: TransferPlan) async throws {
        guard let folder = folder(digest) else { return }
        try await inTurn { this in
            guard this.state.files[digest] == nil, try await this.lock(folder, digest) else { return }
            let held = try await blocking {
                try folder.begin(plan)
                return try folder.held(of: digest) ?? RangeSet()
            }
            let file = BackgroundTransfer.File(size: size, address: address, held: held)
            await this.perform(this.state.take(.offer(digest, file)))
        }
        notifyWatchers()
    }

    /// Compares the system's tasks with the disk. Nothing is ordered or cancelled if that cannot be read, as before the
    /// first unlock after a restart.
    private func compare(_ orders: [PieceOrder]) async {
        let wanted = Set(orders.map(\.digest)).union(state.files.keys)
        do {
            var disk: [SHA256Digest: RangeSet<UInt64>] = [:]
            for digest in wanted {
                guard let folder = folder(digest) else { continue }
                disk[digest] = try await blocking { try folder.held(of: digest) }
                if disk[digest] != nil { _ = try await lock(folder, digest) }
            }
            await perform(state.take(.compare(orders, disk: disk)))
        } catch {
            Log.write(.warning, "background", "the home cannot be read now", [.error(error)])
            await perform(state.take(.unreadable))
        }
    }

    private func perform(_ effects: [BackgroundTransfer.Effect]) async {
        var effects = effects[...]
        while let effect = effects.popFirst() {
            switch effect {
            case .begin(let order, let data):
                session.begin(order, headers: headers(order.address), resumeData: data)
            case .cancel(let order): session.cancel(order)
            case .list: session.list()
            case .takeIn(let digest, let size):
                do {
                    effects += state.take(.found(digest, try await takeIn(digest, size)))
                } catch {
                    // The pieces stay where they are, and are taken in later.
                    Log.write(.warning, "background", "a piece waits beside its file", [.error(error)])
                }
            case .release(let digest): unlock(digest)
            }
        }
    }

    // MARK: - The disk

    func folder(_ digest: SHA256Digest) -> TransferFolder? {
        TransferFolder(digest, in: manager.transfers.folder, fileSystem: fileSystem)
    }

    /// Takes the lock of a transfer; `false` if another process or a pull of this one works on it. Without the file's
    /// `flock`, for which the system would end a suspended app.
    private func lock(_ folder: TransferFolder, _ digest: SHA256Digest) async throws -> Bool {
        if locks[digest] != nil { return true }
        let taken = try await blocking { [fileSystem] in
            try TransferLock.tryAcquire(folder.path, fileSystem: fileSystem, basis: .claimOnly)
        }
        guard let taken else { return false }
        let renewing = Task { [weak self] in
            do {
                try await taken.keepRenewing()
            } catch is CancellationError {
            } catch {
                Log.write(.info, "background", "pieces stay beside their file", [.error(error)])
                await self?.unlock(digest)
            }
        }
        locks[digest] = (taken, renewing)
        return true
    }

    private func unlock(_ digest: SHA256Digest) {
        guard let (lock, renewing) = locks.removeValue(forKey: digest) else { return }
        renewing.cancel()
        lock.release()
    }

    /// Takes pieces into the part file, unless another process works on it; then they stay beside it.
    /// - Returns: the bytes on the disk; `nil` for a removed transfer.
    private func takeIn(_ digest: SHA256Digest, _ size: UInt64) async throws -> RangeSet<UInt64>? {
        guard let folder = folder(digest) else { return nil }
        let wasLocked = locks[digest] != nil
        guard try await blocking({ try folder.plan().plan != nil }) else { return nil }
        let isLocked = try await lock(folder, digest)
        defer { if !wasLocked { unlock(digest) } }
        return try await blocking {
            if isLocked { try folder.takeInLanded(of: digest, size: size) }
            return try folder.held(of: digest)
        }
    }

    /// Takes in what an earlier launch left beside its files.
    private func takeInLeftOvers() async {
        do {
            let found = try await manager.transfers.list().compactMap(\.plan)
            for plan in found {
                guard let digest = plan.digest, let size = plan.size else { continue }
                _ = try await inTurn { try await $0.takeIn(digest, size) }
            }
        } catch {
            Log.write(.warning, "background", "pieces wait beside their files", [.error(error)])
        }
    }

    // MARK: - Waiting

    private func notifyWatchers() {
        for watcher in watchers.values { watcher.yield() }
    }

    /// Waits for a condition, or for the end of the caller's task.
    private func wait(until isMet: (isolated BackgroundDownloads) -> Bool) async {
        let (changes, watcher) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let key = UUID()
        watchers[key] = watcher
        defer { watchers[key] = nil }
        watcher.yield()
        for await _ in changes where isMet(self) { return }
    }
}
