import Foundation
import HearthBase

/// The codes of ``HTTPError``.
public enum HTTPErrorDomain: ErrorDomain {
    public static var errorCodes: [ErrorCode<Self>] {
        [
            .unsupportedURL, .cannotResolve, .cannotConnect, .timedOut, .connectionLost, .insecureRedirect,
            .tooManyRedirects, .tlsFailure, .tooLarge, .badResponse, .badRequest, .bodyConsumed,
        ]
    }
}

/// A request failed without a usable response.
public typealias HTTPError = HearthError<HTTPErrorDomain>

extension ErrorCode<HTTPErrorDomain> {
    /// The address is neither `https` nor `http` to this machine.
    public static var unsupportedURL: Self { "unsupported-url" }
    /// The host's name was not found.
    public static var cannotResolve: Self { "host-not-found" }
    /// No server answers at that address.
    public static var cannotConnect: Self { "cannot-connect" }
    /// The server took too long.
    public static var timedOut: Self { "timed-out" }
    /// The connection broke before the response was complete.
    public static var connectionLost: Self { "connection-lost" }
    /// A redirect from `https` to `http`.
    public static var insecureRedirect: Self { "insecure-redirect" }
    /// More redirects than allowed.
    public static var tooManyRedirects: Self { "too-many-redirects" }
    /// The server's certificate or the encryption was not accepted.
    public static var tlsFailure: Self { "tls-failure" }
    /// The body is larger than the request allowed.
    public static var tooLarge: Self { "response-too-large" }
    /// The server's response is not valid HTTP.
    public static var badResponse: Self { "bad-response" }
    /// The request has a method or a header that cannot be sent.
    public static var badRequest: Self { "bad-request" }
    /// The body was read a second time.
    public static var bodyConsumed: Self { "body-consumed" }
}

extension HearthError where Domain == HTTPErrorDomain {
    static var bodyConsumed: Self { Self(.bodyConsumed, "the answer's body was read already; it can be read once") }

    static func tooLarge(limit: UInt64) -> Self {
        Self(
            .tooLarge, "the answer is larger than it may be", context: ErrorContext(expected: "at most \(limit) bytes"))
    }
}
