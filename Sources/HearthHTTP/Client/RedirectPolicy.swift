import Foundation
import HearthBase

/// A request to one address: the original one, or the next after a redirect.
@dynamicMemberLookup
struct Hop: Sendable {
    var address: HTTPAddress
    private var request: HTTPRequest
    /// The redirects followed so far.
    var redirects = 0

    /// The first request.
    /// - Throws: ``HTTPError`` with `unsupported-url` or `bad-request`.
    init(_ request: HTTPRequest) throws {
        address = try HTTPAddress(request.url, allowsHTTP: !request.pinnedAddresses.isEmpty)
        self.request = request
        try Self.check(request)
    }

    subscript<Value>(dynamicMember path: WritableKeyPath<HTTPRequest, Value>) -> Value {
        get { request[keyPath: path] }
        set { request[keyPath: path] = newValue }
    }

    /// Whether no proxy may stand between: for this machine, and for addresses that the caller has checked.
    var isDirect: Bool { address.isLoopback || !request.pinnedAddresses.isEmpty }

    /// The most bytes that libcurl reads at once: a third of the buffer, from 64 to 512 KiB.
    var pieceSize: Int { min(512 << 10, max(64 << 10, request.bodyBufferSize / 3)) }

    /// Rejects invalid methods and headers: a line break in a value would let its author add headers.
    private static func check(_ request: HTTPRequest) throws {
        func refuse(_ field: String, _ why: String) -> HTTPError {
            HTTPError(.badRequest, why, context: ErrorContext(field: field), disposition: .usage)
        }
        guard HTTPHeaders.isName(request.method) else {
            throw refuse("method", "the request's method is not a proper word")
        }
        for field in request.headers.fields {
            guard HTTPHeaders.isName(field.name) else {
                throw refuse("headers", "a header of the request has no proper name")
            }
            guard isFieldValue(field.value) else {
                throw refuse(field.name, "the header \(field.name) holds characters a header cannot have")
            }
        }
        if let authorization = request.authorization, !isFieldValue(authorization) {
            throw refuse("Authorization", "the credentials hold characters a header cannot have")
        }
    }

    private static func isFieldValue(_ text: String) -> Bool {
        text.utf8.allSatisfy { $0 == 0x09 || ($0 >= 0x20 && $0 != 0x7F) }
    }
}

/// Decides which request follows a redirect. Pure: testable without a socket.
struct RedirectPolicy: Sendable {
    /// The most redirects of a request.
    let maximum: Int

    /// Headers whose values are secrets of one host.
    private static let credentials = ["Authorization", "Cookie", "Proxy-Authorization"]

    /// The next hop, or `nil` if the response is final.
    ///
    /// RFC 9110, 15.4: 301 and 302 turn a `POST` into a `GET`, and 303 any method but `HEAD`; others repeat it.
    /// - Throws: ``HTTPError`` with `insecure-redirect`, `too-many-redirects` or `bad-response`.
    func next(after hop: Hop, status: Int, location: String?) throws -> Hop? {
        guard [301, 302, 303, 307, 308].contains(status), let location, maximum > 0 else { return nil }
        guard hop.redirects < maximum else {
            throw HTTPError(
                .tooManyRedirects, "\(hop.address.hostText) redirects more than \(maximum) times",
                context: ErrorContext(url: hop.address.display, expected: "at most \(maximum) redirects"))
        }
        guard !location.isEmpty, let url = URL(address: location, relativeTo: hop.url) else {
            throw Self.malformed(hop)
        }
        let address = try target(url, from: hop)
        var next = hop
        next.redirects += 1
        next.address = address
        next.url = url
        if status == 303 || ((status == 301 || status == 302) && hop.method == "POST") {
            if hop.method != "HEAD" { next.method = "GET" }
            next.body = nil
            for name in ["Content-Type", "Content-Length", "Content-Encoding"] { next.headers[name] = nil }
        }
        if !address.isSameOrigin(as: hop.address) {
            next.authorization = nil
            for name in Self.credentials { next.headers[name] = nil }
        }
        return next
    }

    private func target(_ url: URL, from hop: Hop) throws -> HTTPAddress {
        let scheme = url.scheme?.lowercased()
        if hop.address.scheme == .https && scheme == "http" {
            throw HTTPError(
                .insecureRedirect, "\(hop.address.hostText) redirects from https to http, which is not followed",
                context: ErrorContext(url: url.withoutQuery))
        }
        do {
            return try HTTPAddress(url)
        } catch {
            guard scheme == "http" else { throw Self.malformed(hop, underlying: error) }
            throw HTTPError(
                .insecureRedirect,
                "\(hop.address.hostText) redirects to http on another machine, which is not followed",
                context: ErrorContext(url: url.withoutQuery), underlying: error)
        }
    }

    private static func malformed(_ hop: Hop, underlying: (any Error)? = nil) -> HTTPError {
        HTTPError(
            .badResponse, "\(hop.address.hostText) redirects to an address that cannot be used",
            context: ErrorContext(url: hop.address.display), underlying: underlying)
    }
}
