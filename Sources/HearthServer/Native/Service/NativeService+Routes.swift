import Foundation
import HearthBase
import HearthHTTP

/// A document as it is.
struct AnyBody: Codable, Sendable, Hashable {}

extension NativeService {
    /// All routes.
    static func routes(_ service: NativeService) -> [NativeRoute] {
        stateRoutes(service) + LibraryRoutes(desk: service.library).all + ChatRoutes(desk: service.chats).all
            + actionRoutes(service) + wordRoutes(service) + storeRoutes(service) + settingRoutes(service)
            + RingRoutes(desk: service.rings).all
            + DocumentRoutes(desk: service.chats).all
            + ClassifyRoutes(service: service).all + deviceRoutes(service)
    }

    /// The events and the state.
    private static func stateRoutes(_ service: NativeService) -> [NativeRoute] {
        [
            .raw(
                "GET", "/events", "Follow all changes (Server-Sent Events)",
                query: [("after", "the id of the last event that the client has; Last-Event-ID comes first")],
                mediaType: "text/event-stream"
            ) { call in
                var feed = EventFeed(log: service.log, version: service.home.version, time: service.home.time)
                if call.request.caller == .page, let id = service.home.sessions.id(of: call.request) {
                    feed.isOpen = { [sessions = service.home.sessions] in sessions.isSignedIn(id) }
                }
                return feed.reply(after: call.request.headers["Last-Event-ID"] ?? call.query("after"))
            },
            .plain("GET", "/state", "Everything that the page needs at its start") { _ in await service.state() },
            .plain("GET", "/upstreams", "The other servers whose models are served, and their requests") { _ in
                UpstreamsBody(upstreams: await service.home.upstreams)
            },
            .plain("GET", "/route", "The engine that answers now, and why") { _ in await service.route() },
            .json("PUT", "/route", "Let local models answer everything, or not", example: #"{"forceLocal": true}"#) {
                (_, order: RouteOrder) in
                try await service.changeSettings(["routing.forceLocal": order.forceLocal ? "true" : nil])
                return await service.route()
            },
        ]
    }
}
