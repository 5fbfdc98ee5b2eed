import Foundation
import HearthBase

/// Provides download addresses that expire, such as signed addresses of a bucket.
///
/// An app with gated models conforms to this: it sends its key to its own service and returns the address from the
/// response. A transfer asks once at its start, and again, once for all its connections, whenever a server answers
/// 400, 401 or 403 to a provided address; received bytes are kept. Chunk indexes and the headers of weights are
/// fetched in the same way, with one renewal after a refusal.
public protocol DownloadURLProvider: Sendable {
    /// The address to fetch a file from now.
    /// - Parameter location: the file's address as the catalog gives it.
    /// - Throws: the service's error. An error with the disposition `tryLater` is retried; one that is no
    ///   `HearthFailure` becomes a ``TransferError`` with `no-address`.
    func downloadURL(for location: URL) async throws -> URL
}

/// The addresses that a transfer requests: the catalog's, or the provider's for them.
package actor SourceAddresses {
    /// An address, and the number of its earlier renewals.
    package struct Address: Sendable, Hashable {
        package let url: URL
        let generation: Int
    }

    private let locations: [URL]
    private let provider: (any DownloadURLProvider)?
    private var known: [Int: Address] = [:]
    private var renewals: [Int: Task<Address, any Error>] = [:]

    package init(locations: [URL], provider: (any DownloadURLProvider)?) {
        self.locations = locations
        self.provider = provider
    }

    /// Whether the provider can renew this source's address.
    package nonisolated func isRenewable(_ source: Int) -> Bool { provider != nil && !locations[source].isFileURL }

    /// The address to use for a source.
    /// - Parameter refused: the refused address; all connections refused with it share one fresh address.
    package func address(of source: Int, refused: Address? = nil) async throws -> Address {
        guard isRenewable(source), let provider else { return Address(url: locations[source], generation: 0) }
        let known = known[source]
        if let known, known.generation > refused?.generation ?? -1 { return known }
        if let running = renewals[source] { return try await running.value }
        let (location, generation) = (locations[source], known.map { $0.generation + 1 } ?? 0)
        // A task of its own: if the first caller is cancelled, the others still need the address.
        let renewal = Task {
            do {
                return Address(url: try await provider.downloadURL(for: location), generation: generation)
            } catch let error where !(error is any HearthFailure) && !(error is CancellationError) {
                throw TransferError(
                    .noAddress, "the service that gives out addresses gave none for \(location.lastPathComponent)",
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
