import Foundation
import HearthBase

/// Gives out addresses that are good for a limited time, such as signed addresses of a bucket.
///
/// An app that gates its models conforms to this: it presents its key to its own service and returns what that answers.
/// A transfer asks once at its start, and again, once for all of its connections, whenever a server says 400, 401 or 403
/// to an address it was given; no byte that has arrived is lost by that. What is read beside the files, their chunk indexes
/// and the fronts of weights, is asked for in the same way, and once more where it is refused.
public protocol DownloadURLProvider: Sendable {
    /// An address to fetch a file from, now.
    /// - Parameter location: the file's address as the catalog gives it.
    /// - Throws: whatever the service says; a failure whose disposition is `tryLater` is tried again. An error that is no
    ///   `HearthFailure` becomes a ``TransferError`` with `no-address`.
    func downloadURL(for location: URL) async throws -> URL
}

/// The addresses a transfer really uses: those of the catalog, or what a provider makes of them.
actor SourceAddresses {
    /// An address, and how often it was renewed before.
    struct Address: Sendable, Hashable {
        let url: URL
        let generation: Int
    }

    private let locations: [URL]
    private let provider: (any DownloadURLProvider)?
    private var known: [Int: Address] = [:]
    private var renewals: [Int: Task<Address, any Error>] = [:]

    init(locations: [URL], provider: (any DownloadURLProvider)?) {
        self.locations = locations
        self.provider = provider
    }

    /// Whether there is anybody to ask for a fresh address of this source.
    nonisolated func isRenewable(_ source: Int) -> Bool { provider != nil && !locations[source].isFileURL }

    /// The address to use for a source.
    /// - Parameter refused: an address that did not work; everybody who was refused with it gets the same fresh one.
    func address(of source: Int, refused: Address? = nil) async throws -> Address {
        guard isRenewable(source), let provider else { return Address(url: locations[source], generation: 0) }
        let known = known[source]
        if let known, known.generation > refused?.generation ?? -1 { return known }
        if let running = renewals[source] { return try await running.value }
        let (location, generation) = (locations[source], known.map { $0.generation + 1 } ?? 0)
        // A task of its own: whoever asked first may be cancelled, and the others still want the answer.
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

    /// Asks a source, and once more at a fresh address where there is one and the first was refused.
    /// - Parameter ask: throws ``TransferError`` with `access-denied` where the address is refused.
    nonisolated func answer<Answer: Sendable>(
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
