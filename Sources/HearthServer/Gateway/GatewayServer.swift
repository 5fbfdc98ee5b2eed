import HearthBase

/// A gateway on the network: the listener, and the limits of each key in this process.
package final class GatewayServer: Sendable {
    private struct State {
        var limits: CallerLimits
        /// The keys of requests that run, by the request's id.
        var counted: [String: String] = [:]
    }

    private let listener: HTTPListener
    private let gateway: Gateway

    /// The address with the actual port.
    package var addresses: [ListeningAddress] { listener.addresses }

    /// Starts to listen. Blocks.
    /// - Throws: ``ServerError`` with `cannot-listen`.
    package init(
        _ gateway: Gateway, on sockets: [ListeningSocket], identity: ServerIdentity? = nil,
        bounds: CallerLimits.Bounds = CallerLimits.Bounds(), log: (@Sendable (String) -> Void)? = nil
    ) throws {
        let state = Locked(State(limits: CallerLimits(bounds)))
        let clock = gateway.time.stopwatch()
        var gateway = gateway
        gateway.begin = { key, request in
            let now = clock.elapsed
            return state.withLock { state -> Int? in
                if let wait = state.limits.begin(key, at: now) { return wait }
                state.counted[request] = key
                return nil
            }
        }
        self.gateway = gateway
        var limits = ListenerLimits()
        limits.bodyBytes = UInt64(ChatRelay.bodyLimit)
        listener = try HTTPListener(
            sockets, limits: limits, identity: identity, time: gateway.time,
            finished: { exchange in
                state.withLock { state in
                    if let key = state.counted.removeValue(forKey: exchange.id) { state.limits.end(key) }
                }
                log?(exchange.gatewayLogLine)
            }, respond: { [gateway] in await gateway.reply(to: $0) })
    }

    /// Ends in order: answers on their way have `grace`, credits are settled or given back.
    package func stop(grace: Duration = .seconds(5)) async {
        await listener.stop(grace: grace)
        await gateway.store.close()
    }
}

extension FinishedExchange {
    /// A line of the access log: id, peer, method, path without its query, status, bytes, milliseconds.
    fileprivate var gatewayLogLine: String {
        let path = String(target.prefix { $0 != "?" })
        let milliseconds = Int((duration.seconds * 1000).rounded())
        let words = [
            id, Self.word(peer), Self.word(method), Self.word(path), "\(status)", "\(bodyBytes)",
            "\(milliseconds)ms",
        ]
        return words.joined(separator: " ") + (isComplete ? "" : " aborted")
    }
}
