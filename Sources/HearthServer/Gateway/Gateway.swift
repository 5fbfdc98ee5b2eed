import Foundation
import HearthBase
import HearthDatabase
import HearthHTTP

/// A gateway's replies: `POST /models/address`, `POST /ai/chat` and `GET /agent/health`.
///
/// Every decision is a line of the audit log. A client that has left is not waited for: its credit is settled or given back
/// in a task of its own.
package struct Gateway: Sendable {
    let store: GatewayStore
    /// `nil` if no bucket is set up.
    let signer: AddressSigner?
    /// `nil` if no cloud model is set up.
    let relay: ChatRelay?
    let audit: AuditLog
    let time: TimeSource
    /// Begins a request of a key; returns the seconds to wait if there are too many.
    var begin: @Sendable (_ key: String, _ request: String) -> Int? = { _, _ in nil }

    /// The largest body of a question for an address.
    private static let questionLimit = 16 << 10
    /// The longest name of a turn.
    private static let turnLimit = 256

    package init(
        store: GatewayStore, signer: AddressSigner?, relay: ChatRelay?, audit: AuditLog, time: TimeSource = .system
    ) {
        self.store = store
        self.signer = signer
        self.relay = relay
        self.audit = audit
        self.time = time
    }

    /// The reply to a request.
    func reply(to request: ServerRequest) async -> ServerReply {
        switch (request.target.path, request.method) {
        case ("/agent/health", "GET"), ("/agent/health", "HEAD"): return await health()
        case ("/models/address", "POST"): return await address(request)
        case ("/ai/chat", "POST"): return await chat(request)
        case ("/agent/health", _): return GatewayRefusal.methodNotAllowed(allowed: "GET, HEAD").reply
        case ("/models/address", _), ("/ai/chat", _): return GatewayRefusal.methodNotAllowed(allowed: "POST").reply
        default: return GatewayRefusal.notFound.reply
        }
    }

    /// Whether the gateway can decide: for balancers, and for clients before they choose the cloud. Asks no cloud.
    private func health() async -> ServerReply {
        do {
            try await store.check()
            return .json(
                .object([
                    "status": .string("ok"), "chat": .boolean(relay != nil), "download": .boolean(signer != nil),
                ]))
        } catch {
            return GatewayRefusal.storeUnavailable.reply
        }
    }

    // MARK: Addresses

    private func address(_ request: ServerRequest) async -> ServerReply {
        var entry = AuditLog.Entry(action: .address, outcome: .refused, request: request.id)
        do {
            let key = try await admit(request, .download, &entry)
            guard let signer else { throw GatewayRefusal.notOffered(.download) }
            let body = try await self.body(of: request, limit: Self.questionLimit)
            // A body that is no JSON is refused like one without the field.
            guard let members = (try? JSONValue(parsing: Data(body)))?.members,
                case .string(let location)? = members["location"]
            else { throw GatewayRefusal.badRequest("the body must be {\"location\": \"ADDRESS\"}") }
            guard let object = signer.object(of: location) else { throw GatewayRefusal.locationNotServed }
            entry.object = object.path
            let now = time.now
            guard try await store.countAddress(key, at: now) else {
                throw GatewayRefusal.overQuota(retryAfter: 86_400 - now.wholeSeconds % 86_400)
            }
            let url = try signer.address(of: object, at: now)
            (entry.outcome, entry.seconds) = (.allowed, signer.lifetime)
            await audit.record(entry)
            return .json(
                .object(["url": .string(url.absoluteString), "expiresIn": .integer(signer.lifetime)]))
        } catch {
            return await refuse(error, &entry)
        }
    }

    // MARK: Chat

    private func chat(_ request: ServerRequest) async -> ServerReply {
        var entry = AuditLog.Entry(action: .chat, outcome: .refused, request: request.id)
        do {
            let key = try await admit(request, .chat, &entry)
            guard let relay else { throw GatewayRefusal.notOffered(.chat) }
            let turn = request.headers["X-Hearth-Turn"]
            guard turn.map({ (1...Self.turnLimit).contains($0.utf8.count) }) ?? true else {
                throw GatewayRefusal.badRequest("X-Hearth-Turn has 1 to \(Self.turnLimit) bytes")
            }
            let body = try await relay.checked(self.body(of: request, limit: ChatRelay.bodyLimit))
            let pass = GatewayPass(turn: turn)
            switch try await store.take(pass, of: key, at: time.now) {
            case .noCredits:
                entry.credits = 0
                throw GatewayRefusal.noCredits
            case .exhausted: throw GatewayRefusal.turnExhausted
            case .taken(let left):
                (entry.outcome, entry.credits) = (.allowed, left)
                await audit.record(entry)
                return await answer(request, body, pass, key, relay, entry)
            }
        } catch {
            var reply = await refuse(error, &entry)
            if error as? GatewayRefusal == .noCredits { reply.headers["X-Hearth-Credits"] = "0" }
            return reply
        }
    }

    /// Asks the cloud for a pass that is paid for.
    private func answer(
        _ request: ServerRequest, _ body: [UInt8], _ pass: GatewayPass, _ key: GatewayKey, _ relay: ChatRelay,
        _ allowed: AuditLog.Entry
    ) async -> ServerReply {
        var entry = allowed
        do {
            let begun = try await relay.begin(body, ChatProgress.Mode(accept: request.headers["Accept"]))
            // The cloud has read the question, also one that it does not answer.
            let left = await end(pass, begun.hasToken ? .settled : .forgiven, key, &entry)
            var reply = ServerReply(
                status: 200,
                headers: [
                    "Content-Type": begun.mode.contentType, "Cache-Control": "no-store",
                    "X-Content-Type-Options": "nosniff",
                    // Proxies such as nginx would keep pieces back otherwise.
                    "X-Accel-Buffering": "no",
                ], body: .stream { writer in try await relay.write(begun, to: writer) })
            if let left { reply.headers["X-Hearth-Credits"] = "\(left)" }
            return reply
        } catch {
            let refusal = error as? GatewayRefusal
            entry.code = refusal?.code ?? "client-left"
            // The cloud has read a question that it refuses, and may have thought about one that took too long.
            let isOfClient = refusal.map { $0.code == "cloud-refused" || $0.cameTooLate } ?? true
            let left = await end(pass, isOfClient ? .forgiven : .returned, key, &entry)
            var reply = (refusal ?? .storeUnavailable).reply
            if let left { reply.headers["X-Hearth-Credits"] = "\(left)" }
            return reply
        }
    }

    /// Settles a pass or gives its credit back, also if the client has left.
    /// - Returns: the credits left; `nil` if they are not counted.
    private func end(
        _ pass: GatewayPass, _ wanted: GatewayPass.End, _ key: GatewayKey, _ entry: inout AuditLog.Entry
    ) async -> Int? {
        guard key.credits != nil else { return nil }
        let (store, now, request, known) = (store, time.now, entry.request, entry.credits)
        // A task of its own: that of the request is cancelled when the client leaves.
        let (end, left) = await Task {
            do {
                let end = try await store.end(pass, wanted, of: key)
                return (end, try await store.creditsLeft(of: key, at: now))
            } catch {
                // An open pass is given back by the next request of the key that comes ten minutes later.
                Log.write(.error, "gateway", "a credit stays open", [.text("request", request), .error(error)])
                return (wanted, known)
            }
        }.value
        (entry.outcome, entry.credits) = (end == .settled ? .settled : .returned, left)
        await audit.record(entry)
        return left
    }

    // MARK: Checks

    /// The key of a request that may use a route.
    private func admit(
        _ request: ServerRequest, _ scope: GatewayScope, _ entry: inout AuditLog.Entry
    ) async throws -> GatewayKey {
        guard let text = RequestGuard.presentedKey(request.headers), !text.isEmpty else {
            throw GatewayRefusal.keyRequired
        }
        guard let key = try await store.key(text) else { throw GatewayRefusal.unknownKey }
        entry.key = key.id
        if let refusal = key.refusal(for: scope, at: time.now) { throw refusal }
        if let seconds = begin(key.id, request.id) { throw GatewayRefusal.rateLimited(retryAfter: seconds) }
        return key
    }

    private func body(of request: ServerRequest, limit: Int) async throws -> [UInt8] {
        do {
            return try await request.body.collect(limit: limit)
        } catch let error as ServerError where error.code == .bodyTooLarge {
            throw GatewayRefusal.bodyTooLarge
        }
    }

    private func refuse(_ error: any Error, _ entry: inout AuditLog.Entry) async -> ServerReply {
        let refusal: GatewayRefusal
        switch error {
        case let known as GatewayRefusal: refusal = known
        case is DatabaseError:
            Log.write(.error, "gateway", "the records cannot be used", [.error(error)])
            refusal = .storeUnavailable
        case let error as ServerError where error.code == .clientLeft: refusal = .badRequest("the client left")
        default:
            // Cancelled: the client has left, and gets no reply.
            refusal = .badRequest("the request ended early")
        }
        (entry.outcome, entry.code) = (.refused, refusal.code)
        await audit.record(entry)
        return refusal.reply
    }
}
