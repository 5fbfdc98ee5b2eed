import Foundation
import HearthBase
import HearthHTTP

/// Looks at a release before it is fetched: whether what an engine would make of it fits this device.
///
/// Delivery knows no engine: the umbrella module gives one to `ModelManager`. Not asked where a pull is to ignore memory, for
/// files that are on this device already, and for archives.
public protocol ReleasePreflight: Sendable {
    /// - Parameters:
    ///   - release: with the locations that may be asked now.
    ///   - head: reads the front of its files.
    /// - Throws: what refuses the pull; `CancellationError`. What cannot be read or told refuses nothing.
    func check(_ release: Release, head: RemoteHead) async throws
}

/// Reads the first bytes of files that are still elsewhere, as few as the reader wants.
public struct RemoteHead: Sendable {
    /// The most bytes that are ever read of a file.
    public static let maximumBytes = 16 << 20
    /// The time it may take.
    static let timeout = Duration.seconds(20)
    private static let firstLook = 256 << 10

    private let http: any HTTPClient
    private let provider: (any DownloadURLProvider)?

    /// Reads over the given transport.
    /// - Parameter provider: makes the addresses that are used of those in the catalog; one that is refused is renewed once.
    public init(http: any HTTPClient, provider: (any DownloadURLProvider)? = nil) {
        self.http = http
        self.provider = provider
    }

    /// The front of a file, from the first of its places that answers.
    ///
    /// One request, which ends as soon as the reader has enough: it is asked after 256 KiB, and each time that has doubled.
    /// - Parameters:
    ///   - limit: the most bytes to read.
    ///   - isEnough: whether these bytes will do; may throw to give up.
    /// - Returns: all that came until it was enough, the file ended or the limit was reached.
    /// - Throws: `HTTPError`, ``TransferError`` where no place gives the file; what the reader throws; `CancellationError`.
    public func read(
        _ file: RemoteFile, upTo limit: Int = maximumBytes, until isEnough: (Data) throws -> Bool
    ) async throws -> Data {
        var failure: (any Error)?
        let addresses = SourceAddresses(locations: file.locations, provider: provider)
        for source in file.locations.indices {
            do {
                return try await addresses.answer(from: source) { url in
                    let isSigned = addresses.isRenewable(source)
                    return try await read(url, isSigned, min(max(1, limit), Self.maximumBytes), isEnough)
                }
            } catch let error as any HearthFailure where error is HTTPError || error is TransferError {
                failure = failure ?? error
            }
        }
        throw failure ?? TransferError(.missing, "\(file.name) has no place to be read from")
    }

    private func read(
        _ url: URL, _ isSigned: Bool, _ limit: Int, _ isEnough: (Data) throws -> Bool
    ) async throws -> Data {
        var request = HTTPRequest(
            url, headers: ["Range": "bytes=0-\(limit - 1)", "Accept-Encoding": "identity"],
            totalTimeout: Self.timeout)
        request.bodyBufferSize = Self.firstLook
        let response = try await http.execute(request)
        // A server that knows no ranges sends the whole, of which the front is taken.
        guard response.status == 206 || response.status == 200 else {
            // Some servers say 400 where the time of an address is over.
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
        // A cancelled task sees its stream end early rather than throw.
        try Task.checkCancellation()
        return data
    }
}

extension ModelManager {
    /// The front of a file on offer, read as ``RemoteHead/read(_:upTo:until:)`` reads it; nothing of it is kept.
    /// - Parameter metered: what to do on a network whose bytes cost money.
    /// - Throws: as that; ``DeliveryError`` with `offline` or `metered-network`.
    public nonisolated func head(
        of file: RemoteFile, metered: MeteredUse = .deny, upTo limit: Int = RemoteHead.maximumBytes,
        until isEnough: (Data) throws -> Bool
    ) async throws -> Data {
        var file = file
        file.locations = try await gate(metered).admitted(file.locations)
        return try await remoteHead.read(file, upTo: limit, until: isEnough)
    }

    nonisolated func gate(_ metered: MeteredUse) -> NetworkGate {
        NetworkGate(policy: NetworkPolicy(metered: metered), monitor: network, time: time)
    }

    /// Asks whether a release fits, before its first byte.
    /// - Parameter files: those to be fetched, with the locations that may be asked.
    nonisolated func preflight(_ release: Release, _ files: [RemoteFile], _ options: PullOptions) async throws {
        guard let preflight = releasePreflight, !ignoresMemory, !options.ignoreMemory, release.archive == nil,
            let weights = files.first(where: { $0.name == release.file.name }), weights.copies.isEmpty
        else { return }
        var admitted = release
        admitted.file = weights
        admitted.companions = release.companions.map { companion in
            files.first { $0.name == companion.name } ?? companion
        }
        try await preflight.check(admitted, head: remoteHead)
    }
}
