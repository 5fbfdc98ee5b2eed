import Foundation
import HearthBase

extension TransferState: ErrorDomain {}

/// The error of a failed fetch, or of steering a transfer.
public typealias TransferError = HearthError<TransferState>

extension ErrorCode<TransferState> {
    /// Every attempt brought the whole file with wrong bytes, which were removed.
    public static var checksumMismatch: Self { "checksum-mismatch" }
    /// The server sent more bytes than allowed.
    public static var responseTooLong: Self { "response-too-long" }
    /// The server offers a file of another length than the catalog promises.
    public static var sizeMismatch: Self { "size-mismatch" }
    /// The server answered a range request with another range.
    public static var badContentRange: Self { "bad-content-range" }
    /// The server sent the file compressed though it was asked not to.
    public static var contentEncoded: Self { "content-encoded" }
    /// A web page came instead of the file: a sign-in page of the network, or an error page.
    public static var webPage: Self { "web-page" }
    /// A pointer of Git LFS came, which only stands for the file.
    public static var lfsPointer: Self { "lfs-pointer" }
    /// The server has no such file (404, 410).
    public static var missing: Self { "missing-at-origin" }
    /// The server wants credentials, or does not accept those given (401, 403).
    public static var accessDenied: Self { "access-denied" }
    /// The server is overloaded or failing (408, 429, 5xx).
    public static var serverBusy: Self { "server-busy" }
    /// A mirror now has another file than the other sources; or, without a digest, a server's responses belong to
    /// different files.
    public static var entityChanged: Self { "entity-changed" }
    /// Any other status, or 416 for bytes that the server should have.
    public static var unexpectedStatus: Self { "unexpected-status" }
    /// The ``DownloadURLProvider`` failed with its own error, which is the underlying one.
    public static var noAddress: Self { "no-address" }
    /// Another process is fetching the same file.
    public static var busy: Self { "transfer-busy" }
    /// A person cancelled the transfer: its bytes are gone.
    public static var cancelled: Self { "cancelled" }
    /// No transfer has that key, file name or family.
    public static var unknownTransfer: Self { "unknown-transfer" }
    /// Several transfers begin with that key or have that file name.
    public static var ambiguousTransfer: Self { "ambiguous-transfer" }
    /// The transfer has no plan to continue by.
    public static var notResumable: Self { "not-resumable" }
}

extension TransferError {
    /// The largest pointer of Git LFS in bytes (its specification).
    static let maximumPointerSize: UInt64 = 1024

    /// The error of a file that only stands for the wanted one; `nil` for other bytes.
    init?(pointer bytes: some Collection<UInt8>, of request: TransferRequest, at url: URL?) {
        guard FileKind(beginning: bytes) == .lfsPointer else { return nil }
        let isLocal = url?.isFileURL == true
        self.init(
            .lfsPointer, "\(FileKind.lfsPointer.name), came instead of \(request.label)",
            context: ErrorContext(
                file: request.label, url: url?.withoutQuery, expected: "\(request.size.estimate) bytes",
                found: "a Git LFS pointer",
                remedy: isLocal
                    ? FileKind.lfsPointer.remedy
                    : "The publisher must give the address of the file itself, not of its place in a Git repository."))
    }
}
