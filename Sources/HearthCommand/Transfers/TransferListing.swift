import Foundation
import Hearth
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthStore
import HearthTransfer

extension TransferSummary.State {
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
