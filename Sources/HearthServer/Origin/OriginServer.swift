#if Server
    import Foundation
    import HearthBase

    /// A model origin: serves one folder to every client, and nothing outside of it.
    ///
    /// ```swift
    /// let server = OriginServer(folder: Path("origin"))
    /// let address = try server.start()      // http://127.0.0.1:40123
    /// …
    /// await server.stop()
    /// ```
    /// `GET` and `HEAD` with single ranges, conditions and strong entity tags. A file that is replaced while it is being
    /// sent keeps its old bytes for that reply.
    public final class OriginServer: Sendable {
        /// Receives each exchange when it is over, on a thread of the server's own. Must not block for long.
        public typealias AccessLog = @Sendable (FinishedExchange) -> Void

        private let folder: Path
        private let configuration: HTTPListener.Configuration
        private let accessLog: AccessLog?
        private let state = Locked(State.idle)

        private enum State {
            case idle, starting
            case running(HTTPListener)
        }

        /// A server that does not listen yet.
        /// - Parameters:
        ///   - folder: what is served.
        ///   - address: an IPv4 or IPv6 literal; the default is reachable from this machine only.
        ///   - port: 0 takes a free one.
        ///   - accessLog: receives each exchange when it is over; `nil` for none.
        public init(folder: Path, address: String = "127.0.0.1", port: UInt16 = 0, accessLog: AccessLog? = nil) {
            self.folder = folder
            self.accessLog = accessLog
            configuration = HTTPListener.Configuration(address: address, port: port)
        }

        /// Starts to listen; requests are answered from now on.
        /// - Returns: the address with the port really taken.
        /// - Throws: ``ServerError`` with `port-in-use`, `permission`, `address-unavailable`, `folder-missing`,
        ///   `already-running` or `cannot-listen`.
        @discardableResult
        public func start() throws -> ListeningAddress {
            try state.withLock { state in
                guard case .idle = state else {
                    throw ServerError(.alreadyRunning, "the server for \(folder) is running already")
                }
                state = .starting
            }
            do {
                let site = OriginSite(folder: try OriginFolder(folder))
                let listener = try HTTPListener(configuration, finished: accessLog) { site.reply(to: $0) }
                state.withLock { $0 = .running(listener) }
                return listener.address
            } catch {
                state.withLock { $0 = .idle }
                throw error
            }
        }

        /// Stops to listen, lets replies that are on their way finish for at most `grace`, then closes every connection.
        public func stop(grace: Duration = .seconds(5)) async {
            let running = state.withLock { state -> HTTPListener? in
                guard case .running(let listener) = state else { return nil }
                state = .idle
                return listener
            }
            await running?.stop(grace: grace)
        }
    }

    /// Joins the decisions of ``OriginRouting`` with the files of one folder.
    struct OriginSite: Sendable {
        let folder: OriginFolder
        let routing = OriginRouting()

        func reply(to request: ServerRequest) -> ServerReply {
            switch routing.admit(method: request.method, target: request.target) {
            case .refuse(let refusal): return reply(to: refusal)
            case .open(let target):
                switch folder.find(target) {
                case .failure(let failure): return reply(to: failure)
                case .success(let found):
                    let decision = routing.reply(
                        method: request.method, headers: request.headers, target: target, facts: found.facts)
                    return reply(decision, found)
                }
            }
        }

        private func reply(_ decision: OriginRouting.Decision, _ found: OriginFolder.Found) -> ServerReply {
            let (body, range): (ServerReply.Body, ByteRange?) =
                switch decision.content {
                case .whole: (.file(found.file, offset: 0, count: found.facts.size), nil)
                case .part(let range): (.file(found.file, offset: range.first, count: range.count), range)
                case nil: (.bytes([]), nil)
                }
            return ServerReply(status: decision.status, headers: decision.headers, body: body, range: range)
        }

        private func reply(to refusal: OriginRouting.Refusal) -> ServerReply {
            switch refusal {
            case .badTarget: .text(refusal.status, "bad request target")
            case .forbidden: .text(refusal.status, "not readable")
            case .notFound: .text(refusal.status, "not found")
            case .methodNotAllowed: .text(refusal.status, "only GET and HEAD", headers: ["Allow": "GET, HEAD"])
            case .failed: .text(refusal.status, "the server could not read the file")
            case .busy: .text(refusal.status, "too many requests at once", headers: ["Retry-After": "1"])
            }
        }
    }
#endif
