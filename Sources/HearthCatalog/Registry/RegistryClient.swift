import Foundation
import HearthBase
import HearthHTTP

/// A client that logs in to OCI registries, and leaves all other requests as they are.
///
/// ```
/// GET /v2/a/b/blobs/sha256:…      401, WWW-Authenticate: Bearer realm="https://auth.example.org/token",…
/// GET https://auth.example.org/token?service=…&scope=repository:a/b:pull      {"token": "…"}
/// GET /v2/a/b/blobs/sha256:…      Authorization: Bearer …
/// ```
/// A token is kept for its registry and repository, and another is asked for when it is refused; a request is repeated
/// once. The log-in is sent only to the registry, or to the token server that it names; a redirect's host gets neither.
package final class RegistryClient: HTTPClient {
    private let base: any HTTPClient
    private let credentials: RegistryCredentials
    private let state = Locked(State())

    /// What a token is for.
    private struct Scope: Sendable, Hashable {
        let origin: String
        let repository: String
        /// Whether blobs and manifests are written too.
        let isWriting: Bool

        var name: String { "repository:\(repository):\(isWriting ? "pull,push" : "pull")" }
    }

    private struct State: Sendable {
        var authorizations: [Scope: String] = [:]
        /// One request for a token at a time.
        var queues: [Scope: TurnQueue] = [:]
        /// Why the log-in of a host cannot be used.
        var problems: [String: String] = [:]
    }

    /// What a registry's challenge leads to.
    private enum Renewal: Sendable {
        case authorization(String)
        /// There is no log-in, or it was not accepted.
        case refused
        /// The token server cannot answer now; its answer is that of the registry.
        case unavailable(HTTPResponse)
    }

    private static let timeout = Duration.seconds(10)
    /// The most bytes of a token server's answer, and of a token.
    private static let maximumAnswer = 256 << 10
    private static let maximumToken = 32 << 10

    /// A client that uses the log-ins of container tools.
    package init(_ base: any HTTPClient, credentials: RegistryCredentials) {
        (self.base, self.credentials) = (base, credentials)
    }

    /// Why the configured log-in of a registry cannot be used; `nil` if it can, or was not needed.
    package func problem(of url: URL) -> String? {
        url.authority.flatMap { host in state.withLock { $0.problems[host] } }
    }

    package func execute(_ request: HTTPRequest) async throws -> HTTPResponse {
        guard request.authorization == nil, let scope = Self.scope(of: request) else {
            return try await base.execute(request)
        }
        let used = state.withLock { $0.authorizations[scope] }
        let response = try await send(request, used)
        // Another host than the registry, after a redirect, gets no answer to its challenge.
        guard response.status == 401, response.url.isSameOrigin(as: request.url),
            let challenge = AuthChallenge(response)
        else { return response }
        switch try await renewal(of: scope, at: request.url, challenge, refused: used) {
        case .authorization(let authorization): return try await send(request, authorization)
        case .refused: return response
        case .unavailable(let answer): return answer
        }
    }

    private func send(_ request: HTTPRequest, _ authorization: String?) async throws -> HTTPResponse {
        var request = request
        request.authorization = authorization
        return try await base.execute(request)
    }

    /// The repository of a request to a registry: `/v2/NAME/blobs/…` and its like. `nil` for other requests.
    private static func scope(of request: HTTPRequest) -> Scope? {
        let path = request.url.path(percentEncoded: true)
        guard path.hasPrefix("/v2/"), let origin = request.url.authority else { return nil }
        let rest = path.dropFirst(4)
        let end = ["/manifests/", "/blobs/", "/referrers/"].compactMap { mark in
            rest.range(of: mark, options: .backwards)?.lowerBound
        }.max()
        guard let end, end > rest.startIndex else { return nil }
        return Scope(
            origin: "\(request.url.scheme ?? "")://\(origin)", repository: String(rest[..<end]),
            isWriting: !["GET", "HEAD"].contains(request.method))
    }

    // MARK: - Logging in

    private func renewal(
        of scope: Scope, at url: URL, _ challenge: AuthChallenge, refused: String?
    ) async throws -> Renewal {
        let queue = state.withLock { state in
            let queue = state.queues[scope] ?? TurnQueue()
            state.queues[scope] = queue
            return queue
        }
        return try await queue.turnUnlessCancelled {
            // Another request may have got a token meanwhile.
            if let current = state.withLock({ $0.authorizations[scope] }), current != refused {
                return .authorization(current)
            }
            let login = try await login(for: url)
            let renewal: Renewal
            switch challenge {
            case .basic:
                guard case .password(let pair)? = login, "Basic \(pair.value)" != refused else { return .refused }
                renewal = .authorization("Basic \(pair.value)")
            case .bearer(let realm, let service, let asked):
                renewal = try await token(realm, service, Self.named(asked, for: scope), login)
            }
            if case .authorization(let authorization) = renewal {
                state.withLock { $0.authorizations[scope] = authorization }
            }
            return renewal
        }
    }

    private func login(for url: URL) async throws -> RegistryCredentials.Login? {
        guard let host = url.authority else { return nil }
        let found = try await StopFlag.blocking { [credentials] in try credentials.login(for: host, flag: $0) }
        state.withLock { $0.problems[host] = found.problem }
        if let problem = found.problem {
            Log.write(.warning, "registry", "\(host) is asked without a log-in: \(problem)")
        }
        return found.login
    }

    /// The scope that a registry names, if it is of the repository that was asked for; else the usual one.
    private static func named(_ scope: String?, for wanted: Scope) -> String {
        guard let scope, scope.utf8.count <= 1024, scope.hasPrefix("repository:\(wanted.repository):") else {
            return wanted.name
        }
        return scope
    }

    /// Asks a token server: with `GET` and the log-in, or with `POST` and a refresh token (Docker's token authentication).
    private func token(
        _ realm: URL, _ service: String?, _ scope: String, _ login: RegistryCredentials.Login?
    ) async throws -> Renewal {
        var fields = [("service", service), ("scope", scope)].compactMap { name, value in value.map { (name, $0) } }
        // A redirect would take the log-in elsewhere.
        var request = HTTPRequest(
            realm, headers: ["Accept": "application/json"], totalTimeout: Self.timeout, maximumRedirects: 0,
            maximumBodySize: UInt64(Self.maximumAnswer))
        switch login {
        case .refreshToken(let token)?:
            fields += [("grant_type", "refresh_token"), ("client_id", "hearth"), ("refresh_token", token.value)]
            request.method = "POST"
            request.headers["Content-Type"] = "application/x-www-form-urlencoded"
            request.body = Data(Self.form(fields).utf8)
        case .password(let pair)?:
            request.authorization = "Basic \(pair.value)"
            request.url = Self.asking(realm, fields)
        case nil: request.url = Self.asking(realm, fields)
        }
        let answer: Data
        do {
            let response = try await base.execute(request)
            switch response.status {
            case 200: answer = try await response.body.collect(upTo: Self.maximumAnswer)
            case 408, 425, 429, 500...: return .unavailable(response)
            default:
                Log.write(.info, "registry", "\(realm.shown) answered \(response.status) to the log-in")
                return .refused
            }
        } catch let error as HTTPError where error.code == .tooLarge {
            Log.write(.warning, "registry", "\(realm.shown) gave an answer that is too large for a token")
            return .refused
        }
        // An answer that is no JSON has no token.
        let facts = try? JSONValue(parsing: answer)
        guard let token = facts?["token"]?.string ?? facts?["access_token"]?.string,
            (1...Self.maximumToken).contains(token.utf8.count), token.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else {
            Log.write(.warning, "registry", "\(realm.shown) gave an answer without a token")
            return .refused
        }
        return .authorization("Bearer \(token)")
    }

    private static func form(_ fields: [(String, String)]) -> String {
        fields.map { "\($0)=\(PercentText.encoded($1))" }.joined(separator: "&")
    }

    private static func asking(_ realm: URL, _ fields: [(String, String)]) -> URL {
        let known = realm.query(percentEncoded: true).map { "\($0)&" } ?? ""
        return realm.asking(known + form(fields))
    }
}
