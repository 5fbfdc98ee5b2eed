import Foundation
import HearthBase

/// The codes of ``TransferError``.
public enum TransferErrorDomain: ErrorDomain {
    public static var codes: [ErrorCode<Self>] {
        [
            .checksumMismatch, .responseTooLong, .sizeMismatch, .badContentRange, .contentEncoded, .webPage, .missing,
            .accessDenied, .serverBusy, .unexpectedStatus, .busy, .entityChanged, .noAddress,
        ]
    }
}

/// A file that could not be brought over.
public typealias TransferError = HearthError<TransferErrorDomain>

extension ErrorCode<TransferErrorDomain> {
    /// The bytes are whole, but not the promised ones, in every attempt; they were thrown away.
    public static var checksumMismatch: Self { "checksum-mismatch" }
    /// The server sent more than it may.
    public static var responseTooLong: Self { "response-too-long" }
    /// The server offers a file of another length than the catalog promises.
    public static var sizeMismatch: Self { "size-mismatch" }
    /// The server answered a range request with another range.
    public static var badContentRange: Self { "bad-content-range" }
    /// The server sent the file compressed though it was asked not to.
    public static var contentEncoded: Self { "content-encoded" }
    /// A web page came instead of the file: a sign-in page of the network, or an error page.
    public static var webPage: Self { "web-page" }
    /// The server has no such file (404, 410).
    public static var missing: Self { "missing-at-origin" }
    /// The server wants credentials, or does not accept those given (401, 403).
    public static var accessDenied: Self { "access-denied" }
    /// The server is overloaded or failing (408, 429, 5xx).
    public static var serverBusy: Self { "server-busy" }
    /// A mirror has another file now than the one that is arriving from the others; or, for a file without a digest, a
    /// server's answers are parts of different files.
    public static var entityChanged: Self { "entity-changed" }
    /// Any other status, or 416 for bytes that the server should have.
    public static var unexpectedStatus: Self { "unexpected-status" }
    /// The ``DownloadURLProvider`` failed with an error of its own, which is underneath.
    public static var noAddress: Self { "no-address" }
    /// Another process is fetching the same file.
    public static var busy: Self { "transfer-busy" }
}
