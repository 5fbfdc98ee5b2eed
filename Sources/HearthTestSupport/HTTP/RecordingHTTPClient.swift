import Foundation
import HearthBase
import HearthHTTP

/// An HTTP client that records the requested bytes of a file, and the bytes read from the responses.
///
/// A server knows only the bytes that it passed to the system. This client also detects bytes that were requested twice
/// or dropped.
package final class RecordingHTTPClient: HTTPClient {
    /// One request, and the bytes read from its response.
    package struct Exchange: Sendable {
        package let url: URL
        /// The requested bytes; all of them without a `Range` header.
        package let asked: Range<UInt64>
        /// The requested bytes that had been read before this request was sent.
        package let askedAgain: UInt64
        package let idleTimeout: Duration
        /// `nil` until there is a response.
        package internal(set) var status: Int?
        /// The number of bytes read from the body.
        package internal(set) var taken: UInt64 = 0
    }

    private struct State {
        var exchanges: [Exchange] = []
        var taken = RangeSet<UInt64>()
        var takenAgain: UInt64 = 0
    }

    private let base: any HTTPClient
    private let size: UInt64
    private let silenceLimit: Duration
    private let beforePiece: @Sendable (HTTPHeaders) async throws -> Int
    private let state = Locked(State())

    /// Records the requests to `base`.
    /// - Parameters:
    ///   - size: the file's length, where a range without an end stops.
    ///   - silenceLimit: the longest silence this client waits for, whatever a request allows, so that tests are quick.
    ///   - beforePiece: called with the response's headers before bytes are passed on; returns the most bytes to pass
    ///     on. A server's small pieces may arrive as one if this machine is busy.
    package init(
        _ base: any HTTPClient, size: UInt64, silenceLimit: Duration = .seconds(60),
        beforePiece: @escaping @Sendable (HTTPHeaders) async throws -> Int = { _ in .max }
    ) {
        self.base = base
        self.size = size
        self.silenceLimit = silenceLimit
        self.beforePiece = beforePiece
    }

    /// The exchanges so far, in order.
    package var exchanges: [Exchange] { state.withLock { $0.exchanges } }
    /// The bytes that were read at least once.
    package var taken: RangeSet<UInt64> { state.withLock { $0.taken } }
    /// The number of read bytes, each counted as often as it was read.
    package var takenCount: UInt64 { state.withLock { $0.exchanges.reduce(0) { $0 + $1.taken } } }
    /// The number of read bytes that had been read before.
    package var takenAgain: UInt64 { state.withLock { $0.takenAgain } }

    package func execute(_ request: HTTPRequest) async throws -> HTTPResponse {
        let asked = askedRange(request.headers["Range"], size: size)
        let index = state.withLock { state in
            let again = state.taken.intersection(RangeSet(asked)).total
            state.exchanges.append(
                Exchange(url: request.url, asked: asked, askedAgain: again, idleTimeout: request.idleTimeout))
            return state.exchanges.count - 1
        }
        var impatient = request
        impatient.idleTimeout = min(request.idleTimeout, silenceLimit)
        impatient.connectTimeout = min(request.connectTimeout, silenceLimit)
        let response = try await base.execute(impatient)
        state.withLock { $0.exchanges[index].status = response.status }
        let start = response.status == 206 ? asked.lowerBound : 0
        let chunks = response.body.makeAsyncIterator()
        let waiting = Locked<ArraySlice<UInt8>>([])
        let body = HTTPBody { [self] in
            if waiting.withLock({ $0.isEmpty }) {
                var copy = chunks
                guard let chunk = try await copy.next() else { return nil }
                waiting.withLock { $0 = chunk[...] }
            }
            let most = try await beforePiece(response.headers)
            let piece = waiting.withLock { waiting in
                defer { waiting = waiting.dropFirst(most) }
                return Array(waiting.prefix(most))
            }
            note(piece.count, at: start, of: index)
            return piece
        }
        return HTTPResponse(status: response.status, headers: response.headers, url: response.url, body: body)
    }

    private func note(_ count: Int, at start: UInt64, of index: Int) {
        state.withLock { state in
            let from = start + state.exchanges[index].taken
            let bytes = RangeSet(from..<from + UInt64(count))
            state.takenAgain += state.taken.intersection(bytes).total
            state.taken.formUnion(bytes)
            state.exchanges[index].taken += UInt64(count)
        }
    }
}

extension RangeSet<UInt64> {
    /// The number of values in the set.
    package var total: UInt64 { ranges.reduce(0) { $0 + UInt64($1.count) } }
}

/// The range that a `Range` header requests of a file of `size` bytes; empty for a range outside of it.
func askedRange(_ header: String?, size: UInt64) -> Range<UInt64> {
    switch ByteRange.request(header, size: size) {
    case .whole: 0..<size
    case .part(let part): part.start..<part.end
    case .unsatisfiable: size..<size
    }
}
