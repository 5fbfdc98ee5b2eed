import HearthBase

/// One transfer of this process and its waiters. Only its ``TransferManager`` touches it.
package final class QueuedTransfer {
    /// The reason why nothing is fetched now.
    package enum Stop {
        /// A person paused it; it can continue.
        case paused
        /// A person cancelled it: its bytes are removed.
        case cancelled
        /// The last waiter left: its bytes stay.
        case abandoned
        /// Another machine took the lock over and works in the folder.
        case lost(TransferError)
    }

    package let key: TransferKey
    package let request: TransferRequest
    /// Fetches the bytes: that of the caller who began it.
    let fetcher: FileTransfer
    package let folder: TransferFolder
    /// Reports the progress to the waiters, across pauses.
    package let reporter: ProgressReporter
    /// `nil` while it fetches.
    package private(set) var stop: Stop?
    /// The callers that wait for the file.
    package var waiters: [UInt64: CheckedContinuation<TransferredFile, any Error>] = [:]
    /// The number of callers that received the file and still use it.
    var users = 0
    /// The file, once it is whole.
    package var file: TransferredFile?
    /// Set when one of its users no longer needs the bytes in the folder.
    var isDiscarded = false
    /// Set when it ends: no caller can join any more.
    package var isEnding = false
    /// Fetches, while it runs.
    package var fetching: Task<TransferredFile, any Error>?
    /// Watches the plan for requests of other processes, while it runs.
    package var watching: Task<Void, Never>?
    /// Held from the start to the finish.
    package var lock: TransferLock?
    /// Renews the lock's lease, while it runs.
    package var renewing: Task<Void, Never>?
    /// Resumed when a paused transfer continues or ends.
    package var pause: CheckedContinuation<Void, Never>?
    /// Resumed when it has finished.
    var endWaiters: [CheckedContinuation<Void, Never>] = []

    init(key: TransferKey, request: TransferRequest, fetcher: FileTransfer, folder: TransferFolder) {
        self.key = key
        self.request = request
        self.fetcher = fetcher
        self.folder = folder
        reporter = fetcher.reporter()
    }

    /// Stops fetching. A cancellation replaces a pause or the leaving of the last waiter; nothing replaces a lost lock.
    package func stop(_ reason: Stop) {
        switch (stop, reason) {
        case (nil, _), (.paused, .cancelled), (.paused, .abandoned), (.paused, .lost), (.abandoned, .cancelled): break
        default: return
        }
        stop = reason
        fetching?.cancel()
        endPause()
    }

    /// Lets a paused transfer continue.
    package func resume() {
        guard case .paused = stop else { return }
        stop = nil
        endPause()
    }

    private func endPause() {
        pause?.resume()
        pause = nil
    }
}
