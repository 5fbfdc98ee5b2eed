import Foundation
import HearthBase
import HearthHTTP
import HearthTransfer

/// One call to the S3 interface.
struct S3Call: Sendable {
    var method: String
    /// The object's key, `nil` for the bucket.
    var key: String?
    var query: [(name: String, value: String)] = []
    var headers = HTTPHeaders()
    var body = Data()
    /// Statuses besides 2xx that the caller handles.
    var accepted: Set<Int> = []
    /// The most bytes of the answer.
    var limit = 8 << 20
}

/// The answer to a call.
struct S3Reply: Sendable {
    let status: Int
    let headers: HTTPHeaders
    let body: Data

    /// The entity tag, as sent.
    var tag: String? { headers["ETag"] }
    /// The body as XML.
    var document: S3Document? { S3Document(body) }
    /// The code of an error, such as `NoSuchKey`.
    var errorCode: String? {
        guard let document, document.name == "Error" else { return nil }
        return document["Code"]
    }
}

/// Sends signed calls to one bucket. Failures that may pass are retried as a `RetryBudget` allows.
struct S3Client: Sendable {
    let access: BucketAccess
    let bucket: String
    let client: any HTTPClient
    let time: TimeSource

    /// The longest silence of a server that stores something: it may read all parts of a file before it answers.
    private static let longestStoring = Duration.seconds(300)

    /// The address of an object or, without a key, of the bucket.
    func address(_ key: String?, query: [(name: String, value: String)] = []) throws -> URL {
        var text = access.endpoint.absoluteString
        if text.hasSuffix("/") { text.removeLast() }
        text += "/\(bucket)"
        if let key { text += "/\(PercentText.encoded(key, keepsSlashes: true))" }
        if !query.isEmpty {
            text +=
                "?"
                + query.map { "\(PercentText.encoded($0.name))=\(PercentText.encoded($0.value))" }
                .joined(separator: "&")
        }
        guard let url = URL(string: text, encodingInvalidCharacters: false) else {
            throw PublishingError(.remoteUnusable, "\(access.endpoint.absoluteString) cannot be used as an address")
        }
        return url
    }

    /// Sends a call, and returns its answer.
    /// - Throws: ``PublishingError`` with `bucket-refused`, `bucket-failed` or `upload-broken`; `HTTPError`; `CancellationError`.
    func send(_ call: S3Call) async throws -> S3Reply {
        var budget = RetryBudget()
        while true {
            let problem: any Error
            do {
                let reply = try await attempt(call)
                if (200..<300).contains(reply.status) || call.accepted.contains(reply.status) {
                    // Some servers report a failure after they have sent the status.
                    guard let code = reply.errorCode, (200..<300).contains(reply.status) else { return reply }
                    problem = failed(call, reply, code)
                } else {
                    let error = failed(call, reply, reply.errorCode)
                    guard error.disposition == .tryLater else { throw error }
                    problem = error
                }
            } catch let error as HTTPError where error.disposition == .tryLater {
                problem = error
            }
            guard let pause = budget.failed(0, madeProgress: false, jitter: Double.random(in: 0..<1)) else {
                throw problem
            }
            try await time.sleep(for: pause)
        }
    }

    private func attempt(_ call: S3Call) async throws -> S3Reply {
        var request = HTTPRequest(
            try address(call.key, query: call.query), method: call.method, headers: call.headers,
            body: call.body.isEmpty ? nil : call.body, maximumRedirects: 0, maximumBodySize: UInt64(call.limit))
        if call.method != "GET", call.method != "HEAD" { request.idleTimeout = Self.longestStoring }
        request = try access.signer.authorize(
            request, payloadHash: SHA256Digest(hashing: call.body), at: time.now)
        let response = try await client.execute(request)
        let body = try await response.body.collect(upTo: call.limit)
        return S3Reply(status: response.status, headers: response.headers, body: body)
    }

    /// The error for an answer that no caller handles.
    private func failed(_ call: S3Call, _ reply: S3Reply, _ code: String?) -> PublishingError {
        let host = access.endpoint.host() ?? "the server"
        var context = ErrorContext(
            file: call.key, url: access.endpoint.absoluteString,
            found: code.map { "\(reply.status) \($0.prefix(80))" } ?? "\(reply.status)")
        switch (reply.status, code) {
        case (_, "NoSuchBucket"):
            context.remedy = "Make the bucket with your provider, or correct its name."
            return PublishingError(.bucketRefused, "\(host) has no bucket named \(bucket)", context: context)
        case (_, "NoSuchUpload"):
            context.remedy = "Publish again."
            return PublishingError(
                .uploadBroken, "\(host) has ended the upload of \(call.key ?? "a file")", context: context)
        case (_, "RequestTimeTooSkewed"):
            context.remedy = "Set this machine's clock."
            return PublishingError(
                .bucketRefused, "\(host) refuses the request, because this machine's clock is wrong", context: context)
        case (301, _), (307, _), (400, "AuthorizationHeaderMalformed"):
            context.remedy = "Set the remote's region and endpoint to those of the bucket."
            return PublishingError(.bucketRefused, "the bucket \(bucket) is in another region", context: context)
        case (401, _), (403, _):
            context.remedy = "Check the remote's key, and whether it may read and write this bucket."
            return PublishingError(
                .bucketRefused, "\(host) does not accept the key for the bucket \(bucket)", context: context)
        case (408, _), (429, _), (500..., _), (200..<300, _):
            context.remedy = "Publish again later; finished parts are not sent again."
            return PublishingError(
                .bucketFailed, "\(host) failed to \(call.doing)", context: context, disposition: .tryLater)
        default:
            context.remedy = "Check whether the endpoint is an S3 server."
            return PublishingError(.bucketFailed, "\(host) refused to \(call.doing)", context: context)
        }
    }
}

extension S3Call {
    /// The call in words, to complete "failed to …".
    var doing: String {
        switch method {
        case "GET", "HEAD": "read \(key ?? "the list of files")"
        case "DELETE": "remove \(key ?? "a file")"
        default: "store \(key ?? "a file")"
        }
    }
}
