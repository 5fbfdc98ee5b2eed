import Foundation
import HearthBase
import HearthHTTP

/// Brings the chunk index of a file, so that each of its chunks can be checked on arrival.
///
/// An index is a help: where it cannot be had, or is not what the catalog promises, the file comes without and its own
/// digest decides at the end.
struct ChunkIndexFetcher: Sendable {
    private static let timeout = Duration.seconds(30)

    let http: any HTTPClient
    /// Makes the addresses that are used of those in the catalog, as for the file itself.
    let provider: (any DownloadURLProvider)?

    /// The index of a file of `fileSize` bytes, `nil` if there is none to be had.
    ///
    /// Addresses that the network may not be used for now are not asked, and nothing is waited for: whoever waits for the network
    /// is the transfer of the file, which people can steer.
    /// - Parameter gate: says which addresses may be asked; `nil` for all.
    /// - Throws: `CancellationError`.
    func fetch(_ file: RemoteFile, fileSize: UInt64, through gate: NetworkGate? = nil) async throws -> ChunkIndex? {
        guard file.digest != nil else { return nil }
        let locations: [URL]
        do {
            locations = try await gate?.admitted(file.locations) ?? file.locations
        } catch let error as DeliveryError {
            Log.write(.info, "delivery.transfer", "the chunk index \(file.name) is done without: \(error.message)")
            return nil
        }
        let addresses = SourceAddresses(locations: locations, provider: provider)
        for source in locations.indices {
            do {
                return try await addresses.answer(from: source) { url in
                    try await index(file, at: url, isSigned: addresses.isRenewable(source), fileSize: fileSize)
                }
            } catch is CancellationError {
                throw CancellationError()
            } catch {
                Log.write(.warning, "delivery.transfer", "the chunk index \(file.name) is not used: \(error)")
            }
        }
        return nil
    }

    private func index(
        _ file: RemoteFile, at location: URL, isSigned: Bool, fileSize: UInt64
    ) async throws -> ChunkIndex {
        let limit = min(file.size.limit, UInt64(ChunkIndex.maximumEncodedSize))
        let request = HTTPRequest(location, totalTimeout: Self.timeout, maximumBodySize: limit)
        let response = try await http.execute(request)
        let policy = ResponsePolicy(label: file.name.string, size: file.size, asked: nil, isSigned: isSigned)
        _ = try policy.decide(status: response.status, headers: response.headers, url: response.url)
        let data = try await response.body.collect(upTo: Int(limit))
        let digest = try await blocking { SHA256Digest(hashing: [UInt8](data)) }
        guard digest == file.digest else {
            throw TransferError(
                .checksumMismatch, "\(file.name) is not the chunk index the catalog promises",
                context: ErrorContext(file: file.name.string, expected: file.digest?.hex, found: digest.hex))
        }
        return try ChunkIndex(encoded: data, expectedFileSize: fileSize)
    }
}
