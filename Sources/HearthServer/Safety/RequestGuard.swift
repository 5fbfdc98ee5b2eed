import Foundation
import HearthBase
import HearthHTTP

/// Decides whether a request is served, and with which rights, before its body is read.
///
/// A request passes four checks: its `Host` (a page whose name was rebound to this machine), its `Origin` (a page of
/// another site), its key, and its right to the route.
package struct RequestGuard: Sendable {
    /// The rules of a server.
    package struct Rules: Sendable, Hashable {
        /// Names under which this machine is asked, besides addresses and `localhost`.
        package var hosts: Set<String> = []
        /// Origins of pages that may call, such as `https://app.example.org`; none by default.
        package var allowedOrigins: Set<String> = []
        /// The user that owns the process.
        package var user: UInt32 = 0
        /// Whether programs on this machine need a key too.
        package var requiresKeys = false
        /// Whether the server's own addresses begin with https.
        package var usesTLS = false

        package init() {}
    }

    /// The right that a route needs.
    package enum Need: Sendable, Hashable {
        /// Health and readiness: open to every client that reaches the port, balancers too, which may name no host.
        case health
        /// Open to every client that reaches the port: the exchange of a one-time code.
        case nothing
        case scope(ServerScope)
        /// A browser with a session, for the files of the page, which it asks for without the page's secret.
        case page
        /// The owner, by the unix socket, a session of the page, or a key with the scope `admin`.
        case owner
    }

    /// A reason to refuse a request.
    package enum Refusal: Error, Sendable, Hashable {
        case foreignHost, foreignOrigin, noKey(ServerScope), badKey, noRight(ServerScope), noOwner
    }

    package var rules: Rules
    package var keys: AccessKeys
    /// What a cookie, and the secret of a page, prove.
    package var proof: @Sendable (_ cookie: String, _ page: String?) -> PageSessions.Proof

    /// The field with the secret of the page.
    static let pageField = "X-Hearth-Page"
    /// The cookie of a session.
    static let sessionCookie = "hearth_session"

    package init(
        rules: Rules, keys: AccessKeys,
        proof: @escaping @Sendable (_ cookie: String, _ page: String?) -> PageSessions.Proof = { _, _ in .none }
    ) {
        self.rules = rules
        self.keys = keys
        self.proof = proof
    }

    /// The caller of a request that may use a route.
    package func caller(of request: ServerRequest, need: Need) throws(Refusal) -> ServerCaller {
        if case .local(let user) = request.peer, LocalUser.isTrusted(user, by: rules.user) { return .owner }
        guard hostIsOurs(request.headers) || need == .health && request.headers["Host"] == nil else {
            throw .foreignHost
        }
        guard originIsOurs(request) else { throw .foreignOrigin }
        let caller = try identify(request)
        switch need {
        case .health, .nothing: return caller
        case .scope(let scope):
            guard caller.scopes.contains(scope) else {
                throw caller == .anonymous ? .noKey(scope) : .noRight(scope)
            }
        case .page:
            guard caller.getsPage else { throw caller == .anonymous ? .noKey(.admin) : .noOwner }
        case .owner:
            guard caller.scopes.contains(.admin) else { throw caller == .anonymous ? .noKey(.admin) : .noOwner }
        }
        return caller
    }

    // MARK: Host and origin

    private func hostIsOurs(_ headers: HTTPHeaders) -> Bool {
        guard let field = headers["Host"], let name = HostName(field) else { return false }
        return name.isAddressOrThisMachine || rules.hosts.contains(name.host)
    }

    private func originIsOurs(_ request: ServerRequest) -> Bool {
        let headers = request.headers
        if let origin = headers["Origin"] {
            return rules.allowedOrigins.contains(origin) || isSameOrigin(origin, headers)
        }
        // Browsers leave the field out of some requests, and say where these come from.
        guard let site = headers["Sec-Fetch-Site"], site == "cross-site" || site == "same-site" else { return true }
        // Following a link to the page is not a call.
        return request.method == "GET" && headers["Sec-Fetch-Mode"] == "navigate"
            && headers["Sec-Fetch-Dest"] == "document"
    }

    /// The scheme of the addresses under which browsers reach this server, through a proxy that ends TLS as well. Pages of
    /// other origins cannot send the field of a proxy.
    func scheme(_ headers: HTTPHeaders) -> String { ProxyFields.scheme(headers) ?? (rules.usesTLS ? "https" : "http") }

    private func isSameOrigin(_ origin: String, _ headers: HTTPHeaders) -> Bool {
        guard let host = headers["Host"], let separator = origin.range(of: "://") else { return false }
        let scheme = origin[..<separator.lowerBound]
        guard scheme == "http" || scheme == "https", scheme == self.scheme(headers),
            let page = HostName(origin[separator.upperBound...]), let ours = HostName(host)
        else { return false }
        let usual: UInt16 = scheme == "http" ? 80 : 443
        return page.host == ours.host && (page.port ?? usual) == (ours.port ?? usual)
    }

    // MARK: Identity

    private func identify(_ request: ServerRequest) throws(Refusal) -> ServerCaller {
        if let text = Self.presentedKey(request.headers) {
            if let key = keys.key(text) { return key.caller }
            // Clients of the dialects send any text where no key is needed; one of our own form was revoked.
            if text.hasPrefix(KeySecret.prefix) || !isOnThisMachine(request) { throw .badKey }
        }
        let plain = isOnThisMachine(request) ? ServerCaller.thisMachine : .anonymous
        guard let cookie = Self.cookie(Self.sessionCookie, request.headers), isOwnPage(request) else { return plain }
        switch proof(cookie, request.headers[Self.pageField]) {
        case .none: return plain
        case .cookie: return .browser(plain.scopes)
        case .whole: return .page
        }
    }

    /// Whether the client is a process of this machine that needs no key: not one behind a proxy, and not another user at
    /// the unix socket.
    private func isOnThisMachine(_ request: ServerRequest) -> Bool {
        guard case .network = request.peer, !rules.requiresKeys else { return false }
        return request.isLoopback && !ProxyFields.areIn(request.headers)
    }

    /// Whether a request with a cookie comes from the server's own page: browsers send cookies of this host to every
    /// port of it.
    private func isOwnPage(_ request: ServerRequest) -> Bool {
        if let origin = request.headers["Origin"] { return isSameOrigin(origin, request.headers) }
        if let site = request.headers["Sec-Fetch-Site"] { return site == "same-origin" || site == "none" }
        return request.method == "GET" || request.method == "HEAD"
    }

    /// The key in `Authorization`, or in the field that Anthropic's clients use.
    static func presentedKey(_ headers: HTTPHeaders) -> String? {
        if let text = headers["Authorization"], text.lowercased().hasPrefix("bearer ") {
            return String(text.dropFirst("bearer ".count)).trimmed
        }
        return headers["x-api-key"]?.trimmed
    }

    static func cookie(_ name: String, _ headers: HTTPHeaders) -> String? {
        for field in headers.values("Cookie") {
            for pair in field.split(separator: ";") {
                let parts = pair.split(separator: "=", maxSplits: 1)
                if parts.count == 2, parts[0].trimmed == name { return parts[1].trimmed }
            }
        }
        return nil
    }
}

extension RequestGuard.Refusal {
    /// How a program gets a right.
    /// Whether a key would help.
    var isAboutKeys: Bool {
        switch self {
        case .noKey, .badKey: true
        default: false
        }
    }

    private static func key(_ scope: ServerScope) -> String {
        "hearth keys create NAME --scopes \(scope.rawValue) prints one, which is sent as Authorization: Bearer KEY"
    }

    /// The reply: OpenAI's form, which the other dialects' clients show as well.
    package var reply: ServerReply {
        let (status, code, message): (Int, String, String) =
            switch self {
            case .foreignHost:
                (421, "foreign-host", "this server is not called that; name it with serve.hosts in the settings")
            case .foreignOrigin: (403, "foreign-origin", "pages of other sites may not call this server")
            case .noKey(let scope):
                (401, "key-required", "this server needs a key: \(Self.key(scope))")
            case .badKey: (401, "unknown-key", "the key is unknown or revoked")
            case .noRight(let scope):
                (403, "scope-missing", "this needs a key with the scope \(scope.rawValue): \(Self.key(scope))")
            case .noOwner:
                (
                    403, "owner-required",
                    "open the address that hearth serve prints, or use a key with the scope admin: \(Self.key(.admin))"
                )
            }
        let type = status == 401 ? "authentication_error" : "permission_error"
        let body =
            #"{"error":{"message":"\#(message)","type":"\#(type)","param":null,"code":"\#(code)"}}"# + "\n"
        var reply = ServerReply.bytes(Array(body.utf8), "application/json", status: status)
        if status == 401 { reply.headers.append("WWW-Authenticate", "Bearer") }
        return reply
    }
}
