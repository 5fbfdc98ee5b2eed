import Foundation
import HearthBase

/// Signs requests and addresses with AWS Signature Version 4, as S3-compatible buckets check it.
///
/// ```swift
/// let signer = SigV4(accessKey: id, secretKey: secret, sessionToken: nil, region: "auto", service: "s3")
/// let request = try signer.authorize(HTTPRequest(url), payloadHash: digest, at: time.now)
/// let address = try signer.presign(url: url, method: "GET", expires: 3600, at: time.now)
/// ```
/// Source: *Create a signed AWS API request* (docs.aws.amazon.com, IAM user guide).
package struct SigV4: Sendable, Hashable {
    /// The name of the key, which is no secret.
    package let accessKey: String
    private let secretKey: Secret
    private let sessionToken: Secret?
    package let region: String
    package let service: String
    /// Whether `.`, `..` and empty segments of paths are removed before signing. S3 keeps them.
    package var normalizesPath: Bool

    /// The longest life of a signed address: seven days.
    package static let maximumExpiry = 604_800

    /// Headers that clients and proxies change or add on the way.
    private static let unsignedHeaders: Set<String> = [
        "accept-encoding", "authorization", "connection", "expect", "transfer-encoding", "user-agent",
        "x-amzn-trace-id",
    ]

    /// A signer with one key for one region.
    /// - Parameters:
    ///   - sessionToken: for temporary keys; sent with each request.
    ///   - region: as the bucket's provider names it, such as `auto` or `eu-central-1`.
    package init(
        accessKey: String, secretKey: Secret, sessionToken: Secret? = nil, region: String, service: String = "s3"
    ) {
        self.accessKey = accessKey
        self.secretKey = secretKey
        self.sessionToken = sessionToken
        self.region = region
        self.service = service
        normalizesPath = service != "s3"
    }

    /// The request with the headers `X-Amz-Date`, `X-Amz-Content-Sha256` (S3 only), `X-Amz-Security-Token` and
    /// `Authorization`. The last is dropped by redirects to another host.
    /// - Parameter payloadHash: the digest of the request's body.
    /// - Throws: ``HTTPError`` with `unsupported-url`.
    package func authorize(_ request: HTTPRequest, payloadHash: SHA256Digest?, at date: Date) throws -> HTTPRequest {
        var request = request
        let address = try HTTPAddress(request.url, allowsHTTP: !request.pinnedAddresses.isEmpty)
        let stamp = Stamp(date)
        request.headers["X-Amz-Date"] = stamp.time
        if service == "s3" { request.headers["X-Amz-Content-Sha256"] = CanonicalRequest.text(payloadHash) }
        request.headers["X-Amz-Security-Token"] = sessionToken?.value
        let (path, query) = Self.halves(address.target)
        let canonical = CanonicalRequest(
            method: request.method, path: path, query: query, headers: signed(request.headers, host: address.hostText),
            payload: payloadHash, normalizesPath: normalizesPath)
        request.authorization =
            "\(Stamp.algorithm) Credential=\(accessKey)/\(scope(stamp)), "
            + "SignedHeaders=\(canonical.signedHeaders), Signature=\(signature(of: canonical, stamp))"
        return request
    }

    /// An address that lets its holder send one kind of request until it expires.
    /// - Parameters:
    ///   - expires: seconds, from 1 to ``maximumExpiry``; others are clamped.
    ///   - headers: headers that the holder must send with these values.
    ///   - payloadHash: the digest of the body that the holder must send.
    /// - Throws: ``HTTPError`` with `unsupported-url`.
    package func presign(
        url: URL, method: String = "GET", expires: Int, at date: Date, headers: HTTPHeaders = HTTPHeaders(),
        payloadHash: SHA256Digest? = nil
    ) throws -> URL {
        let address = try HTTPAddress(url)
        let stamp = Stamp(date)
        let headers = signed(headers, host: address.hostText)
        let names = Set(headers.fields.map { $0.name.lowercased() }).sorted()
        var parameters = [
            ("X-Amz-Algorithm", Stamp.algorithm), ("X-Amz-Credential", "\(accessKey)/\(scope(stamp))"),
            ("X-Amz-Date", stamp.time), ("X-Amz-Expires", String(max(1, min(expires, Self.maximumExpiry)))),
        ]
        if let sessionToken { parameters.append(("X-Amz-Security-Token", sessionToken.value)) }
        parameters.append(("X-Amz-SignedHeaders", names.joined(separator: ";")))
        let (path, given) = Self.halves(address.target)
        let added = parameters.map { "\($0)=\(PercentText.encoded($1))" }.joined(separator: "&")
        let query = given.isEmpty ? added : "\(given)&\(added)"
        let canonical = CanonicalRequest(
            method: method, path: path, query: query, headers: headers, payload: payloadHash,
            normalizesPath: normalizesPath)
        let text =
            "\(address.scheme.rawValue)://\(address.hostText)\(path)?\(query)"
            + "&X-Amz-Signature=\(signature(of: canonical, stamp))"
        guard let signed = URL(string: text, encodingInvalidCharacters: false) else {
            throw HTTPError(
                .unsupportedURL, "\(address.display) cannot be signed", context: ErrorContext(url: address.display))
        }
        return signed
    }

    // MARK: - Steps of the signature

    /// A date in the two forms of a signature.
    struct Stamp {
        static let algorithm = "AWS4-HMAC-SHA256"
        private static let style = Date.ISO8601FormatStyle(
            dateSeparator: .omitted, dateTimeSeparator: .standard, timeSeparator: .omitted, timeZoneSeparator: .omitted,
            includingFractionalSeconds: false, timeZone: .gmt)

        /// `20150830T123600Z`.
        let time: String
        /// `20150830`.
        var day: Substring { time.prefix(8) }

        init(_ date: Date) { time = date.formatted(Self.style) }
    }

    func scope(_ stamp: Stamp) -> String { "\(stamp.day)/\(region)/\(service)/aws4_request" }

    /// The text whose keyed digest is the signature.
    func stringToSign(_ canonical: CanonicalRequest, _ stamp: Stamp) -> String {
        [Stamp.algorithm, stamp.time, scope(stamp), SHA256Digest(hashing: Data(canonical.text.utf8)).hex]
            .joined(separator: "\n")
    }

    /// The signature, 64 hexadecimal digits.
    func signature(of canonical: CanonicalRequest, _ stamp: Stamp) -> String {
        var key = Array("AWS4\(secretKey.value)".utf8)
        for part in [String(stamp.day), region, service, "aws4_request"] {
            key = HMACSHA256.code(of: Array(part.utf8), key: key)
        }
        return HMACSHA256.code(of: Array(stringToSign(canonical, stamp).utf8), key: key).hexadecimal
    }

    private func signed(_ headers: HTTPHeaders, host: String) -> HTTPHeaders {
        var signed = HTTPHeaders()
        signed.append("Host", host)
        for field in headers.fields where !Self.unsignedHeaders.contains(field.name.lowercased()) {
            if field.name.lowercased() != "host" { signed.append(field.name, field.value) }
        }
        return signed
    }

    private static func halves(_ target: String) -> (path: String, query: String) {
        let halves = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        return (String(halves[0]), halves.count > 1 ? String(halves[1]) : "")
    }
}
