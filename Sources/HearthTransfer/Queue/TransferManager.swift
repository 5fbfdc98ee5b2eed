import Foundation
import HearthBase

/// The transfers of one home folder. A long-lived process runs them, so that they outlive the command that began them.
///
/// There is one transfer for each digest: a second request for the same file joins it and gets its progress and its
/// result. The transfer stops when the last waiter leaves, and its bytes stay. To pause, resume or cancel a transfer,
/// any process writes that into the transfer's folder; the process that runs it looks there every half second.
///
/// ```swift
/// let manager = TransferManager(transfer: transfer, folder: folder, fileSystem: disk)
/// let file = try await manager.fetch(request, tag: "…") { print($0.fraction ?? 0) }
/// // … install it …
/// await manager.release(request, discarding: true)
/// ```
package actor TransferManager {
    /// How often a running transfer looks at its plan.
    static let watchInterval = Duration.milliseconds(500)
    /// How long a cancellation waits for the process that runs the transfer.
    package static let cancelLimit = Duration.seconds(5)
    /// The largest file whose bytes may stay off the disk until it is installed: the piece of a large one.
    private static let smallFile: UInt64 = 8 << 20
    /// The most bytes of such files: as many as a power cut costs of a large file.
    private static let unsyncedLimit: UInt64 = 64 << 20
    /// How often a cancellation looks whether that process has ended the transfer.
    static let cancelInterval = Duration.milliseconds(100)

    package let transfer: FileTransfer
    package nonisolated let folder: Path
    package nonisolated let fileSystem: any FileSystem
    package nonisolated let time: TimeSource
    package var queued: [TransferKey: QueuedTransfer] = [:]
    private var lastWaiter: UInt64 = 0

    /// A manager of the transfers below `folder`.
    /// - Parameters:
    ///   - transfer: fetches into the same folder.
    ///   - folder: the home's `transfers` folder.
    ///   - fileSystem: the disk.
    ///   - time: for looking at plans and for dates.
    package init(transfer: FileTransfer, folder: Path, fileSystem: any FileSystem, time: TimeSource = .system) {
        self.transfer = transfer
        self.folder = folder
        self.fileSystem = fileSystem
        self.time = time
    }

    // MARK: - Asking for a file

    /// Fetches a file, or joins the transfer that fetches it. Call ``release(_:discarding:)`` once the file is used.
    ///
    /// Cancelling leaves the transfer; the last waiter that leaves stops it and returns when its bytes are recorded.
    /// - Parameters:
    ///   - request: a caller that joins a transfer takes over its locations and its limit.
    ///   - tag: the caller's own note of the file's purpose, without secrets, kept in the transfer's plan.
    ///   - fetcher: fetches for this caller if it begins the transfer, such as with its own token; `nil` for the manager's.
    ///   - progress: at most ten readings a second, on any thread; `completedBytes` never goes down.
    /// - Throws: the errors of ``FileTransfer/fetch(_:progress:)``; ``TransferError`` with `cancelled`.
    package func fetch(
        _ request: TransferRequest, tag: String? = nil, with fetcher: FileTransfer? = nil,
        progress: @escaping @Sendable (TransferProgress) -> Void = { _ in }
    ) async throws -> TransferredFile {
        let key = try TransferKey(request)
        while let leaving = queued[key], leaving.isEnding { await waitForEnd(of: leaving) }
        try Task.checkCancellation()
        let transfer = queued[key] ?? start(key, request, tag, fetcher ?? self.transfer)
        lastWaiter += 1
        let waiter = lastWaiter
        transfer.reporter.add(waiter, progress)
        if let file = transfer.file {
            transfer.reporter.remove(waiter)
            transfer.users += 1
            return file
        }
        return try await withTaskCancellationHandler {
            // Names `self`, so that the closure runs on the actor.
            try await withCheckedThrowingContinuation { queued[key]?.waiters[waiter] = $0 }
        } onCancel: {
            Task { await self.leave(key, waiter) }
        }
    }

    /// Ends the use of a file that ``fetch(_:tag:progress:)`` returned. The transfer ends with its last user.
    /// - Parameter discarding: the file was installed: its folder is removed.
    package func release(_ request: TransferRequest, discarding: Bool) async {
        // A request without a key never had a transfer.
        guard let key = try? TransferKey(request), let transfer = queued[key], transfer.file != nil else { return }
        transfer.isDiscarded = transfer.isDiscarded || discarding
        transfer.users -= 1
        guard transfer.users <= 0, !transfer.isEnding else { return }
        transfer.isEnding = true
        if transfer.isDiscarded { await discard(transfer, isSynced: transfer.request.isSynced) }
        await finish(transfer)
    }

    /// Removes the bytes that an earlier process left of a file, unless a process works on it.
    /// - Parameter isUnwanted: decides by the transfer's plan; `nil` removes it in any case.
    package func sweep(_ request: TransferRequest, where isUnwanted: (@Sendable (TransferPlan) -> Bool)? = nil) async {
        // A request without a key never had a folder.
        guard let key = try? TransferKey(request), queued[key] == nil else { return }
        let found = TransferFolder(key, in: folder, fileSystem: fileSystem)
        do {
            let isLeft = try await blocking {
                guard let isUnwanted else { return try found.exists() }
                return try found.plan().plan.map(isUnwanted) ?? false
            }
            if isLeft { _ = try await remove(found) }
        } catch {
            Log.write(.info, "\(found.path) stays: \(error)")
        }
    }

    /// Waits for the end of a transfer that no caller can join any more.
    func waitForEnd(of transfer: QueuedTransfer) async {
        guard queued[transfer.key] === transfer else { return }
        await withCheckedContinuation { transfer.endWaiters.append($0) }
    }

    private func start(
        _ key: TransferKey, _ request: TransferRequest, _ tag: String?, _ fetcher: FileTransfer
    ) -> QueuedTransfer {
        var request = request
        request.isSynced = Self.isSynced(request, beside: queued.values.map(\.request))
        let transfer = QueuedTransfer(
            key: key, request: request, fetcher: fetcher,
            folder: TransferFolder(key, in: folder, fileSystem: fileSystem))
        queued[key] = transfer
        let plan = TransferPlan(request, tag: tag, at: time.now)
        Task { await self.run(key, plan) }
        return transfer
    }

    /// Whether the bytes and records of a file are brought to the disk as they come. For a small file, that takes longer
    /// than fetching it again after a power cut, of which its digest tells.
    static func isSynced(_ request: TransferRequest, beside others: [TransferRequest]) -> Bool {
        guard let size = request.size.exact, size <= smallFile, request.digest != nil || request.gitBlob != nil
        else { return true }
        return (others.filter { !$0.isSynced }.map(\.size.estimate) + [size]).saturatedSum > unsyncedLimit
    }

    private func leave(_ key: TransferKey, _ waiter: UInt64) {
        guard let transfer = queued[key], transfer.waiters[waiter] != nil else { return }
        transfer.reporter.remove(waiter)
        guard transfer.waiters.count == 1 else {
            transfer.waiters.removeValue(forKey: waiter)?.resume(throwing: CancellationError())
            return
        }
        // The last waiter is resumed when the bytes are recorded: its process may end right after.
        transfer.isEnding = true
        transfer.stop(.abandoned)
    }
}
