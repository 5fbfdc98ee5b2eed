#if canImport(Darwin)
import Foundation
import HearthBase

/// Passes what a session receives to the exchanges of its tasks, on the session's queue.
///
/// A task is suspended while its consumer is slow; a suspended task produces no network traffic. What was already on the way is
/// still accepted, up to ``mostUnread``; a task that goes on beyond that is given up as a lost connection, so that memory stays
/// bounded. Requests of files are for ranges far below it.
final class ExchangeDelegate: NSObject, URLSessionDataDelegate, Sendable {
    private struct Entry {
        let exchange: Exchange
        var hasHead = false
        var received: UInt64 = 0
        var expected: UInt64?
        var isSuspended = false
        /// The bytes that arrived after the task was suspended.
        var unread = 0
        var lastBytes = ContinuousClock.now
        /// Why this delegate ended the task; more specific than the session's error.
        var refusal: HTTPError?
        var watch: Task<Void, Never>?
    }

    /// The most bytes that a suspended task may still deliver.
    static let mostUnread = 64 << 20

    private let entries = Locked<[URLSessionTask: Entry]>([:])

    /// Starts a task.
    func begin(_ task: URLSessionTask, _ exchange: Exchange) {
        entries.withLock { $0[task] = Entry(exchange: exchange) }
        let watch = Task { [weak self] in
            let begun = ContinuousClock.now
            while let next = self?.check(task, since: begun) {
                guard (try? await Task.sleep(until: next, clock: .continuous)) != nil else { return }
            }
        }
        entries.withLock { $0[task]?.watch = watch }
        task.resume()
    }

    /// Continues a task whose consumer has taken its bytes.
    func resume(_ task: URLSessionTask) {
        entries.withLock { entries in
            guard entries[task]?.isSuspended == true else { return }
            entries[task]?.isSuspended = false
            entries[task]?.unread = 0
            entries[task]?.lastBytes = .now
            task.resume()
        }
    }

    /// Ends a task that exceeds a time limit. A slow consumer is no silence.
    /// - Returns: the time of the next check; `nil` after the task's end.
    private func check(_ task: URLSessionTask, since begun: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        guard let entry = entries.withLock({ $0[task] }), entry.refusal == nil else { return nil }
        let (hop, now) = (entry.exchange.hop, ContinuousClock.now)
        let silent = (entry.isSuspended ? now : entry.lastBytes) + hop.idleTimeout
        let end = hop.totalTimeout.map { begun + $0 }
        if let end, now >= end {
            refuse(task, .timedOut(hop.address, .total, after: hop.totalTimeout ?? .zero))
            return nil
        }
        if now >= silent {
            refuse(task, .timedOut(hop.address, .idle, after: hop.idleTimeout))
            return nil
        }
        return end.map { min($0, silent) } ?? silent
    }

    /// Ends a task whose consumer is gone.
    func cancel(_ task: URLSessionTask) {
        entries.withLock { $0.removeValue(forKey: task) }?.watch?.cancel()
        task.cancel()
    }

    private func refuse(_ task: URLSessionTask, _ error: HTTPError) {
        let isKnown = entries.withLock { entries in
            guard entries[task] != nil else { return false }
            entries[task]?.refusal = error
            return true
        }
        if isKnown { task.cancel() }
    }

    // MARK: Called by the session

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        // The redirect's own response is delivered, and the policy decides.
        completionHandler(nil)
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        guard let entry = entries.withLock({ $0[dataTask] }), let response = response as? HTTPURLResponse else {
            completionHandler(.cancel)
            return
        }
        var headers = Self.headers(of: response)
        let hop = entry.exchange.hop
        /// Cancels the task after its head: the other answer does not close the connection on every system.
        func refuseBody(_ error: HTTPError) {
            entries.withLock { $0[dataTask]?.refusal = error }
            completionHandler(.allow)
            dataTask.cancel()
        }
        let size = headers.fields.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count + 4 }
        let problem = size > ResponseHeadParser.limit ? "more than \(ResponseHeadParser.limit) bytes of headers" : nil
        if let problem = problem ?? headers.settleLength() {
            return refuseBody(.badResponse(hop.address, found: problem))
        }
        let head = ResponseHead(status: response.statusCode, headers: headers)
        let hasBody = hop.method != "HEAD" && head.status != 204 && head.status != 304
        let length = hasBody ? headers["Content-Length"].flatMap { UInt64($0) } : nil
        if let limit = hop.maximumBodySize, let length, length > limit {
            return refuseBody(.tooLarge(hop.address, limit: limit, found: length))
        }
        entries.withLock { entries in
            entries[dataTask]?.hasHead = true
            // The session decodes such a body, which then has another length.
            entries[dataTask]?.expected = headers.contentCoding == nil ? length : nil
            entries[dataTask]?.lastBytes = .now
        }
        entry.exchange.receiveHead(head)
        completionHandler(.allow)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) { entries.withLock { $0[task]?.lastBytes = .now } }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        guard let entry = entries.withLock({ $0[dataTask] }), entry.refusal == nil else { return }
        let hop = entry.exchange.hop
        let room = hop.maximumBodySize.map { $0 - min($0, entry.received) } ?? .max
        let allowed = data.prefix(Int(clamping: room))
        let expected = entry.expected.map { $0 >= entry.received ? $0 - entry.received : 0 }
        _ = allowed.withUnsafeBytes { entry.exchange.receive($0, expected: expected) }
        entry.exchange.flush()
        guard allowed.count == data.count else {
            refuse(dataTask, .tooLarge(hop.address, limit: hop.maximumBodySize ?? 0, found: entry.expected))
            return
        }
        let unread = entries.withLock { entries -> Int in
            guard var entry = entries[dataTask] else { return 0 }
            entry.received += UInt64(data.count)
            entry.lastBytes = .now
            // Asked under the lock that `resume` takes, so that a task is never suspended after its resumption.
            if !entry.isSuspended, entry.exchange.isPaused {
                entry.isSuspended = true
                dataTask.suspend()
            } else if entry.isSuspended {
                entry.unread += data.count
            }
            entries[dataTask] = entry
            return entry.unread
        }
        if unread > Self.mostUnread { refuse(dataTask, .lost(hop.address, found: "more bytes than were asked for")) }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        guard let entry = entries.withLock({ $0.removeValue(forKey: task) }) else { return }
        entry.watch?.cancel()
        if let refusal = entry.refusal {
            entry.exchange.finish(.failure(refusal))
        } else if let error {
            let found = entry.hasHead ? "\(entry.received) bytes" : "no answer"
            let failure = HTTPError(error, hop: entry.exchange.hop, expected: entry.expected, found: found)
            entry.exchange.finish(.failure(failure))
        } else if let expected = entry.expected, entry.received < expected {
            let found = "\(entry.received) bytes"
            entry.exchange.finish(
                .failure(HTTPError.lost(entry.exchange.hop.address, expected: expected, found: found)))
        } else {
            entry.exchange.finish(.success(()))
        }
    }

    private static func headers(of response: HTTPURLResponse) -> HTTPHeaders {
        var headers = HTTPHeaders()
        for (name, value) in response.allHeaderFields {
            if let name = name as? String, let value = value as? String { headers.append(name, value) }
        }
        return headers
    }
}

extension HearthError where Domain == HTTPErrorDomain {
    static func lost(_ address: HTTPAddress, expected: UInt64? = nil, found: String) -> Self {
        Self(
            .connectionLost, "the connection to \(address.hostText) was lost",
            context: ErrorContext(url: address.display, expected: expected.map { "\($0) bytes" }, found: found),
            disposition: .tryLater)
    }

    /// Translates an error of `URLSession`.
    /// - Parameters:
    ///   - expected: the declared length of the body.
    ///   - found: how much of the response arrived.
    init(_ error: any Error, hop: Hop, expected: UInt64?, found: String) {
        let address = hop.address
        var context = ErrorContext(url: address.display)
        guard let failure = error as? URLError else {
            self = .lost(address, expected: expected, found: found)
            return
        }
        switch failure.code {
        case .timedOut:
            self = .timedOut(address, .idle, after: hop.idleTimeout)
        case .cannotFindHost, .dnsLookupFailed:
            context.remedy = "Check the network and the name."
            self.init(
                .cannotResolve, "no machine named \(address.host) was found", context: context, disposition: .tryLater,
                underlying: error)
        case .cannotConnectToHost, .notConnectedToInternet, .internationalRoamingOff, .dataNotAllowed, .callIsActive:
            self.init(
                .cannotConnect, "no server answers at \(address.hostText)", context: context, disposition: .tryLater,
                underlying: error)
        case .secureConnectionFailed, .serverCertificateHasBadDate, .serverCertificateUntrusted,
            .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid, .clientCertificateRejected,
            .clientCertificateRequired, .appTransportSecurityRequiresSecureConnection:
            self.init(
                .tlsFailure, "no secure connection to \(address.hostText) could be made", context: context,
                underlying: error)
        // The address was checked before: these are about the server's protocol.
        case .badURL, .unsupportedURL,
            .badServerResponse, .cannotParseResponse, .cannotDecodeRawData, .cannotDecodeContentData:
            self = .badResponse(address, found: "error \(failure.code.rawValue)", underlying: error)
        default:
            context.expected = expected.map { "\($0) bytes" }
            context.found = found
            self.init(
                .connectionLost, "the connection to \(address.hostText) was lost", context: context,
                disposition: .tryLater, underlying: error)
        }
    }
}
#endif
