import Foundation
import HearthBase
import HearthHTTP

/// Gets time-limited download addresses from a gateway that checks the device's key.
///
/// ```swift
/// let downloads = try AuthenticatedDownloader(gateway: gateway, key: key, files: [bucket])
/// let manager = ModelManager(home: home, origins: [origin], deviceMemory: memory, provider: downloads)
/// ```
/// It asks with `POST <gateway>/models/address` and the body `{"location": "<address in the catalog>"}`. The gateway
/// answers `{"url": "<signed address>", "expiresIn": <seconds>}`. The key is sent to the gateway alone, and never to the
/// server of the files.
public struct AuthenticatedDownloader: DownloadURLProvider {
    /// The usual header of the key, which is then sent as `Bearer <key>`.
    public static let defaultHeader = "Authorization"
    /// The time limit of one question.
    private static let timeout = Duration.seconds(20)
    private static let answerLimit = 64 << 10
    /// The longest accepted life of an address; S3's own limit is a week.
    private static let longestLife = 7 * 24 * 3600

    private let question: URL
    private let header: String
    private let files: [URL]
    private let key: @Sendable () throws -> Secret
    private let http: any HTTPClient
    private let time: TimeSource

    /// A downloader with a key.
    /// - Parameters:
    ///   - gateway: the gateway: `https`, or `http` to this machine.
    ///   - key: one line without spaces, from `hearth gateway keys create` or the publisher's own service.
    ///   - header: the name of the header that holds the key.
    ///   - files: the beginnings of the addresses that need a signed one; empty for every file.
    /// - Throws: ``TransferError`` with `no-address` for a key or a header that cannot be sent.
    public init(
        gateway: URL, key: String, header: String = defaultHeader, files: [URL] = []
    ) throws {
        guard let secret = Secret(key) else {
            throw TransferError(
                .noAddress, "the key for \(gateway.withoutQuery) cannot be sent",
                context: ErrorContext(field: "key", remedy: "A key is one line without spaces."), disposition: .usage)
        }
        try self.init(gateway: gateway, header: header, files: files, http: DefaultHTTPClient()) { secret }
    }

    /// The same with injected parts.
    /// - Parameter key: gives the key for each question, so that a new key in a file works at once. Blocks.
    package init(
        gateway: URL, header: String, files: [URL], http: any HTTPClient, time: TimeSource = .system,
        key: @escaping @Sendable () throws -> Secret
    ) throws {
        guard Self.isHeaderName(header) else {
            throw TransferError(
                .noAddress, "\(header.quoted) is not the name of a header",
                context: ErrorContext(field: "header", remedy: "Give a name such as X-API-Key."), disposition: .usage)
        }
        question = gateway.below("models/address")
        self.header = header
        self.files = files
        self.key = key
        self.http = http
        self.time = time
    }

    /// Whether a text is a header that may hold a key (a token of RFC 9110), and not one that frames the request.
    package static func isHeaderName(_ text: String) -> Bool {
        let framing = ["host", "content-length", "content-type", "transfer-encoding", "connection", "expect"]
        return text.utf8.count <= 64 && HTTPHeaders.isName(text) && !framing.contains(text.lowercased())
    }

    public func provides(for location: URL) -> Bool {
        files.isEmpty || files.contains { location.isBelow($0) }
    }

    public func downloadURL(for location: URL) async throws -> URL { try await downloadAddress(for: location).url }

    /// Asks the gateway for a signed address.
    /// - Throws: ``TransferError``: `access-denied` if the gateway refuses the key, `missing-at-origin` if it does not
    ///   serve the file, `server-busy` for a quota, a rate limit or a failure of the gateway, `no-address` for an
    ///   unusable answer; `HTTPError`; what reading the key throws; `CancellationError`.
    public func downloadAddress(for location: URL) async throws -> DownloadAddress {
        let key = try await blocking(key)
        var request = HTTPRequest(
            question, method: "POST", headers: ["Content-Type": "application/json", "Accept": "application/json"],
            body: JSONValue.object(["location": .string(location.absoluteString)]).data,
            // Redirects are not followed: the key is for this gateway only.
            totalTimeout: Self.timeout, maximumRedirects: 0, maximumBodySize: UInt64(Self.answerLimit))
        if header.caseInsensitiveCompare(Self.defaultHeader) == .orderedSame {
            request.authorization = "Bearer \(key.value)"
        } else {
            request.headers[header] = key.value
        }
        let response = try await http.execute(request)
        let body = try await response.body.collect(upTo: Self.answerLimit)
        // A body that is no JSON says nothing; the status decides then.
        let members = (try? JSONValue(parsing: body))?.members ?? [:]
        guard response.status == 200 else { throw refusal(response, members, location) }
        guard case .string(let text)? = members["url"], let url = URL(address: text), url.host() != nil,
            url.scheme == "https" || (url.scheme == "http" && url.isLoopback)
        else {
            throw error(.noAddress, "gave no usable address for \(location.fileName)")
        }
        var lifetime: Duration?
        if case .number(let digits)? = members["expiresIn"], let seconds = Int(digits), seconds > 0 {
            lifetime = .seconds(min(seconds, Self.longestLife))
        }
        return DownloadAddress(url, lifetime: lifetime)
    }

    /// The error of an answer that is no address.
    private func refusal(_ response: HTTPResponse, _ body: JSONMembers, _ location: URL) -> TransferError {
        var found = "status \(response.status)"
        if case .string(let code)? = body["error"]?.members?["code"], code.utf8.count <= 40, code.isPlain() {
            found += ", \(code)"
        }
        let name = location.fileName
        switch response.status {
        case 401, 403:
            return error(
                .accessDenied, "refused this device's key", found: found,
                remedy: "Check the key, or ask the publisher for another.")
        case 404, 410: return error(.missing, "does not serve \(name)", found: found)
        case 408, 429, 500...599:
            var busy = error(
                .serverBusy, "gives out no address for \(name) at the moment", found: found,
                remedy: "Try again later; received bytes are kept.", disposition: .tryLater)
            busy.context.retryAfterSeconds =
                RetryAfter.pause(status: response.status, response.headers["Retry-After"], now: time.now)?.seconds
            return busy
        default: return error(.noAddress, "gave no address for \(name)", found: found)
        }
    }

    private func error(
        _ code: ErrorCode<TransferState>, _ what: String, found: String? = nil, remedy: String? = nil,
        disposition: ErrorDisposition = .failed
    ) -> TransferError {
        TransferError(
            code, "the gateway \(question.host() ?? "") \(what)",
            context: ErrorContext(url: question.withoutQuery, found: found, remedy: remedy), disposition: disposition)
    }
}

extension URL {
    /// Whether the address begins with another one: same scheme, host and port, and a path that is equal or goes on
    /// after a slash.
    package func isBelow(_ base: URL) -> Bool {
        func origin(_ url: URL) -> String? {
            guard let scheme = url.scheme?.lowercased(), let host = url.host()?.lowercased() else { return nil }
            return "\(scheme)://\(host):\(url.port ?? (scheme == "http" ? 80 : 443))"
        }
        guard let ours = origin(self), ours == origin(base) else { return false }
        var folder = base.path(percentEncoded: true)
        while folder.hasSuffix("/") { folder.removeLast() }
        let path = path(percentEncoded: true)
        return folder.isEmpty || path == folder || path.hasPrefix(folder + "/")
    }
}
