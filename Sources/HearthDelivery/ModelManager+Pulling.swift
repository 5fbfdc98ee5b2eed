import Foundation
import HearthBase
import HearthCatalog
import HearthHTTP
import HearthStore
import HearthTransfer

/// What sources offer, and bringing it to this device.
extension ModelManager {

    /// Asks all configured origins and reads the bundled folders at the same time; reports come in the configured
    /// order.
    /// - Throws: ``DeliveryError`` with `no-origin` if there is neither; `CancellationError`.
    package func reports(_ policy: CachePolicy = .asPublished) async throws -> [SourceReport] {
        try await sources.reports(policy)
    }

    /// Asks one origin, or takes its list of the last hour.
    package func listing(of origin: Origin, _ policy: CachePolicy = .asPublished) async throws -> CatalogListing {
        try await sources.source(origin, family: nil).listing(policy)
    }

    /// Reads the beginning of an offered file, as ``RemoteHead/read(_:upTo:until:)`` does, and keeps none of it.
    /// - Parameter metered: the use of metered networks.
    /// - Throws: as `read`; `NetworkError` with `offline` or `metered-network`.
    package func head(
        of file: RemoteFile, metered: MeteredUse = .deny, upTo limit: Int = RemoteHead.maximumBytes,
        until isEnough: (Data) throws -> Bool
    ) async throws -> Data {
        try await fetching.head(of: file, metered: metered, upTo: limit, until: isEnough)
    }

    /// Pulls the release a reference means: fetches, verifies, installs and activates it.
    /// - Throws: as ``resolve(_:options:)`` and ``pull(_:options:progress:)-(Offer,_,_)``.
    public func pull(
        _ reference: ModelReference, options: PullOptions = PullOptions(),
        progress: @escaping @Sendable (TransferProgress) -> Void = { _ in }
    ) async throws -> PullOutcome {
        try await pull(try await resolve(reference, options: options), options: options, progress: progress)
    }

    /// Pulls the release a reference means, and streams its progress: at most ten readings a second.
    ///
    /// The stream ends when the release is installed, and throws as ``pull(_:options:progress:)-(ModelReference,_,_)``.
    /// Leaving the loop cancels the pull; the received bytes stay.
    /// ```swift
    /// for try await reading in manager.pulling(reference) { print(reading.fraction ?? 0) }
    /// ```
    public func pulling(
        _ reference: ModelReference, options: PullOptions = PullOptions()
    ) -> AsyncThrowingStream<TransferProgress, any Error> {
        AsyncThrowingStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let task = Task {
                do {
                    _ = try await pull(reference, options: options) { continuation.yield($0) }
                    continuation.finish()
                } catch {
                    continuation.finish(throwing: error)
                }
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }

    /// Pulls the release of a transfer again, and continues after the received bytes.
    /// - Throws: `TransferError` with `not-resumable`; otherwise as `pull`.
    package func pull(
        again plan: TransferPlan, options: PullOptions = PullOptions(),
        progress: @escaping @Sendable (TransferProgress) -> Void = { _ in }
    ) async throws -> PullOutcome {
        let (resolved, options) = try await resolve(again: plan, options: options)
        return try await pull(resolved, options: options, progress: progress)
    }

    // MARK: - Updates

    /// Waits for background updates, for tests and for an app that is about to end.
    public func finishBackgroundUpdates() async { await background.finish() }

    /// Cancels background updates and starts no others; for an app that is about to end.
    ///
    /// Returns, also in a cancelled task, when they have ended and only the received bytes are on the disk.
    public func stopBackgroundUpdates() async { await background.stop() }
}
