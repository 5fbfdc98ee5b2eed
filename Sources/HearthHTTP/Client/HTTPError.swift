import Foundation
import HearthBase

/// The domain of ``HTTPError``.
package enum HTTPErrorDomain: ErrorDomain {}

/// A request failed without a usable response.
package typealias HTTPError = HearthError<HTTPErrorDomain>

extension ErrorCode<HTTPErrorDomain> {
    /// The address is neither `https` nor `http` to this machine.
    package static var unsupportedURL: Self { "unsupported-url" }
    /// The host's name was not found.
    package static var cannotResolve: Self { "host-not-found" }
    /// No server answers at that address.
    package static var cannotConnect: Self { "cannot-connect" }
    /// The server took too long.
    package static var timedOut: Self { "timed-out" }
    /// The connection broke before the response was complete.
    package static var connectionLost: Self { "connection-lost" }
    /// A redirect from `https` to `http`.
    package static var insecureRedirect: Self { "insecure-redirect" }
    /// More redirects than allowed.
    package static var tooManyRedirects: Self { "too-many-redirects" }
    /// The server's certificate or the encryption was not accepted.
    package static var tlsFailure: Self { "tls-failure" }
    /// The body is larger than the request allowed.
    package static var tooLarge: Self { "response-too-large" }
    /// The server's response is not valid HTTP.
    package static var badResponse: Self { "bad-response" }
    /// The request has a method or a header that cannot be sent.
    package static var badRequest: Self { "bad-request" }
    /// The body was read a second time.
    package static var bodyConsumed: Self { "body-consumed" }
}

extension HearthError where Domain == HTTPErrorDomain {
    static var bodyConsumed: Self { Self(.bodyConsumed, "the answer's body was read already; it can be read once") }

    package static func tooLarge(limit: UInt64) -> Self {
        Self(
            .tooLarge, "the answer is larger than it may be", context: ErrorContext(expected: "at most \(limit) bytes"))
    }
}
