import HearthBase

/// A gateway on the network: the listener, and the limits of each key in this process.
package final class GatewayServer: Sendable {
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
        let counted = CountedRequests(bounds, time: gateway.time)
        var gateway = gateway
        gateway.begin = { counted.begin($1, of: $0) }
        self.gateway = gateway
        var limits = ListenerLimits()
        limits.bodyBytes = UInt64(ChatRelay.bodyLimit)
        // Behind a proxy all clients are one peer.
        limits.connectionsPerPeer = 4 * ListenerLimits.manyOfOnePeer
        listener = try HTTPListener(
            sockets, limits: limits, identity: identity, time: gateway.time,
            finished: { exchange in
                counted.end(exchange.id)
                log?(exchange.logLine())
            }, respond: { [gateway] in await gateway.reply(to: $0) })
    }

    /// Ends in order: answers on their way have `grace`, credits are settled or given back.
    package func stop(grace: Duration = .seconds(5)) async {
        await listener.stop(grace: grace)
        await gateway.store.close()
    }
}
