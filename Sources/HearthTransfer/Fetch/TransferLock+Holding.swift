import Foundation
import HearthBase

/// The process that works on a transfer.
package struct TransferHolder: Sendable, Hashable, CustomStringConvertible {
    /// The process's number in its system.
    package let process: Int32
    /// Whether it runs on this machine; another one may share the home folder through a network.
    package let isHere: Bool
    /// The reason why it waits: no network, or a metered one; `nil` while it works.
    package let hold: DownloadHold?

    init(process: Int32, isHere: Bool, hold: DownloadHold? = nil) {
        self.process = process
        self.isHere = isHere
        self.hold = hold
    }

    package var description: String { isHere ? "process \(process)" : "process \(process) of another machine" }
}

/// Holding a lock for as long as some work takes.
extension TransferLock {
    /// Runs `body` under the lock, renews the claim meanwhile, and releases the lock at the end.
    /// - Throws: the error of `body`; ``TransferError`` with `transfer-busy` when another machine has taken over.
    package func whileHeld<Result: Sendable>(
        _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        let outcome: Swift.Result<Result, any Error>
        do {
            outcome = .success(try await renewing(body))
        } catch {
            outcome = .failure(error)
        }
        await letGo()
        return try outcome.get()
    }

    /// Writes the holder's reason to wait into the claim, in the background.
    package func tell(_ hold: DownloadHold?) {
        guard note(hold) else { return }
        Task {
            do {
                _ = try await blocking { try self.renew() }
            } catch {
                Log.write(.info, "delivery.transfer", "the claim \(path) does not tell of \(hold as Any): \(error)")
            }
        }
    }

    private func renewing<Result: Sendable>(
        _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        try await withThrowingTaskGroup(of: Result?.self) { group in
            group.addTask { try await body() }
            group.addTask {
                do {
                    try await self.keepRenewing()
                } catch is CancellationError {
                    // The work has ended, or ends by the same cancellation.
                }
                return nil
            }
            defer { group.cancelAll() }
            while let result = try await group.next() {
                if let result { return result }
            }
            throw CancellationError()
        }
    }

    /// Renews the claim until the task is cancelled or the lock is lost.
    func keepRenewing() async throws {
        while true {
            try await time.sleep(for: Self.renewalInterval)
            do {
                if try await blocking({ try self.renew() }) { continue }
            } catch {
                Log.write(.warning, "delivery.transfer", "the claim \(path) was not renewed: \(error)")
                continue
            }
            throw TransferError(
                .busy, "another machine has taken over the transfer in \(path.parent)",
                context: ErrorContext(file: path.parent.string, remedy: "Try again later; received bytes are kept."),
                disposition: .tryLater)
        }
    }
}
