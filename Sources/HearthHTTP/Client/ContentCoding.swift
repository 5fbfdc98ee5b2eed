import Foundation

extension HTTPHeaders {
    /// The first content coding that changes the bytes of a body; `nil` for a body as the file is.
    ///
    /// Uploads leave `Content-Encoding` values behind that describe no coding: `aws-chunked` of an upload to S3,
    /// `binary`, a charset, `none`, nothing. Such values are ignored, also in lists. A file's digest is compared in any
    /// case.
    package var contentCoding: String? {
        values("Content-Encoding").flatMap { $0.split(separator: ",") }
            .map { $0.trimmingCharacters(in: .whitespaces).lowercased() }
            .first(where: Self.codings.contains)
    }

    /// The names of IANA's registry of HTTP content codings, without `identity`.
    private static let codings: Set<String> = [
        "aes128gcm", "br", "compress", "dcb", "dcz", "deflate", "exi", "gzip", "pack200-gzip", "x-compress", "x-gzip",
        "zstd",
    ]
}
