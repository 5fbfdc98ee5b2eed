import Foundation
import HearthBase

/// The codes of ``HTTPError``.
public enum HTTPErrorDomain: ErrorDomain {
    public static var codes: [ErrorCode<Self>] {
        [
            .unsupportedURL, .cannotResolve, .cannotConnect, .timedOut, .connectionLost, .insecureRedirect,
            .tooManyRedirects, .tlsFailure, .tooLarge, .badResponse, .badRequest, .bodyConsumed,
        ]
    }
}

/// An exchange that brought no usable response.
public typealias HTTPError = HearthError<HTTPErrorDomain>

extension ErrorCode<HTTPErrorDomain> {
    /// The address is not `https`, or `http` to this machine.
    public static var unsupportedURL: Self { "unsupported-url" }
    /// The host's name leads nowhere.
    public static var cannotResolve: Self { "host-not-found" }
    /// Nobody answers at that address.
    public static var cannotConnect: Self { "cannot-connect" }
    /// The server took too long.
    public static var timedOut: Self { "timed-out" }
    /// The connection broke before the response was whole.
    public static var connectionLost: Self { "connection-lost" }
    /// A redirect from `https` to `http`.
    public static var insecureRedirect: Self { "insecure-redirect" }
    /// More redirects than allowed.
    public static var tooManyRedirects: Self { "too-many-redirects" }
    /// The server's certificate or the encryption did not hold.
    public static var tlsFailure: Self { "tls-failure" }
    /// The body is larger than the request allowed.
    public static var tooLarge: Self { "response-too-large" }
    /// The server does not speak HTTP properly.
    public static var badResponse: Self { "bad-response" }
    /// The request has a method or a header that cannot be sent.
    public static var badRequest: Self { "bad-request" }
    /// A body was asked for its bytes a second time.
    public static var bodyConsumed: Self { "body-consumed" }
}

extension HearthError where Domain == HTTPErrorDomain {
    static var bodyConsumed: Self { Self(.bodyConsumed, "the answer's body was read already; it can be read once") }

    static func tooLarge(limit: UInt64) -> Self {
        Self(
            .tooLarge, "the answer is larger than it may be", context: ErrorContext(expected: "at most \(limit) bytes"))
    }
}
