import Foundation
import HearthBase

/// The transfers of one home folder: what a process that stays owns, so that transfers outlive the command that began them.
///
/// One transfer for each digest: who asks for a file that is under way joins, with its progress and its end. The first to
/// leave does not stop it, the last one does, and the bytes stay. People pause, resume and cancel a transfer from any
/// process: what they want is written into its folder, and whoever runs it looks there every half second.
///
/// ```swift
/// let manager = TransferManager(transfer: transfer, folder: folder, fileSystem: disk)
/// let file = try await manager.fetch(request, for: purpose) { print($0.fraction ?? 0) }
/// // … install it …
/// await manager.letGo(request, discarding: true)
/// ```
public actor TransferManager {
    /// How often a running transfer looks whether people want it otherwise.
    static let watchInterval = Duration.milliseconds(500)
    /// How long somebody who cancels waits for the process that runs the transfer.
    static let patience = Duration.seconds(5)
    /// Observers get at most ten lists a second.
    static let sampleInterval = Duration.milliseconds(100)

    let transfer: FileTransfer
    nonisolated let folder: Path
    nonisolated let fileSystem: any FileSystem
    nonisolated let time: TimeSource
    var flights: [TransferKey: TransferFlight] = [:]
    let changes = ChangeSignal()
    private var nextAsker: UInt64 = 0

    /// A manager of the transfers below `folder`.
    /// - Parameters:
    ///   - transfer: fetches into the same folder.
    ///   - folder: the home's `transfers` folder.
    ///   - fileSystem: the disk.
    ///   - time: for looking at people's wishes and for dates.
    public init(transfer: FileTransfer, folder: Path, fileSystem: any FileSystem, time: TimeSource = .system) {
        self.transfer = transfer
        self.folder = folder
        self.fileSystem = fileSystem
        self.time = time
    }

    // MARK: - Asking for a file

    /// Brings a file over, or joins the transfer that does already. Call ``letGo(_:discarding:)`` once the file is taken.
    ///
    /// Cancelling leaves the transfer; the last one to leave stops it and returns when its bytes are recorded.
    /// - Parameters:
    ///   - request: who joins a transfer takes over its locations and its limit.
    ///   - purpose: what it is for, so that it can be asked for again after this process.
    ///   - progress: at most ten readings a second, on any thread; `completedBytes` never goes down.
    /// - Throws: what ``FileTransfer/fetch(_:progress:)`` throws; ``TransferControlError`` with `cancelled`.
    public func fetch(
        _ request: TransferRequest, for purpose: TransferPurpose? = nil,
        progress: @escaping @Sendable (TransferProgress) -> Void = { _ in }
    ) async throws -> TransferredFile {
        let key = try TransferKey(request)
        while let leaving = flights[key], leaving.isEnding { await goodbye(to: leaving) }
        try Task.checkCancellation()
        let flight = flights[key] ?? takeOff(key, request, purpose)
        nextAsker += 1
        let asker = nextAsker
        flight.board.add(asker, progress)
        if let file = flight.landed {
            flight.board.remove(asker)
            flight.holders += 1
            return file
        }
        return try await withTaskCancellationHandler {
            // Through `self`: a closure that does not name the actor runs anywhere, beside the actor's own work.
            try await withCheckedThrowingContinuation { flights[key]?.askers[asker] = $0 }
        } onCancel: {
            Task { await self.leave(key, asker) }
        }
    }

    /// Tells that somebody who got a file needs it no more. With the last one the transfer ends.
    /// - Parameter discarding: the file was installed: what is left of it in its folder goes.
    public func letGo(_ request: TransferRequest, discarding: Bool) async {
        // A request without a key never had a flight.
        guard let key = try? TransferKey(request), let flight = flights[key], flight.landed != nil else { return }
        flight.isUnwanted = flight.isUnwanted || discarding
        flight.holders -= 1
        guard flight.holders <= 0, !flight.isEnding else { return }
        flight.isEnding = true
        if flight.isUnwanted { await discard(flight) }
        await land(flight)
    }

    /// Takes away what an earlier process left of a file that is installed, unless somebody works on it.
    func sweep(_ request: TransferRequest) async {
        // A request without a key never had a folder.
        guard let key = try? TransferKey(request), flights[key] == nil else { return }
        let folder = TransferFolder(key, in: folder, fileSystem: fileSystem)
        do {
            guard try await blocking({ try folder.exists() }) else { return }
            _ = try await remove(folder)
        } catch {
            Log.write(.info, "delivery.transfer", "\(folder.path) stays: \(error)")
        }
    }

    /// The same for a release that nobody brings over by itself any more: one that was paused, or whose version was named, somebody may
    /// still want, and so may another release.
    func sweep(_ request: TransferRequest, ofUnnamed release: ReleaseIdentity) async {
        // A request without a key never had a folder.
        guard let key = try? TransferKey(request) else { return }
        let found = TransferFolder(key, in: folder, fileSystem: fileSystem)
        do {
            guard let plan = try await blocking({ try found.plan().plan }), plan.release == release, !plan.isNamed,
                plan.wish != .paused
            else { return }
        } catch {
            return Log.write(.info, "delivery.transfer", "\(found.path) stays: \(error)")
        }
        await sweep(request)
    }

    /// Waits for the end of a transfer that nobody can join any more.
    func goodbye(to flight: TransferFlight) async {
        guard flights[flight.key] === flight else { return }
        await withCheckedContinuation { flight.farewells.append($0) }
    }

    private func takeOff(_ key: TransferKey, _ request: TransferRequest, _ purpose: TransferPurpose?) -> TransferFlight
    {
        let flight = TransferFlight(
            key: key, request: request, folder: TransferFolder(key, in: folder, fileSystem: fileSystem),
            board: ProgressBoard(changed: { [changes] in changes.signal() }))
        flights[key] = flight
        flight.download.take(.start)
        let plan = TransferPlan(request, for: purpose, at: time.now)
        Task { await self.fly(flight.key, plan) }
        changes.signal()
        return flight
    }

    private func leave(_ key: TransferKey, _ asker: UInt64) {
        guard let flight = flights[key], flight.askers[asker] != nil else { return }
        flight.board.remove(asker)
        guard flight.askers.count == 1 else {
            flight.askers.removeValue(forKey: asker)?.resume(throwing: CancellationError())
            return
        }
        // The last one out waits until what has arrived is recorded: its process may end right after.
        flight.isEnding = true
        let failure = DownloadFailure(code: "interrupted", message: "nobody waits for it any more")
        flight.carryOut(flight.download.take(.cancelledBySystem(failure)))
    }
}

/// Wakes whoever observes, as often as something changes; changes while nobody looks count once.
final class ChangeSignal: Sendable {
    private let observers = Locked<[UInt64: AsyncStream<Void>.Continuation]>([:])
    private let next = Locked<UInt64>(0)

    deinit {
        for observer in observers.withLock({ Array($0.values) }) { observer.finish() }
    }

    /// Something has changed.
    func signal() {
        for observer in observers.withLock({ Array($0.values) }) { observer.yield() }
    }

    /// A stream that begins with a change.
    func stream() -> AsyncStream<Void> {
        let id = next.withLock { next in
            next += 1
            return next
        }
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        observers.withLock { $0[id] = continuation }
        continuation.onTermination = { [weak self] _ in self?.observers.withLock { _ = $0.removeValue(forKey: id) } }
        continuation.yield()
        return stream
    }
}
