import Foundation
import HearthBase
import HearthHTTP

/// The network half of one transfer: attempts, until the file is whole or there is no use in another one.
final class TransferSession: Sendable {
    private let request: TransferRequest
    private let http: any HTTPClient
    private let time: TimeSource
    private let part: PartFile
    private let reporter: ProgressReporter
    private let stopwatch: Stopwatch
    private let state: Locked<State>

    private struct State {
        var fetched: UInt64 = 0
        /// What the last response asked for with `Retry-After`.
        var requestedPause: Duration?
        var limiter: RateLimiter?
    }

    init(request: TransferRequest, http: any HTTPClient, time: TimeSource, part: PartFile, reporter: ProgressReporter) {
        self.request = request
        self.http = http
        self.time = time
        self.part = part
        self.reporter = reporter
        stopwatch = time.stopwatch()
        state = Locked(State(limiter: request.bytesPerSecond.map(RateLimiter.init)))
    }

    /// The bytes of body taken from the network so far.
    var fetchedBytes: UInt64 { state.withLock { $0.fetched } }

    /// Fetches what is missing; each failure that time may mend is followed by another attempt, at the next place.
    func run() async throws {
        guard let first = request.locations.first else {
            throw TransferError(
                .missing, "nobody says where \(request.label) is", context: ErrorContext(file: request.label))
        }
        if let exact = request.size.exact, await part.length == exact { return }
        var schedule = RetrySchedule()
        var holds = PlaceHolds()
        var attempt = 0
        while true {
            let before = await part.length
            let place = attempt % request.locations.count
            let location = request.locations[place]
            do {
                return try await fetchRest(from: location)
            } catch {
                let isElsewhere = attempt + 1 < request.locations.count && !(error is CancellationError)
                guard Self.isTemporary(error) || isElsewhere else { throw error }
                let jitter = Double.random(in: 0..<1)
                // Bytes that only replace others are no progress: a server without ranges would be asked for ever.
                let madeProgress = await part.length > before
                guard let delay = schedule.delay(afterFailureWith: madeProgress, jitter: jitter) else { throw error }
                if let requested = takeRequestedPause() {
                    holds.hold(place, for: requested, at: stopwatch.elapsed)
                }
                try await part.record()
                let own = location == first && isElsewhere ? .zero : delay
                let next = (attempt + 1) % request.locations.count
                let pause = holds.pause(before: next, own: own, at: stopwatch.elapsed)
                Log.write(.info, "delivery.transfer", "\(request.label): \(error); next attempt after \(pause)")
                try await time.sleep(for: pause)
                attempt += 1
            }
        }
    }

    /// One request, and what its answer asks for.
    private func fetchRest(from location: URL) async throws {
        let offset = await part.length
        reporter.report(.connecting, offset, request.size.exact)
        var query = HTTPRequest(location)
        query.headers["Accept-Encoding"] = "identity"
        query.idleTimeout = StallWatch.window
        if offset > 0 {
            query.headers["Range"] = "bytes=\(offset)-"
            query.headers["If-Range"] = await part.entityTag
        }
        let response = try await http.execute(query)
        let requested = RetryAfter.pause(status: response.status, response.headers["Retry-After"], now: time.now)
        state.withLock { $0.requestedPause = requested }
        let policy = ResponsePolicy(label: request.label, size: request.size, offset: offset)
        switch try policy.decide(status: response.status, headers: response.headers, url: response.url) {
        case .append(let total):
            try await receive(response, total: total)
        case .restart(let total):
            try await part.restart()
            try await receive(response, total: total)
        case .complete:
            return
        case .askFromStart:
            try await part.restart()
            try await fetchRest(from: location)
        }
    }

    private func receive(_ response: HTTPResponse, total: UInt64?) async throws {
        let tag = response.headers["ETag"].flatMap { $0.hasPrefix("W/") ? nil : $0 }
        try await part.begin(total: total, entityTag: tag)
        var length = await part.length
        // One chunk is written while the next one arrives.
        var writing: Task<Void, any Error>?
        var watch = StallWatch()
        do {
            var chunks = response.body.makeAsyncIterator()
            var asked = stopwatch.elapsed
            while let chunk = try await chunks.next() {
                let waited = stopwatch.elapsed - asked
                try await writing?.value
                writing = Task { [part, request] in try await part.append(chunk, label: request.label) }
                length += UInt64(chunk.count)
                reporter.report(.downloading, length, total)
                let pause = account(for: chunk.count)
                let isStalled = watch.isStalled(afterWaiting: waited, for: chunk.count)
                if isStalled && length != total { throw stalled(response.url) }
                if pause > .zero { try await time.sleep(for: pause) }
                asked = stopwatch.elapsed
            }
            try await writing?.value
        } catch {
            // What arrived is written before anybody asks how much that is.
            _ = await writing?.result
            throw error
        }
        guard let total, length < total else { return }
        throw HTTPError(
            .connectionLost, "the connection broke while \(request.label) was arriving",
            context: ErrorContext(
                file: request.label, url: response.url.withoutQuery, expected: "\(total) bytes",
                found: "\(length) bytes"),
            disposition: .tryLater)
    }

    private func stalled(_ url: URL) -> HTTPError {
        HTTPError(
            .timedOut, "the server all but stopped sending \(request.label)",
            context: ErrorContext(
                file: request.label, url: url.withoutQuery,
                expected: "\(StallWatch.minimumBytes) bytes in \(StallWatch.window)",
                remedy: "Try again later; received bytes are kept."),
            disposition: .tryLater)
    }

    private func account(for bytes: Int) -> Duration {
        let now = stopwatch.elapsed
        return state.withLock { state in
            state.fetched += UInt64(bytes)
            return state.limiter?.take(bytes, at: now) ?? .zero
        }
    }

    private func takeRequestedPause() -> Duration? {
        state.withLock { state in
            defer { state.requestedPause = nil }
            return state.requestedPause
        }
    }

    private static func isTemporary(_ error: any Error) -> Bool {
        (error as? any HearthFailure)?.disposition == .tryLater
    }
}
