import Foundation
import HearthBase
import HearthDelivery

/// A transfer as `hearth transfers list --format json` shows it; `null` where there is nothing.
struct TransferEntry: Encodable, Sendable {
    let key: String
    let file: String?
    let family: String?
    let version: String?
    let variant: String?
    let state: String
    /// The process that works on it.
    let process: Int32?
    /// The bytes that need not be fetched again.
    let receivedBytes: UInt64
    let totalBytes: UInt64?
    /// What it occupies.
    let diskBytes: UInt64
    let changed: Date?
    /// Why it is orphaned, or what it waits for.
    let reason: String?

    private enum CodingKeys: CodingKey {
        case key, file, family, version, variant, state, process, receivedBytes, totalBytes, diskBytes, changed, reason
    }

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

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(key, forKey: .key)
        try container.encode(file, forKey: .file)
        try container.encode(family, forKey: .family)
        try container.encode(version, forKey: .version)
        try container.encode(variant, forKey: .variant)
        try container.encode(state, forKey: .state)
        try container.encode(process, forKey: .process)
        try container.encode(receivedBytes, forKey: .receivedBytes)
        try container.encode(totalBytes, forKey: .totalBytes)
        try container.encode(diskBytes, forKey: .diskBytes)
        try container.encode(changed, forKey: .changed)
        try container.encode(reason, forKey: .reason)
    }
}

extension TransferSummary.State {
    /// The process that works on it, where it is not this one.
    var holder: TransferHolder? {
        switch self {
        case .runningElsewhere(let holder), .waiting(_, let holder): holder
        case .paused(let holder): holder
        case .running, .interrupted, .finished, .orphaned: nil
        }
    }

    /// Why it stands as it does.
    var reason: String? {
        switch self {
        case .orphaned(let reason): reason
        case .waiting(let hold, _): hold.message
        case .running, .runningElsewhere, .paused, .interrupted, .finished: nil
        }
    }

    /// The state for people.
    var sentence: String {
        switch self {
        case .waiting(let hold, let holder): "\(word) (\(holder)): \(hold.message)"
        default: holder.map { "\(word) (\($0))" } ?? word
        }
    }
}

extension TransferSummary {
    /// Enough of the key to name it by.
    var shortKey: String { key.name.hasPrefix(".") ? key.name : String(key.name.prefix(12)) }

    /// How far it is, for people.
    var received: String {
        let bytes = ByteCount(recordedBytes).description
        guard let totalBytes, totalBytes > 0 else { return bytes }
        let percent = recordedBytes >= totalBytes ? 100 : min(99, Int(Double(recordedBytes) / Double(totalBytes) * 100))
        return "\(bytes) of \(ByteCount(totalBytes)) (\(percent)%)"
    }

    /// The file and what it belongs to, as a sentence begins.
    var name: String { release.map { "\(label) of \($0)" } ?? label }
}

extension CommandContext {
    /// The transfers of the home folder, once it is known to be one this version understands.
    func transfers() async throws -> ModelManager {
        let manager = try await manager()
        _ = try await manager.store.inventory()
        return manager
    }
}

extension Argument where Value == String {
    /// How a transfer is named on the command line.
    static var transferKey: Self {
        Argument(
            "KEY", .word,
            "The transfer: its key or the beginning of one (at least four characters), its file's name, or a model's name "
                + "for all of that model's.")
    }
}
