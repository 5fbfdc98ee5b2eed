import Foundation
import HearthBase
import HearthHTTP

/// A server without a network: one file at every address, whole or in ranges, and a count of the read bytes. For tests
/// that fetch a file a thousand times.
package final class MemoryOrigin: HTTPClient {
    private struct State {
        var taken: UInt64 = 0
        var requests = 0
        var damage: Int?
    }

    private let content: Content
    private let step: UInt64
    private let entityTag: @Sendable (_ request: Int) -> String
    private let state: Locked<State>
    private let held: (start: UInt64, until: UInt64)?
    private let (gate, opening) = AsyncStream<Never>.makeStream()

    /// Serves a file.
    /// - Parameters:
    ///   - step: the most bytes of one piece.
    ///   - damage: the offset of a byte that is wrong the first time it is sent.
    ///   - held: the range that begins at `start` stops after its first piece until `until` bytes were read in total.
    ///   - entityTag: the entity tag of a response, by the number of its request from 0.
    package init(
        _ content: Content, step: UInt64 = 8 << 10, damage: Int? = nil, held: (start: UInt64, until: UInt64)? = nil,
        entityTag: @escaping @Sendable (_ request: Int) -> String = { _ in "\"v1\"" }
    ) {
        self.content = content
        self.step = step
        self.held = held
        self.entityTag = entityTag
        state = Locked(State(damage: damage))
    }

    /// The bytes read from all bodies so far.
    package var bytesTaken: UInt64 { state.withLock { $0.taken } }

    package func execute(_ request: HTTPRequest) async throws -> HTTPResponse {
        try Task.checkCancellation()
        let number = state.withLock { state in
            state.requests += 1
            return state.requests - 1
        }
        let tag = entityTag(number)
        var headers: HTTPHeaders = ["ETag": tag]
        let range: Range<UInt64>
        let status: Int
        let condition = request.headers["If-Range"]
        let asked = condition == nil || condition == tag ? request.headers["Range"] : nil
        switch ByteRange.request(asked, size: content.count) {
        case .whole: (range, status) = (0..<content.count, 200)
        case .unsatisfiable:
            headers["Content-Range"] = "bytes */\(content.count)"
            return HTTPResponse(status: 416, headers: headers, url: request.url, body: HTTPBody { nil })
        case .part(let part):
            headers["Content-Range"] = part.responseHeader(size: content.count)
            (range, status) = (part.start..<part.end, 206)
        }
        headers["Content-Length"] = "\(range.count)"
        let rest = Locked(range)
        let body = HTTPBody { [self] in
            try Task.checkCancellation()
            if let held, range.lowerBound == held.start, rest.withLock({ $0.lowerBound }) > held.start {
                for await _ in gate {}  // ends also with the task
                try Task.checkCancellation()
            }
            let next = rest.withLock { rest in
                let next = rest.lowerBound..<min(rest.lowerBound + step, rest.upperBound)
                rest = next.upperBound..<rest.upperBound
                return next
            }
            return next.isEmpty ? nil : take(next)
        }
        return HTTPResponse(status: status, headers: headers, url: request.url, body: body)
    }

    private func take(_ range: Range<UInt64>) -> [UInt8] {
        var bytes = [UInt8](content.slice(range).bytes)
        let taken = state.withLock { state in
            state.taken += UInt64(range.count)
            if let damage = state.damage, range.contains(UInt64(damage)) {
                bytes[damage - Int(range.lowerBound)] ^= 0x10
                state.damage = nil
            }
            return state.taken
        }
        if let held, taken >= held.until { opening.finish() }
        return bytes
    }
}
