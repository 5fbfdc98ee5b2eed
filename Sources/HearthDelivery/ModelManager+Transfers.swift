import Foundation
import HearthBase
import HearthCatalog
import HearthTransfer

extension ModelManager {
    /// Pulls the release of a transfer again, and continues after the received bytes.
    /// - Throws: `TransferError` with `not-resumable`; otherwise as `pull`.
    package func pull(
        again plan: TransferPlan, options: PullOptions = PullOptions(),
        progress: @escaping @Sendable (TransferProgress) -> Void = { _ in }
    ) async throws -> PullOutcome {
        let (resolved, options) = try await resolve(again: plan, options: options)
        return try await pull(resolved, options: options, progress: progress)
    }

    /// Resolves the release of a transfer, with the options that its plan remembers.
    ///
    /// The version is that of the transfer, even if a newer one exists. It counts as named if the user named it.
    /// - Throws: `TransferError` with `not-resumable`; otherwise as `resolve`.
    package func resolve(
        again plan: TransferPlan, options: PullOptions = PullOptions()
    ) async throws -> (Offer, PullOptions) {
        let purpose = plan.purpose
        guard let purpose, let reference = purpose.reference else {
            throw TransferError(
                .notResumable, "the plan of \(plan.label) does not tell which model it belongs to",
                context: ErrorContext(
                    model: purpose?.release.description, file: plan.label,
                    remedy: "Pull the model again, which keeps the received bytes, or cancel the transfer."))
        }
        var options = options
        options.activate = options.activate && purpose.activates
        var resolved = try await resolve(reference, options: options)
        resolved.isNamed = resolved.isNamed && purpose.isNamed
        resolved.triesHeldBack = resolved.isNamed
        return (resolved, options)
    }

    /// Continues, after a restart, every transfer that was under way when its process ended.
    ///
    /// A held-back release is not tried again, even if the user named it: its error is `held-back`.
    /// - Returns: the plan of each transfer, with the error of a failed one.
    /// - Throws: `FileError` if the transfers cannot be listed.
    package func restoreTransfers(
        options: PullOptions = PullOptions()
    ) async throws -> [(plan: TransferPlan, error: (any Error)?)] {
        try await transfers.restore { plan in
            var (resolved, options) = try await self.resolve(again: plan, options: options)
            resolved.triesHeldBack = false
            _ = try await self.pull(resolved, options: options)
        }
    }
}

extension TransferPlan {
    /// The pull that the transfer belongs to, `nil` if an app fetched the file for itself.
    var purpose: TransferPurpose? { tag.flatMap(TransferPurpose.init(tag:)) }
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
