import Foundation
import HearthBase
import HearthCatalog
import HearthHTTP
import HearthStore
import HearthTransfer

/// What sources offer, and bringing it to this device.
extension ModelManager {
    /// Lists every release of the configured origins and bundled folders, each with the objection to it on this device.
    ///
    /// An origin that fails hides no other.
    /// - Throws: ``DeliveryError`` with `no-origin`; the first origin's error if all fail.
    public func available(_ policy: CachePolicy = .asPublished) async throws -> [Offer] {
        try await available(in: try await reports(policy))
    }

    /// Lists the releases of reports, each with the objection to it on this device.
    /// - Throws: the first error if there is no listing.
    package func available(in reports: [SourceReport]) async throws -> [Offer] {
        try await resolving.available(in: reports)
    }

    /// Asks all configured origins and reads the bundled folders at the same time; reports come in the configured
    /// order.
    /// - Throws: ``DeliveryError`` with `no-origin` if there is neither; `CancellationError`.
    package func reports(_ policy: CachePolicy = .asPublished) async throws -> [SourceReport] {
        try await resolving.sources.reports(policy)
    }

    /// Asks one origin, or takes its list of the last hour.
    package func listing(of origin: Origin, _ policy: CachePolicy = .asPublished) async throws -> CatalogListing {
        try await resolving.sources.source(origin, family: nil).listing(policy)
    }

    /// Finds the release a reference means, without fetching it.
    ///
    /// The version is the named one, else the publisher's choice or, if this device may not have that, another. The
    /// variant is the named one, else the largest that fits this device.
    /// - Throws: ``DeliveryError``, `CatalogError`, `FileError`.
    public func resolve(
        _ reference: ModelReference, options: PullOptions = PullOptions()
    ) async throws -> Offer {
        try await resolving.resolve(reference, options: options)
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

    /// Pulls a release: fetches, verifies, installs and activates it.
    ///
    /// An installed release is not fetched again. If the offer of its bytes is from another origin, updates come from
    /// there from then on. Cancelling keeps the received bytes; the next call continues after them.
    /// - Parameters:
    ///   - resolved: the result of ``resolve(_:options:)``.
    ///   - options: what is allowed, and whether to activate.
    ///   - progress: at most ten readings a second, on any thread. `completedBytes` never goes down, except for an
    ///     archive: the phase `extracting` counts unpacked bytes.
    /// - Throws: ``DeliveryError``, `TransferError`, `StoreError`, `HTTPError`, `FileError`,
    ///   `CancellationError`.
    public func pull(
        _ resolved: Offer, options: PullOptions = PullOptions(),
        progress: @escaping @Sendable (TransferProgress) -> Void = { _ in }
    ) async throws -> PullOutcome {
        try await pulling.pull(resolved, options: options, progress: progress)
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

    /// Resolves the release of a transfer, with the options that its plan remembers.
    ///
    /// The version is that of the transfer, even if a newer one exists. It counts as named if the user named it.
    /// - Throws: `TransferError` with `not-resumable`; otherwise as `resolve`.
    package func resolve(
        again plan: TransferPlan, options: PullOptions = PullOptions()
    ) async throws -> (Offer, PullOptions) {
        try await resolving.resolve(again: plan, options: options)
    }

    /// Continues, after a restart, every transfer that was under way when its process ended.
    ///
    /// A held-back release is not tried again, even if the user named it: its error is `held-back`.
    /// - Returns: the plan of each transfer, with the error of a failed one.
    /// - Throws: `FileError` if the transfers cannot be listed.
    package func restoreTransfers(
        options: PullOptions = PullOptions()
    ) async throws -> [(plan: TransferPlan, error: (any Error)?)] {
        try await pulling.restoreTransfers(options: options)
    }

    // MARK: - Updates

    /// Finds updates of the installed and bundled families, without changing anything.
    ///
    /// A family is looked up where it came from: in its hub repository at the requested revision, else in the
    /// configured origin that its receipt names. If only another origin lists the family, it stays as it is
    /// (`NoUpdate.otherOrigin`). A family without an origin follows the only origin that lists it. If a source fails or
    /// is not configured, its families stay; this is no error, unless all sources fail.
    /// - Parameter ignoresMemory: whether releases that need more memory than the device has are updates too.
    /// - Throws: ``DeliveryError`` with `no-origin` if no family came from a hub and no source is configured; the
    ///   origin's error if all sources fail.
    public func updates(
        of wanted: Family? = nil, _ policy: CachePolicy = .asPublished, ignoresMemory: Bool = false
    ) async throws -> [UpdateFinding] {
        try await updating.updates(of: wanted, policy, ignoresMemory: ignoresMemory)
    }

    /// Offers one release of each family: the one this device would get, or has. Bundled models are no offers. A source
    /// that fails hides no other.
    ///
    /// An installed family is offered only by its own origin. If several origins list a family that is not installed,
    /// there is no offer, and the problem is `ambiguous-reference`, as for a pull by that name.
    /// - Throws: the first source's error if all sources fail; `FileError`.
    package func offers(_ policy: CachePolicy = .asPublished) async throws -> FamilyOffers {
        try await updating.offers(policy)
    }

    /// Asks the sources for releases newer than the live ones, and pulls them. Never throws: a
    /// failure, such as a missing network, is part of the result and an event.
    ///
    /// ```swift
    /// Task { await manager.loadStoredModel() }   // milliseconds: announces the live releases
    /// Task { await manager.checkForUpdates() }   // in the background: pulls and activates newer releases
    /// ```
    /// - Parameters:
    ///   - wanted: the only family to check; `nil` for all that are installed.
    ///   - installs: whether to pull newer releases; otherwise only catalogs are fetched.
    ///   - options: the options of downloads; by default they do not use a metered network.
    ///   - progress: as in `pull`.
    @discardableResult
    public func checkForUpdates(
        of wanted: Family? = nil, installs: Bool = true, options: PullOptions = PullOptions(),
        progress: @escaping @Sendable (TransferProgress) -> Void = { _ in }
    ) async -> UpdateCheck {
        await checking.check(of: wanted, installs: installs, options: options, progress: progress)
    }

    /// Finds the model of a family, as fresh as the policy demands.
    ///
    /// ```swift
    /// let model = try await manager.model(family, policy: .localWithBackgroundUpdate)
    /// ```
    /// - Parameters:
    ///   - options: the options of a download.
    ///   - progress: as in `pull`; not called for a background update.
    /// - Returns: the live release or the bundled one, never ``ModelAvailability/none``.
    /// - Throws: `StoreError` with `not-installed` if there is no local model and the policy is
    ///   ``ModelPolicy/localOnly``; the errors of `pull` if there is no local model and it cannot be pulled.
    public func model(
        _ family: Family, policy: ModelPolicy = .localWithBackgroundUpdate, options: PullOptions = PullOptions(),
        progress: @escaping @Sendable (TransferProgress) -> Void = { _ in }
    ) async throws -> ModelAvailability {
        try await checking.model(family, policy: policy, options: options, progress: progress)
    }

    /// Waits for background updates, for tests and for an app that is about to end.
    public func finishBackgroundUpdates() async { await checking.background.finish() }

    /// Cancels background updates and starts no others; for an app that is about to end.
    ///
    /// Returns, also in a cancelled task, when they have ended and only the received bytes are on the disk.
    public func stopBackgroundUpdates() async { await checking.background.stop() }
}
