import Foundation
import HearthBase
import HearthHTTP
import HearthTestSupport

@testable import HearthServer

/// A listener on a free port with a responder of the test's own.
final class ServerFixture: Sendable {
    let address: ListeningAddress
    let log = ExchangeLog()
    let listener: HTTPListener

    init(
        limits: ListenerLimits = ListenerLimits(), identity: ServerIdentity? = nil,
        immediately: (@Sendable (inout ServerRequest) -> ServerReply?)? = nil, respond: @escaping Responder
    ) throws {
        let socket = try ListeningSocket(host: "127.0.0.1", port: 0)
        guard let address = socket.address else { throw RawConnection.Failure(number: 0) }
        self.address = address
        let log = log
        listener = try HTTPListener(
            [socket], limits: limits, identity: identity, finished: { log.append($0) }, immediately: immediately,
            respond: respond)
    }

    /// Runs a test's body on threads that may block, and stops the server whatever happens.
    static func with(
        limits: ListenerLimits = ListenerLimits(),
        immediately: (@Sendable (inout ServerRequest) -> ServerReply?)? = nil, respond: @escaping Responder,
        _ body: @Sendable (ServerFixture) async throws -> Void
    ) async throws {
        try await BlockingExecutor.run {
            let fixture = try ServerFixture(limits: limits, immediately: immediately, respond: respond)
            do {
                try await body(fixture)
            } catch {
                await fixture.listener.stop(grace: .zero)
                throw error
            }
            await fixture.listener.stop(grace: .zero)
        }
    }
}

/// A signal that a test waits for.
final class Signal: Sendable {
    private let stream: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation

    init() { (stream, continuation) = AsyncStream.makeStream(of: Void.self) }

    func send() {
        continuation.yield()
        continuation.finish()
    }

    /// Returns after ``send()``, also if that came first; at once if the task is cancelled.
    func wait() async { for await _ in stream { return } }
}
