import Foundation
import FoundationNetworking
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthHTTP

/// What Apple's session tells its delegate and FoundationNetworking's does not, told by these tests: tasks of a server that
/// stays silent, whose responses, bytes and errors are played.
@Suite(.timeLimit(.minutes(2))) struct SessionTests {
    /// One server for all tests: FoundationNetworking ends the process if a task is cancelled while its connection breaks.
    static let silent = Result { () throws -> FaultServer in
        let gate = Gate()
        return try FaultServer { _ in Reply.text("late").stalledBeforeHead(at: gate) }
    }

    let delegate = ExchangeDelegate()
    let session = URLSession(configuration: .ephemeral)
    let server: FaultServer

    init() throws { server = try Self.silent.get() }

    /// Begins a task, and tells it a head if there is one.
    private func begin(
        head: [String: String]? = [:], status: Int = 200, change: (inout HTTPRequest) -> Void = { _ in }
    ) throws -> (task: URLSessionDataTask, exchange: Exchange) {
        var request = HTTPRequest(try server.url("/"))
        change(&request)
        let task = session.dataTask(with: URLRequest(url: request.url))
        let exchange = Exchange(id: 1, hop: try Hop(request)) { [delegate] _ in delegate.resume(task) }
        delegate.begin(task, exchange)
        if let head {
            let response = try #require(
                HTTPURLResponse(url: request.url, statusCode: status, httpVersion: "HTTP/1.1", headerFields: head))
            delegate.urlSession(session, dataTask: task, didReceive: response) { _ in }
        }
        return (task, exchange)
    }

    private func error(_ exchange: Exchange) async -> HTTPError? {
        do {
            while try await exchange.next() != nil {}
            return nil
        } catch { return error as? HTTPError }
    }

    @Test(arguments: [
        (URLError.Code.networkConnectionLost, ErrorCode<HTTPErrorDomain>.connectionLost),
        (.cannotFindHost, .cannotResolve),
        (.dnsLookupFailed, .cannotResolve), (.cannotConnectToHost, .cannotConnect),
        (.notConnectedToInternet, .cannotConnect), (.dataNotAllowed, .cannotConnect), (.timedOut, .timedOut),
        (.secureConnectionFailed, .tlsFailure), (.serverCertificateUntrusted, .tlsFailure),
        (.serverCertificateHasBadDate, .tlsFailure), (.cannotParseResponse, .badResponse),
        (.badServerResponse, .badResponse), (.unsupportedURL, .badResponse), (.unknown, .connectionLost),
    ])
    func anErrorBeforeTheHeadHasItsCode(_ code: URLError.Code, _ expected: ErrorCode<HTTPErrorDomain>) async throws {
        let (task, exchange) = try begin(head: nil)
        delegate.urlSession(session, task: task, didCompleteWithError: URLError(code))
        let error = await error(exchange)
        #expect(error?.code == expected)
        if code == .networkConnectionLost { #expect(error?.context.found == "no answer") }
        task.cancel()
    }

    @Test func aLostConnectionTellsHowMuchArrived() async throws {
        let (task, exchange) = try begin(head: ["Content-Length": "100"])
        delegate.urlSession(session, dataTask: task, didReceive: Data(count: 40))
        delegate.urlSession(session, task: task, didCompleteWithError: URLError(.networkConnectionLost))
        let error = await error(exchange)
        #expect(error?.context.expected == "100 bytes")
        #expect(error?.context.found == "40 bytes")
        #expect(error?.disposition == .tryLater)
        task.cancel()
    }

    /// A flood that a session accepts, also as interim answers, which it does not pass on.
    @Test(arguments: [(261_000, true), (263_000, false)])
    func aHeadHasALimit(_ size: Int, _ isAccepted: Bool) async throws {
        let (task, exchange) = try begin(head: ["X-Flood": String(repeating: "x", count: size)])
        delegate.urlSession(session, task: task, didCompleteWithError: isAccepted ? nil : URLError(.cancelled))
        #expect(await error(exchange)?.code == (isAccepted ? nil : .badResponse))
        task.cancel()
    }

    /// A consumer who waits suspends the task once, and its next read resumes it; what is on its way is taken.
    @Test func aConsumerWhoWaitsSuspendsTheTask() async throws {
        let (task, exchange) = try begin()
        func suspensions() -> Int { URLSessionTask.suspensions.withLock { $0[ObjectIdentifier(task)] ?? 0 } }
        delegate.urlSession(session, dataTask: task, didReceive: Data(count: 1 << 20))
        #expect(suspensions() == 0)
        for _ in 0..<8 { delegate.urlSession(session, dataTask: task, didReceive: Data(count: 1 << 20)) }
        #expect(suspensions() == 1)
        #expect(try await exchange.next()?.count == 9 << 20)
        for _ in 0..<3 { delegate.urlSession(session, dataTask: task, didReceive: Data(count: 1 << 20)) }
        #expect(suspensions() == 2)
        delegate.urlSession(session, task: task, didCompleteWithError: nil)
        #expect(try await exchange.next()?.count == 3 << 20)
        #expect(try await exchange.next() == nil)
        task.cancel()
    }

    /// A session that ignores suspensions cannot fill the memory: the exchange ends, and a transfer asks for the rest.
    @Test func unreadBytesHaveALimit() async throws {
        let (task, exchange) = try begin()
        var sent = 0
        while sent < ExchangeDelegate.mostUnread + (4 << 20) {
            delegate.urlSession(session, dataTask: task, didReceive: Data(count: 1 << 20))
            sent += 1 << 20
        }
        delegate.urlSession(session, dataTask: task, didReceive: Data(count: 1 << 20))
        delegate.urlSession(session, task: task, didCompleteWithError: URLError(.cancelled))
        var received = 0
        await #expect { while let chunk = try await exchange.next() { received += chunk.count } } throws: {
            ($0 as? HTTPError)?.code == .connectionLost && ($0 as? HTTPError)?.disposition == .tryLater
        }
        #expect((ExchangeDelegate.mostUnread..<sent).contains(received))
    }

    /// Longer silence than allowed, while the consumer is slow.
    @Test func aConsumerWhoTakesHisTimeIsNotSilence() async throws {
        let (task, exchange) = try begin { $0.idleTimeout = .milliseconds(50) }
        delegate.urlSession(session, dataTask: task, didReceive: Data(count: 3 << 20))
        let other = try begin { $0.idleTimeout = .milliseconds(200) }
        // The other task, whose consumer waits, ends after four times as long.
        let watched = Task { await error(other.exchange) }
        delegate.urlSession(session, dataTask: task, didReceive: Data(count: 1 << 20))
        while other.task.state != .canceling && other.task.state != .completed { await Task.yield() }
        delegate.urlSession(session, task: other.task, didCompleteWithError: URLError(.cancelled))
        #expect(await watched.value?.code == .timedOut)
        delegate.urlSession(session, task: task, didCompleteWithError: nil)
        #expect(try await exchange.next()?.count == 4 << 20)
        #expect(try await exchange.next() == nil)
        task.cancel()
    }

    /// The session decodes a compressed body, whose length is then another than the header's.
    @Test func aDecodedBodyIsPassedOnWithItsCoding() async throws {
        let (task, exchange) = try begin(head: ["Content-Encoding": "gzip", "Content-Length": "30"])
        #expect(try await exchange.head().headers.contentCoding == "gzip")
        delegate.urlSession(session, dataTask: task, didReceive: Data("short".utf8))
        delegate.urlSession(session, task: task, didCompleteWithError: nil)
        #expect(try await exchange.next() == Array("short".utf8))
        #expect(try await exchange.next() == nil)
        task.cancel()
    }

    /// A redirect is never followed by the session, which would keep headers that only the first host may see.
    @Test func theSessionFollowsNoRedirect() async throws {
        let (task, _) = try begin(head: nil)
        let target = URLRequest(url: try server.url("/", host: "localhost"))
        let response = try #require(
            HTTPURLResponse(url: target.url ?? server.url("/"), statusCode: 302, httpVersion: nil, headerFields: nil))
        let followed = Locked<[URLRequest?]>([])
        delegate.urlSession(session, task: task, willPerformHTTPRedirection: response, newRequest: target) { request in
            followed.withLock { $0.append(request) }
        }
        #expect(followed.withLock { $0 } == [nil])
        delegate.cancel(task)
    }
}
