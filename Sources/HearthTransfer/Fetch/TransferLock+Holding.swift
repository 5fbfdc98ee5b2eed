import Foundation
import HearthBase

/// The process that works on a transfer.
package struct TransferHolder: Sendable, Hashable, CustomStringConvertible {
    /// The process's number in its system.
    package let process: Int32
    /// Whether it runs on this machine; another one may share the home folder through a network.
    package let isHere: Bool
    /// The reason why it waits: no network, or a metered one; `nil` while it works.
    package internal(set) var hold: DownloadHold?

    package var description: String { isHere ? "process \(process)" : "process \(process) of another machine" }
}

/// Renewing a lock for as long as some work takes.
extension TransferLock {
    /// Writes the holder's reason to wait into the claim, in the background.
    package func tell(_ hold: DownloadHold?) {
        guard note(hold) else { return }
        Task {
            do {
                _ = try await blocking { try self.renew() }
            } catch {
                Log.write(.info, "the claim \(path) does not tell of \(hold as Any): \(error)")
            }
        }
    }

    /// Renews the claim until the task is cancelled or the lock is lost.
    package func keepRenewing() async throws {
        while true {
            try await time.sleep(for: Self.renewalInterval)
            do {
                if try await blocking({ try self.renew() }) { continue }
            } catch {
                Log.write(.warning, "the claim \(path) was not renewed: \(error)")
                continue
            }
            throw TransferError(
                .busy, "another machine has taken over the transfer in \(path.parent)",
                context: ErrorContext(file: path.parent.string, remedy: "Try again later; received bytes are kept."),
                disposition: .tryLater)
        }
    }
}
