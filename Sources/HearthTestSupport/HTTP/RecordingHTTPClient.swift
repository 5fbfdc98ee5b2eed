import Foundation
import HearthBase
import HearthHTTP

/// An HTTP client that notes which bytes of a file were asked for, and which were taken from the answers.
///
/// A server knows only what it gave to the system; what a client asked for twice, or threw away, shows here.
package final class RecordingHTTPClient: HTTPClient {
    /// One request, and what was taken from its answer.
    package struct Exchange: Sendable {
        package let url: URL
        /// The bytes asked for; all of them without a `Range` header.
        package let asked: Range<UInt64>
        /// The asked bytes that had been taken before this request was sent.
        package let askedAgain: UInt64
        package let idleTimeout: Duration
        /// `nil` until there is an answer.
        package internal(set) var status: Int?
        /// The bytes taken from the body.
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

    /// Notes what passes through `base`.
    /// - Parameters:
    ///   - size: the file's length, where a range without an end stops.
    ///   - silenceLimit: the longest silence this client waits for, whatever a request allows, so that tests are quick.
    ///   - beforePiece: called with the answer's headers before bytes are handed on; returns how many at most. What a
    ///     server sends bit by bit may come in one piece if this machine is busy.
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
    /// Every byte that was taken at least once.
    package var taken: RangeSet<UInt64> { state.withLock { $0.taken } }
    /// How many bytes were taken, each as often as it was.
    package var takenCount: UInt64 { state.withLock { $0.exchanges.reduce(0) { $0 + $1.taken } } }
    /// How many bytes were taken that had been taken before.
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
    /// How many numbers are in it.
    package var total: UInt64 { ranges.reduce(0) { $0 + UInt64($1.count) } }
}

/// What a `Range` header asks for of a file of `size` bytes; a range outside of it is empty.
func askedRange(_ header: String?, size: UInt64) -> Range<UInt64> {
    switch ByteRange.request(header, size: size) {
    case .whole: 0..<size
    case .part(let part): part.start..<part.end
    case .unsatisfiable: size..<size
    }
}
