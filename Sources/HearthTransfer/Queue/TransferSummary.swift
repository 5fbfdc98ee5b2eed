import Foundation
import HearthBase

/// One transfer as listings show it.
package struct TransferSummary: Sendable, Hashable {
    /// The work on a transfer, or the reason why there is none.
    package enum State: Sendable, Hashable {
        /// A process works on it, or waits to continue. The state is `nil` where another process does not tell it.
        case held(TransferState?, by: TransferHolder)
        /// A person paused it, and its process has ended.
        case paused
        /// Its process ended; the next pull continues after the bytes that are here.
        case interrupted
        /// Every byte is here, and it was never installed.
        case finished
        /// The last attempt brought wrong bytes, which were removed. It goes on when a person asks for the file again.
        case corrupted
        /// Its plan is missing or unreadable.
        case orphaned(reason: String)

        /// The stable word for it, which programs read.
        package var word: String {
            switch self {
            case .held(.waiting(.paused), _), .paused: "paused"
            case .held(.waiting, _): "waiting"
            case .held: "running"
            case .interrupted: "interrupted"
            case .finished: "finished"
            case .corrupted: "corrupted"
            case .orphaned: "orphaned"
            }
        }

        /// Whether a process works on it, or waits to continue.
        package var isHeld: Bool { if case .held = self { true } else { false } }
    }

    package var key: TransferKey
    package var state: State
    /// Its plan, `nil` if it cannot be read.
    package var plan: TransferPlan?
    /// The bytes that need not be fetched again.
    package var recordedBytes: UInt64
    /// The space on the disk that removing it frees.
    package var allocatedBytes: UInt64
    /// The length of the file, `nil` while it is unknown.
    package var totalBytes: UInt64?
    /// The last change of its files, or the moment it was begun.
    package var changed: Date?

    /// The file's name, or the key of a transfer without one.
    package var label: String { plan?.label ?? key.name }
}

extension [TransferSummary] {
    /// The transfers that an ended process left and that go on without a person: not those of a purpose for which another
    /// file brought wrong bytes.
    package var continuable: Self {
        let refused = Set(filter { $0.state == .corrupted }.compactMap { $0.plan?.tag })
        return filter { summary in
            guard [.interrupted, .finished].contains(summary.state) else { return false }
            return !(summary.plan?.tag.map(refused.contains) ?? false)
        }
    }
}
