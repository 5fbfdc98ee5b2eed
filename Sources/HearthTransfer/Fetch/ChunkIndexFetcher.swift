import Foundation
import HearthBase
import HearthHTTP

/// Fetches the chunk index of a file, so that each chunk can be checked on arrival.
///
/// The index is optional. If it is missing or not the promised one, the file is fetched without it and checked by its
/// own digest at the end.
package struct ChunkIndexFetcher: Sendable {
    private static let timeout = Duration.seconds(30)

    package let http: any HTTPClient
    /// Turns catalog addresses into the ones to request, as for the file itself.
    package let provider: (any DownloadURLProvider)?

    /// Memberwise.
    package init(http: any HTTPClient, provider: (any DownloadURLProvider)?) {
        self.http = http
        self.provider = provider
    }

    /// The chunk index of a file of `fileSize` bytes; `nil` if none can be fetched.
    ///
    /// Never waits for the network, and skips addresses that it must not use now. Only the file's own transfer waits,
    /// because people can pause and cancel that.
    /// - Parameters:
    ///   - file: the request for the index.
    ///   - gate: decides which addresses may be asked; `nil` allows all.
    /// - Throws: `CancellationError`.
    package func fetch(_ file: TransferRequest, fileSize: UInt64, through gate: NetworkGate? = nil) async throws
        -> ChunkIndex?
    {
        guard file.digest != nil else { return nil }
        let locations: [URL]
        do {
            locations = try await gate?.admitted(file.locations) ?? file.locations
        } catch let error as NetworkError {
            Log.write(.info, "the chunk index \(file.label) is done without: \(error.message)")
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
                Log.write(.warning, "the chunk index \(file.label) is not used: \(error)")
            }
        }
        return nil
    }

    private func index(
        _ file: TransferRequest, at location: URL, isSigned: Bool, fileSize: UInt64
    ) async throws -> ChunkIndex {
        let limit = min(file.size.limit, UInt64(ChunkIndex.maximumEncodedSize))
        let request = HTTPRequest(location, totalTimeout: Self.timeout, maximumBodySize: limit)
        let response = try await http.execute(request)
        let policy = ResponsePolicy(label: file.label, size: file.size, asked: nil, isSigned: isSigned)
        _ = try policy.decide(status: response.status, headers: response.headers, url: response.url)
        let data = try await response.body.collect(upTo: Int(limit))
        let digest = await blocking { SHA256Digest(hashing: [UInt8](data)) }
        guard digest == file.digest else {
            throw TransferError(
                .checksumMismatch, "\(file.label) is not the chunk index the catalog promises",
                context: ErrorContext(file: file.label, expected: file.digest?.hex, found: digest.hex))
        }
        return try ChunkIndex(encoded: data, expectedFileSize: fileSize)
    }
}
