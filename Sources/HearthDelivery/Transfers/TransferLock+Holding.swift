import Foundation
import HearthBase

/// Who works on a transfer.
public struct TransferHolder: Sendable, Hashable, CustomStringConvertible {
    /// The number of the process.
    public let process: Int32
    /// Whether it is a process of this machine; another may share the home folder through a network.
    public let isHere: Bool
    /// What it waits for: the network, or one that is not metered; `nil` while it works.
    public let hold: DownloadHold?

    init(process: Int32, isHere: Bool, hold: DownloadHold? = nil) {
        self.process = process
        self.isHere = isHere
        self.hold = hold
    }

    public var description: String { isHere ? "process \(process)" : "process \(process) of another machine" }
}

/// Holding a lock for as long as some work takes.
extension TransferLock {
    /// Runs `body` under the lock, renews the lease meanwhile, and lets go at the end.
    /// - Throws: what `body` throws; ``TransferError`` with `transfer-busy` when another machine has taken over.
    public func whileHeld<Result: Sendable>(
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

    /// Has others told what the holder waits for, soon.
    func tell(_ hold: DownloadHold?) {
        guard note(hold) else { return }
        Task {
            do {
                _ = try await blocking { try self.renew() }
            } catch {
                Log.write(.info, "delivery.transfer", "the lease \(path) does not tell of \(hold as Any): \(error)")
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
                    // The work has ended, or ends by itself: it heeds the same cancellation.
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

    /// Ends by cancellation, or when the lock is lost.
    func keepRenewing() async throws {
        while true {
            try await time.sleep(for: Self.renewalInterval)
            do {
                if try await blocking({ try self.renew() }) { continue }
            } catch {
                Log.write(.warning, "delivery.transfer", "the lease \(path) was not renewed: \(error)")
                continue
            }
            throw TransferError(
                .busy, "another machine has taken over the transfer in \(path.parent)",
                context: ErrorContext(file: path.parent.string, remedy: "Try again later; received bytes are kept."),
                disposition: .tryLater)
        }
    }
}
