import Foundation
import HearthBase
import HearthHTTP

extension TransferSession {
    /// The bytes that all connections' buffers may hold while the disk is slow. A kill loses up to twice as many,
    /// because one buffer is written while the next one fills. Just after connections were added, the older ones still
    /// have larger buffers: at most half as many bytes again.
    private static let bufferBudget = 2 << 20
    /// How often in a row a fresh address may be refused.
    private static let maximumRefusals = 2

    /// Fetches a job's bytes, with a fresh address if the known one has expired.
    /// - Parameter requested: set to the pause that the server asks for.
    package func fetchBytes(of job: SessionState.Job, _ requested: inout Duration?) async throws {
        var address = try await addresses.address(of: job.source)
        var refusals = 0
        var here = state.withLock { $0.here }
        while true {
            do {
                // A second request follows at most once: it has no condition.
                while try await !exchange(job, at: address.url, &requested) {}
                return
            } catch let error as TransferError where error.code == .accessDenied {
                let hereNow = state.withLock { $0.here }
                // Addresses that bring bytes are renewed without limit.
                if hereNow > here { (here, refusals) = (hereNow, 0) }
                guard addresses.isRenewable(job.source), refusals < Self.maximumRefusals else { throw error }
                refusals += 1
                Log.write(.info, "\(request.label): the address has expired; asking for another")
                address = try await addresses.address(of: job.source, refused: address)
            }
        }
    }

    /// Sends one request and handles its response.
    /// - Returns: `false` if the request has to be sent once more.
    private func exchange(_ job: SessionState.Job, at url: URL, _ requested: inout Duration?) async throws -> Bool {
        let epoch = await part.epoch
        if !state.withLock({ $0.isFlowing }) { report(.connecting, job) }
        let query = query(job, url)
        let response = try await http.execute(query)
        // There was a restart after the request: the response may be of another file.
        guard state.withLock({ $0.isCurrent(job) }) else { return true }
        requested = RetryAfter.pause(status: response.status, response.headers["Retry-After"], now: time.now)
        let policy = ResponsePolicy(
            label: request.label, size: request.size, asked: job.asked, isSigned: addresses.isRenewable(job.source))
        let tag = response.headers["ETag"].flatMap { $0.hasPrefix("W/") ? nil : $0 }
        let decision: ResponseDecision
        do {
            decision = try policy.decide(status: response.status, headers: response.headers, url: response.url)
        } catch let error as TransferError where error.code == .sizeMismatch {
            throw try await pointer(in: response) ?? error
        }
        switch decision {
        case .append(let total):
            let isPart = response.status == 206
            guard belongs(tag, of: job, isPart: isPart) else {
                guard isPart else {
                    try await takeWhole(response, job, total: total, tag: tag)
                    return true
                }
                if tag == nil { state.withLock { $0.forbidParts() } }
                try await restart(job, total: nil, giving: nil)
                return true
            }
            try await begin(job, isPart: isPart, total: total, tag: tag)
            let (isCurrent, length) = state.withLock { ($0.isCurrent(job), total ?? $0.schedule.total) }
            guard isCurrent else { return true }
            let end = isPart ? job.asked?.upperBound : nil
            try await receive(response, job, epoch: epoch, end: end.map { min($0, length ?? $0) } ?? length)
        case .restart(let total):
            let isAsLong = total == nil || state.withLock { ($0.schedule.total ?? total) == total }
            if request.digest != nil, let condition = query.headers["If-Range"], condition != tag, isAsLong {
                // The digest decides, not the tag: received bytes stay.
                Log.write(.info, "\(request.label): another entity tag; asking without it")
                tags.withLock { $0.distrust(job.source) }
                return false
            }
            try await takeWhole(response, job, total: total, tag: tag)
        case .complete:
            if !state.withLock({ $0.ends(job) }) { try await askFromStart(job, policy, response.url) }
        case .askFromStart:
            try await askFromStart(job, policy, response.url)
        }
        return true
    }

    /// The error of a response that is too short because it holds a pointer of Git LFS; `nil` for another one.
    private func pointer(in response: HTTPResponse) async throws -> TransferError? {
        guard let length = response.contentLength, length <= TransferError.maximumPointerSize else { return nil }
        let bytes = try await response.body.collect(upTo: Int(TransferError.maximumPointerSize))
        return TransferError(pointer: bytes, of: request, at: response.url)
    }

    /// Whether a response's body belongs to the bytes already received. With a digest it always may: the digest
    /// decides at the end.
    private func belongs(_ tag: String?, of job: SessionState.Job, isPart: Bool) -> Bool {
        if request.digest != nil { return true }
        let isFirst = state.withLock { $0.hasNothing }
        return tags.withLock { $0.vouch(for: tag, of: job.source, isPart: isPart, isFirst: isFirst) }
    }

    /// Receives the whole file in response to a request for a part: earlier bytes are void.
    private func takeWhole(
        _ response: HTTPResponse, _ job: SessionState.Job, total: UInt64?, tag: String?
    ) async throws {
        guard let fresh = try await restart(job, total: total, giving: job.worker) else { return }
        try await begin(fresh, isPart: false, total: total, tag: tag)
        try await receive(response, fresh, epoch: await part.epoch, end: total)
    }

    /// Restarts because a source lacks the requested bytes, if that may help.
    /// - Throws: ``TransferError`` if it cannot help.
    private func askFromStart(_ job: SessionState.Job, _ policy: ResponsePolicy, _ url: URL) async throws {
        guard state.withLock({ $0.mayAskFromStart(job) }) else { throw policy.unsatisfied(url) }
        try await restart(job, total: nil, giving: nil)
    }

    private func query(_ job: SessionState.Job, _ url: URL) -> HTTPRequest {
        var query = HTTPRequest(url)
        query.headers["Accept-Encoding"] = "identity"
        query.idleTimeout = StallWatch.window
        query.bodyBufferSize = Self.bufferBudget / max(4, state.withLock { $0.capacity })
        guard let asked = job.asked else { return query }
        query.headers["Range"] = "bytes=\(asked.lowerBound)-" + (job.isOpen ? "" : "\(asked.upperBound - 1)")
        query.headers["If-Range"] = tags.withLock { $0.condition(for: job.source) }
        return query
    }

    /// Notes a response's facts about the file, before its first byte.
    private func begin(_ job: SessionState.Job, isPart: Bool, total: UInt64?, tag: String?) async throws {
        // If there was a restart since the response was checked, its facts are void.
        guard state.withLock({ $0.isCurrent(job) }) else { return }
        let begun = EntityTags.Begun(total: total, source: job.source, tag: tag)
        let isNews = tags.withLock { tags in
            tags.note(tag, of: job.source)
            defer { tags.begun = begun }
            return tags.begun != begun
        }
        if isNews {
            let location = request.locations[job.source].withoutQuery
            try await part.begin(total: total, entityTag: tag, location: location)
        }
        state.withLock { $0.opened(job, isPart: isPart, total: total) }
        noteChange()
    }

    /// Forgets every unproven byte, because the server has another file now or sends no parts.
    ///
    /// Throws instead if another source has the file, or if this source caused too many restarts.
    /// - Parameter worker: the worker that already receives the whole file.
    /// - Returns: the job that continues with the whole file; `nil` if another worker has restarted already.
    @discardableResult
    private func restart(
        _ job: SessionState.Job, total: UInt64?, giving worker: Int?
    ) async throws -> SessionState.Job? {
        if state.withLock({ $0.board.hasOther(than: job.source) && $0.mode == .parts }) {
            throw changed(job, "the file at this address changed while \(request.label) was arriving")
        }
        let isMine = try state.withLock { state in
            guard state.isCurrent(job) else { return false }
            guard worker != nil || state.restarts.take(job.source) else {
                throw changed(job, "what comes from this address as \(request.label) is another file each time")
            }
            return state.claimRestart(job)
        }
        guard isMine else { return nil }
        try await part.restart()
        tags.withLock { $0.removeAll() }
        let now = stopwatch.elapsed
        let held = part.held
        let epoch = state.withLock { state in
            state.restart(held: held, total: total, giving: worker, at: now)
            return state.epoch
        }
        noteChange()
        return SessionState.Job(
            worker: job.worker, source: job.source, range: 0..<(total ?? request.size.limit), asked: nil, isOpen: true,
            epoch: epoch, began: job.began)
    }

    /// Receives the body of a response.
    /// - Parameter end: the end of the body as an offset in the file, `nil` if the server did not tell it.
    private func receive(_ response: HTTPResponse, _ job: SessionState.Job, epoch: Int, end: UInt64?) async throws {
        var offset = job.range.lowerBound
        var watch = StallWatch()
        var chunks = response.body.makeAsyncIterator()
        var asked = stopwatch.elapsed
        // While a chunk is written the next one gathers in the connection's buffer.
        while let chunk = try await chunks.next() {
            let now = stopwatch.elapsed
            let isTooLong = offset + UInt64(chunk.count) > end ?? request.size.limit
            if isTooLong { state.withLock { $0.refuse(job, tooLong()) } }
            let (accepted, pause, grows) = state.withLock { $0.received(chunk.count, by: job, at: now) }
            if grows { noteChange() }
            report(.downloading, job)
            if accepted > 0 {
                let bytes = accepted == chunk.count ? chunk : Array(chunk.prefix(accepted))
                try await write(bytes, at: offset, epoch: epoch)
            }
            offset += UInt64(accepted)
            if isTooLong { throw tooLong() }
            if watch.isStalled(afterWaiting: now - asked, for: chunk.count) && offset != end {
                throw stalled(response.url)
            }
            // Another worker has taken over the rest.
            if offset != end, state.withLock({ $0.isDone(job) }) { break }
            if pause > .zero { try await time.sleep(for: pause) }
            asked = stopwatch.elapsed
        }
        if end == nil { state.withLock { $0.settle(total: offset, by: job) } }
        guard let end, !state.withLock({ $0.isDone(job) }) else { return }
        throw HTTPError(
            .connectionLost, "the connection broke while \(request.label) was arriving",
            context: ErrorContext(
                file: request.label, url: response.url.withoutQuery, expected: "\(end) bytes",
                found: "\(offset) bytes"),
            disposition: .tryLater)
    }

    private func report(_ new: TransferState, _ job: SessionState.Job) {
        let (here, total, connections, fetched) = state.withLock {
            ($0.here, $0.schedule.total, $0.connections, $0.fetched)
        }
        reporter.report(
            new, here, total, fetched: fetched, connections: new == .downloading ? connections : 0,
            source: request.locations[job.source].host())
    }

    private func changed(_ job: SessionState.Job, _ message: String) -> TransferError {
        TransferError(
            .entityChanged, message,
            context: ErrorContext(file: request.label, url: request.locations[job.source].withoutQuery))
    }

    private func tooLong() -> TransferError {
        TransferError(
            .responseTooLong, "the server sent more than the promised bytes of \(request.label)",
            context: ErrorContext(file: request.label, expected: "at most \(request.size.limit) bytes"))
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
}
