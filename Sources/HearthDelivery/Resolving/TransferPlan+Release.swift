import HearthBase
import HearthCatalog
import HearthTransfer

extension TransferPlan {
    /// The pull that the transfer belongs to, `nil` if an app fetched the file for itself.
    package var purpose: TransferPurpose? { tag.flatMap(TransferPurpose.init(tag:)) }
    /// The release that the file belongs to.
    package var release: ReleaseIdentity? { purpose?.release }
    /// The reference to pull to continue the transfer, `nil` if unknown.
    package var reference: ModelReference? { purpose?.reference }
}

extension TransferSummary {
    /// The release that the file belongs to.
    package var release: ReleaseIdentity? { plan?.release }
}

extension [TransferSummary] {
    /// Finds transfers by a key, the beginning of a key, a file name, or a family.
    /// - Throws: `TransferError` with `unknown-transfer`, `ambiguous-transfer`.
    package func matching(_ text: String) throws -> [TransferSummary] {
        if let exact = first(where: { $0.key.name == text }) { return [exact] }
        let ofFamily = filter { $0.release?.family.name == text }
        if !ofFamily.isEmpty { return ofFamily }
        let named = filter { $0.plan?.label == text || (text.utf8.count >= 4 && $0.key.name.hasPrefix(text)) }
        guard named.count <= 1 else {
            throw TransferError(
                .ambiguousTransfer, "several transfers are called \(text.quoted)",
                context: ErrorContext(
                    found: named.map(\.key.name).joined(separator: ", "),
                    remedy: "Give more of the key."))
        }
        guard let only = named.first else {
            throw TransferError(
                .unknownTransfer, "there is no transfer called \(text.quoted)",
                context: ErrorContext(remedy: "Name one of the transfers on this device."))
        }
        return [only]
    }
}
