import Foundation
import HearthBase
import HearthHTTP

/// Provides download addresses that expire, such as signed addresses of a bucket.
///
/// An app with gated models uses ``AuthenticatedDownloader``, or conforms to this: it sends its key to its own service
/// and returns the address from the response. A transfer asks once at its start, again shortly before the address
/// expires, and again, once for all its connections, whenever a server answers 400, 401 or 403 to a provided address;
/// received bytes are kept. Chunk indexes and the headers of weights are fetched in the same way, with one renewal
/// after a refusal.
public protocol DownloadURLProvider: Sendable {
    /// The address to fetch a file from now.
    /// - Parameter location: the file's address as the catalog gives it.
    /// - Throws: the service's error. An error with the disposition `tryLater` is retried; one that is no
    ///   `HearthFailure` becomes a ``TransferError`` with `no-address`.
    func downloadURL(for location: URL) async throws -> URL

    /// The same with the time in which the address works; without an implementation, that time is unknown.
    func downloadAddress(for location: URL) async throws -> DownloadAddress

    /// Whether a file needs a provided address; without an implementation, each one does. Other files are fetched from
    /// their own address.
    func provides(for location: URL) -> Bool
}

extension DownloadURLProvider {
    public func downloadAddress(for location: URL) async throws -> DownloadAddress {
        DownloadAddress(try await downloadURL(for: location))
    }

    public func provides(for location: URL) -> Bool { true }
}

/// A provided address, and how long it works.
public struct DownloadAddress: Sendable, Hashable {
    public var url: URL
    /// The time from now in which requests may begin; `nil` if it is unknown. A duration and not a date, because the
    /// device's clock may be wrong.
    public var lifetime: Duration?

    /// An address that works for `lifetime`.
    public init(_ url: URL, lifetime: Duration? = nil) {
        self.url = url
        self.lifetime = lifetime
    }
}

/// The addresses that a transfer requests: the catalog's, or the provider's for them.
package actor SourceAddresses {
    /// An address, and the number of its earlier renewals.
    package struct Address: Sendable, Hashable {
        package let url: URL
        let generation: Int
        /// The age of the transfer at which the address ends; `nil` if that is unknown.
        var end: Duration?
        /// The age at which it is renewed: a request that begins then still has some time for its way.
        var renewal: Duration?
    }

    /// The longest time before its end at which an address is renewed.
    private static let margin = Duration.seconds(30)

    private let locations: [URL]
    private let provider: (any DownloadURLProvider)?
    private let age: Stopwatch
    private var known: [Int: Address] = [:]
    private var renewals: [Int: Task<Address, any Error>] = [:]

    package init(locations: [URL], provider: (any DownloadURLProvider)?, time: TimeSource = .system) {
        self.locations = locations
        self.provider = provider
        age = time.stopwatch()
    }

    /// Whether the provider can renew this source's address.
    package nonisolated func isRenewable(_ source: Int) -> Bool {
        let location = locations[source]
        return !location.isFileURL && provider?.provides(for: location) == true
    }

    /// The address to use for a source.
    ///
    /// An address that is about to end is renewed. If that fails, the old one is used until its end.
    /// - Parameter refused: the refused address; all connections refused with it share one fresh address.
    package func address(of source: Int, refused: Address? = nil) async throws -> Address {
        guard isRenewable(source), let provider else { return Address(url: locations[source], generation: 0) }
        let usable = known[source].flatMap { $0.generation > refused?.generation ?? -1 ? $0 : nil }
        if let usable, usable.renewal.map({ age.elapsed < $0 }) ?? true { return usable }
        do {
            return try await renewed(source, by: provider)
        } catch let error where !(error is CancellationError) {
            guard let usable, let end = usable.end, age.elapsed < end else { throw error }
            Log.write(.info, "transfer", "the address stays, since none could be got in its place", [.error(error)])
            return usable
        }
    }

    /// Asks the provider, once for all callers that wait.
    private func renewed(_ source: Int, by provider: any DownloadURLProvider) async throws -> Address {
        if let running = renewals[source] { return try await running.value }
        let (location, generation) = (locations[source], known[source].map { $0.generation + 1 } ?? 0)
        // A task of its own: if the first caller is cancelled, the others still need the address.
        let renewal = Task { [age] in
            do {
                // Counted from the question: the address may have been made at once.
                let asked = age.elapsed
                let fresh = try await provider.downloadAddress(for: location)
                return Address(
                    url: fresh.url, generation: generation, end: fresh.lifetime.map { asked + $0 },
                    renewal: fresh.lifetime.map { asked + $0 - min(Self.margin, $0 / 10) })
            } catch let error where !(error is any HearthFailure) && !(error is CancellationError) {
                throw TransferError(
                    .noAddress, "the service that gives out addresses gave none for \(location.fileName)",
                    context: ErrorContext(url: location.withoutQuery), underlying: error)
            }
        }
        renewals[source] = renewal
        defer { renewals[source] = nil }
        let fresh = try await renewal.value
        self.known[source] = fresh
        return fresh
    }

    /// Runs `ask` with a source's address, and once more with a fresh one if the first is refused.
    /// - Parameter ask: throws ``TransferError`` with `access-denied` if the address is refused.
    package nonisolated func answer<Answer: Sendable>(
        from source: Int, _ ask: (URL) async throws -> Answer
    ) async throws -> Answer {
        let address = try await address(of: source)
        do {
            return try await ask(address.url)
        } catch let error as TransferError where error.code == .accessDenied && isRenewable(source) {
            return try await ask(try await self.address(of: source, refused: address).url)
        }
    }
}
