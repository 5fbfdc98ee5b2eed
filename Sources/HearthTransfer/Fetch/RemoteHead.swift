import Foundation
import HearthBase
import HearthHTTP

/// Reads the first bytes of remote files, as few as the reader needs.
package struct RemoteHead: Sendable {
    /// The most bytes that are read of a file.
    package static let maximumBytes = 16 << 20
    /// The time limit of a request.
    static let timeout = Duration.seconds(20)
    private static let firstLook = 256 << 10

    private let http: any HTTPClient
    private let provider: (any DownloadURLProvider)?

    /// Creates a reader over the given transport.
    /// - Parameter provider: turns catalog addresses into time-limited ones; an address that is refused is renewed
    ///   once.
    package init(http: any HTTPClient, provider: (any DownloadURLProvider)? = nil) {
        self.http = http
        self.provider = provider
    }

    /// Reads the beginning of a file, from the first location that answers.
    ///
    /// Sends one request, which ends as soon as `isEnough` accepts the bytes: it is called after 256 KiB, then after
    /// each doubling.
    /// - Parameters:
    ///   - limit: the most bytes to read.
    ///   - isEnough: whether these bytes suffice; may throw to give up.
    /// - Returns: the bytes received until they sufficed, the file ended or the limit was reached.
    /// - Throws: `HTTPError`, `TransferError` if no location gives the file; the errors of `isEnough`;
    ///   `CancellationError`.
    package func read(
        _ request: TransferRequest, upTo limit: Int = maximumBytes, until isEnough: (Data) throws -> Bool
    ) async throws -> Data {
        var failure: (any Error)?
        let addresses = SourceAddresses(locations: request.locations, provider: provider)
        for source in request.locations.indices {
            do {
                return try await addresses.answer(from: source) { url in
                    let isSigned = addresses.isRenewable(source)
                    return try await read(url, isSigned, min(max(1, limit), Self.maximumBytes), isEnough)
                }
            } catch let error as any HearthFailure where error is HTTPError || error is TransferError {
                failure = failure ?? error
            }
        }
        throw failure ?? TransferError(.missing, "\(request.label) has no place to be read from")
    }

    private func read(
        _ url: URL, _ isSigned: Bool, _ limit: Int, _ isEnough: (Data) throws -> Bool
    ) async throws -> Data {
        var request = HTTPRequest(
            url, headers: ["Range": "bytes=0-\(limit - 1)", "Accept-Encoding": "identity"],
            totalTimeout: Self.timeout)
        request.bodyBufferSize = Self.firstLook
        let response = try await http.execute(request)
        // A server without ranges sends the whole file, of which the beginning is read.
        guard response.status == 206 || response.status == 200 else {
            // Some servers answer 400 when an address has expired.
            let isRefused = [401, 403].contains(response.status) || (isSigned && response.status == 400)
            throw TransferError(
                isRefused ? .accessDenied : .unexpectedStatus,
                "the front of a file was answered with status \(response.status)")
        }
        if response.status == 206, response.headers["Content-Range"]?.hasPrefix("bytes 0-") != true {
            throw TransferError(.badContentRange, "another part of a file came than its front")
        }
        var data = Data()
        var next = min(limit, Self.firstLook)
        for try await chunk in response.body {
            data.append(contentsOf: chunk.prefix(limit - data.count))
            guard data.count >= next else { continue }
            if data.count >= limit { break }
            if try isEnough(data) { return data }
            while next <= data.count { next *= 2 }
            next = min(next, limit)
        }
        // In a cancelled task, the stream ends early instead of throwing.
        try Task.checkCancellation()
        return data
    }
}
