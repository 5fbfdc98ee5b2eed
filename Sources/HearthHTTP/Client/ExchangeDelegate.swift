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
        var received: UInt64 = 0
        var expected: UInt64?
        /// The bytes that arrived after the task was suspended.
        var unread = 0
        /// Why this delegate ended the task; more specific than the session's error.
        var refusal: HTTPError?
        var clock: Task<Void, Never>?
    }

    /// The most bytes that a suspended task may still deliver.
    static let mostUnread = 64 << 20

    private let entries = Locked<[URLSessionTask: Entry]>([:])

    /// Starts a task.
    func begin(_ task: URLSessionTask, _ exchange: Exchange) {
        let clock = exchange.hop.totalTimeout.map { total in
            Task { [weak self] in
                guard (try? await Task.sleep(for: total)) != nil else { return }
                self?.refuse(task, .timedOut(exchange.hop.address, .total, after: total))
            }
        }
        entries.withLock { $0[task] = Entry(exchange: exchange, clock: clock) }
        task.resume()
    }

    /// Ends a task whose consumer is gone.
    func cancel(_ task: URLSessionTask) {
        entries.withLock { $0.removeValue(forKey: task) }?.clock?.cancel()
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
        let head = ResponseHead(status: response.statusCode, headers: Self.headers(of: response))
        let hop = entry.exchange.hop
        let hasBody = hop.method != "HEAD" && head.status != 204 && head.status != 304
        let expected = hasBody ? head.headers["Content-Length"].flatMap { UInt64($0) } : nil
        if let limit = hop.maximumBodySize, let expected, expected > limit {
            entries.withLock { $0[dataTask]?.refusal = .tooLarge(hop.address, limit: limit, found: expected) }
            completionHandler(.cancel)
            return
        }
        entries.withLock { $0[dataTask]?.expected = expected }
        entry.exchange.receiveHead(head)
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        guard let entry = entries.withLock({ $0[dataTask] }) else { return }
        let hop = entry.exchange.hop
        if let limit = hop.maximumBodySize, UInt64(data.count) > limit - min(limit, entry.received) {
            refuse(dataTask, .tooLarge(hop.address, limit: limit, found: entry.expected))
            return
        }
        let expected = entry.expected.map { $0 >= entry.received ? $0 - entry.received : 0 }
        let mayContinue = data.withUnsafeBytes { entry.exchange.receive($0, expected: expected) }
        entry.exchange.flush()
        let unread = entries.withLock { entries -> Int in
            entries[dataTask]?.received += UInt64(data.count)
            entries[dataTask]?.unread = mayContinue ? 0 : entry.unread + data.count
            return entries[dataTask]?.unread ?? 0
        }
        guard !mayContinue else { return }
        if unread > Self.mostUnread {
            refuse(dataTask, .lost(hop.address, found: "more bytes than were asked for"))
        } else if unread == data.count {
            dataTask.suspend()
        }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        guard let entry = entries.withLock({ $0.removeValue(forKey: task) }) else { return }
        entry.clock?.cancel()
        if let refusal = entry.refusal {
            entry.exchange.finish(.failure(refusal))
        } else if let error {
            entry.exchange.finish(.failure(HTTPError(error, hop: entry.exchange.hop)))
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
    init(_ error: any Error, hop: Hop) {
        let address = hop.address
        var context = ErrorContext(url: address.display)
        guard let failure = error as? URLError else {
            self = .lost(address, found: "no answer")
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
        case .badURL, .unsupportedURL:
            self.init(
                .unsupportedURL, "\(address.display) is not an address that can be used", context: context,
                disposition: .usage, underlying: error)
        case .badServerResponse, .cannotParseResponse, .cannotDecodeRawData, .cannotDecodeContentData:
            self = .badResponse(address, found: "error \(failure.code.rawValue)", underlying: error)
        default:
            self.init(
                .connectionLost, "the connection to \(address.hostText) was lost", context: context,
                disposition: .tryLater, underlying: error)
        }
    }
}
#endif
