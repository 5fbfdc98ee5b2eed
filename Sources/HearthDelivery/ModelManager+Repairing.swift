import Foundation
import HearthBase
import HearthCatalog
import HearthStore
import HearthTransfer

/// Verifies installed releases and replaces their damaged files.
extension ModelManager {
    /// Verifies a release against its receipt, and its artifacts against their records.
    ///
    /// The release may be damaged or unverified. Reads about 1.8 GB a second; stops soon after cancellation.
    /// - Throws: `StoreError` with `not-installed`, `receipt-damaged`; a missing or changed file is part of the report.
    public func verify(
        _ identity: ReleaseIdentity, progress: @escaping @Sendable (TransferProgress) -> Void = { _ in }
    ) async throws -> VerificationReport {
        try await repairing.verify(identity, progress)
    }

    /// Verifies a release and replaces its damaged files.
    ///
    /// | damaged file | replacement |
    /// | --- | --- |
    /// | another release has it undamaged | that release's file, without the network |
    /// | it has a chunk index | its own intact chunks, and the damaged ones from its source |
    /// | it came in an archive | the archive, fetched and unpacked again |
    /// | any other | the whole file from its source |
    ///
    /// A rename puts the new file in place of the damaged one: a process that has the damaged file open keeps it. Every
    /// release that shared the damaged file gets the new one.
    ///
    /// A damaged artifact is removed and made again; a process that has it open keeps its bytes.
    /// - Throws: `StoreError` with `not-installed`, `receipt-damaged`, `not-repairable`; the errors of a transfer.
    public func repair(
        _ identity: ReleaseIdentity, options: PullOptions = PullOptions(),
        progress: @escaping @Sendable (TransferProgress) -> Void = { _ in }
    ) async throws -> RepairReport {
        try await repairing.repair(identity, options, progress)
    }
}
