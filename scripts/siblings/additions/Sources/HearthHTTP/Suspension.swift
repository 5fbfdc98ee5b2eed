// The suspension of tasks, which FoundationNetworking has not: its own call ends the process. It is recorded here instead.
import Foundation
import FoundationNetworking
import HearthBase

extension URLSessionTask {
    /// The number of suspensions by the task's identifier and session.
    static let suspensions = Locked<[ObjectIdentifier: Int]>([:])

    func suspend() { Self.suspensions.withLock { $0[ObjectIdentifier(self), default: 0] += 1 } }
}
