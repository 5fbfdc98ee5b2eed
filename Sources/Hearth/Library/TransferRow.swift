import Foundation
import HearthBase
import HearthDelivery
import HearthTransfer

/// A transfer of any process of a home, for programs. Absent values are `null`.
package struct TransferRow: Codable, Sendable, Hashable {
    package let key: String
    @OrNull package var file: String?
    @OrNull package var family: String?
    @OrNull package var version: String?
    @OrNull package var variant: String?
    package let state: String
    /// The process that runs the transfer.
    @OrNull package var process: Int32?
    /// The bytes already on the disk, which are not fetched again.
    package let receivedBytes: UInt64
    @OrNull package var totalBytes: UInt64?
    /// The bytes it occupies on the disk.
    package let diskBytes: UInt64
    @OrNull package var changed: Date?
    /// Why it is orphaned, or what it waits for.
    @OrNull package var reason: String?

    package init(_ summary: TransferSummary) {
        key = summary.key.name
        file = summary.plan?.label
        family = summary.release?.family.name
        version = summary.release?.version.name
        variant = summary.release?.variant?.name
        state = summary.state.word
        process = summary.state.holder?.process
        receivedBytes = summary.recordedBytes
        totalBytes = summary.totalBytes
        diskBytes = summary.allocatedBytes
        changed = summary.changed
        reason = summary.state.reason
    }
}

extension TransferSummary.State {
    /// The process that runs the transfer.
    package var holder: TransferHolder? { if case .held(_, let holder) = self { holder } else { nil } }

    /// The reason for the state, if there is more to say than its word.
    package var reason: String? {
        switch self {
        case .orphaned(let reason): reason
        case .held(let state, _): state?.hold.flatMap { $0 == .paused ? nil : $0.message }
        case .corrupted: "its bytes did not match their checksum"
        case .paused, .interrupted, .finished: nil
        }
    }
}
