import Foundation
import HearthBase
import HearthHTTP
import HearthTestSupport

@testable import HearthDelivery

/// A disk that has no room for a file's bytes from some place on.
final class FullDisk: ForwardingFileSystem {
    let base: any FileSystem = LocalFileSystem()
    private let end: Locked<UInt64>

    init(at end: UInt64) { self.end = Locked(end) }

    func heal() { end.withLock { $0 = .max } }

    func write(_ file: OpenFile, _ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws {
        let room = end.withLock { $0 - min($0, offset) }
        let fitting = UnsafeRawBufferPointer(rebasing: bytes.prefix(Int(min(room, UInt64(bytes.count)))))
        try base.write(file, fitting, at: offset)
        guard fitting.count == bytes.count else { throw FileError(errno: ENOSPC, doing: "write", path: file.path) }
    }
}

extension TransferManager {
    /// How a transfer ends, and the state it is in then.
    func ending(of request: TransferRequest) async -> (Result<TransferredFile, any Error>, DownloadState?) {
        let isOver = Locked(false)
        let running = Task {
            defer { isOver.withLock { $0 = true } }
            return try await self.fetch(request)
        }
        var flight: TransferFlight?
        while flight == nil, !isOver.withLock({ $0 }) {
            await Task.yield()
            flight = flights.values.first
        }
        let result = await running.result
        return (result, flight?.download.state)
    }
}

/// Gives out numbered addresses, and counts them.
final class CountingProvider: DownloadURLProvider {
    private struct State {
        var count = 0
        var failures: Int
    }

    private let state: Locked<State>

    init(_ kind: Fault.Provider) {
        switch kind {
        case .works: state = Locked(State(failures: 0))
        case .fails(let times): state = Locked(State(failures: times))
        }
    }

    /// How often it was asked.
    var count: Int { state.withLock { $0.count } }

    func heal() { state.withLock { $0.failures = 0 } }

    func downloadURL(for location: URL) async throws -> URL {
        let number = state.withLock { state -> Int? in
            state.count += 1
            guard state.count > 1, state.failures > 0 else { return state.count }
            state.failures -= 1
            return nil
        }
        guard let number else { throw HTTPError(.cannotConnect, "the key service is away", disposition: .tryLater) }
        return location.appending(queryItems: [URLQueryItem(name: "token", value: "s3cret-\(number)")])
    }
}
