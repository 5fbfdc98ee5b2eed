import Foundation
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthStore
import HearthTransfer

/// A transfer in `hearth transfers list --format json`; absent values are `null`.
struct TransferEntry: Encodable, Sendable {
    let key: String
    @OrNull var file: String?
    @OrNull var family: String?
    @OrNull var version: String?
    @OrNull var variant: String?
    let state: String
    /// The process that runs the transfer.
    @OrNull var process: Int32?
    /// The bytes already on the disk, which are not fetched again.
    let receivedBytes: UInt64
    @OrNull var totalBytes: UInt64?
    /// The bytes it occupies on the disk.
    let diskBytes: UInt64
    @OrNull var changed: Date?
    /// Why it is orphaned, or what it waits for.
    @OrNull var reason: String?

    init(_ summary: TransferSummary) {
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
    var holder: TransferHolder? { if case .held(_, let holder) = self { holder } else { nil } }

    /// The reason for the state, if there is more to say than its word.
    var reason: String? {
        switch self {
        case .orphaned(let reason): reason
        case .held(let state, _): state?.hold.flatMap { $0 == .paused ? nil : $0.message }
        case .paused, .interrupted, .finished: nil
        }
    }

    /// The state to display.
    var sentence: String {
        guard let holder else { return word }
        return "\(word) (\(holder))" + (reason.map { ": \($0)" } ?? "")
    }
}

extension TransferSummary {
    /// A prefix of the key that identifies it on the command line.
    var shortKey: String { key.name.hasPrefix(".") ? key.name : String(key.name.prefix(12)) }

    /// The progress to display.
    var received: String {
        let bytes = ByteCount(recordedBytes).description
        guard let totalBytes, totalBytes > 0 else { return bytes }
        let percent = recordedBytes >= totalBytes ? 100 : min(99, Int(Double(recordedBytes) / Double(totalBytes) * 100))
        return "\(bytes) of \(ByteCount(totalBytes)) (\(percent)%)"
    }

    /// The file and its release, as the start of a sentence.
    var name: String { release.map { "\(label) of \($0)" } ?? label }
}

extension CommandContext {
    /// A manager of the home's transfers, after checking that this version supports the home.
    func transfers() async throws -> ModelManager {
        let manager = try await manager()
        _ = try await manager.store.inventory()
        return manager
    }
}

extension Argument where Value == String {
    /// The argument that names a transfer.
    static var transferKey: Self {
        Argument(
            "KEY", .word,
            "The transfer: its key or the beginning of one (at least four characters), its file's name, or a model's name "
                + "for all of that model's.")
    }
}
