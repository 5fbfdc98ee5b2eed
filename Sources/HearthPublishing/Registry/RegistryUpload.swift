import Foundation
import HearthBase
import HearthCatalog
import HearthHTTP
import HearthTransfer

/// Sends blobs and manifests to one repository of a registry (OCI distribution specification, "Push").
struct RegistryUpload: Sendable {
    let reference: RegistryReference
    /// The address of the repository.
    let base: URL
    let client: any HTTPClient
    let time: TimeSource

    /// The bytes of one request.
    static let pieceSize: UInt64 = 16 << 20
    /// The longest silence of a registry that stores something.
    private static let longestStoring = Duration.seconds(300)
    private static let maximumAnswer = 4 << 20

    /// An answer with its body.
    struct Answer: Sendable {
        let status: Int
        let headers: HTTPHeaders
        let url: URL
        let body: Data
    }

    /// Whether the registry has a blob.
    func holds(_ digest: SHA256Digest) async throws -> Bool {
        try await send("HEAD", base.below("blobs/\(digest.tagged)"), accepted: [404]).status != 404
    }

    /// Sends a blob in pieces. After a broken connection, it continues where the registry says that it is.
    /// - Parameters:
    ///   - read: the bytes of a range.
    ///   - progress: told the bytes that the registry has.
    func send(
        _ digest: SHA256Digest, size: UInt64, progress: @Sendable (UInt64) -> Void = { _ in },
        _ read: @Sendable (Range<UInt64>) async throws -> Data
    ) async throws {
        var place = try location(try await send("POST", base.below("blobs/uploads/"), accepted: []))
        var sent: UInt64 = 0
        var budget = RetryBudget()
        while sent < size {
            let range = sent..<min(size, sent + Self.pieceSize)
            do {
                let answer = try await attempt(
                    "PATCH", place, body: try await read(range),
                    headers: [
                        "Content-Type": "application/octet-stream",
                        "Content-Range": "\(range.lowerBound)-\(range.upperBound - 1)",
                    ])
                guard answer.status == 202 else { throw failed(answer) }
                place = try location(answer)
                sent = range.upperBound
                budget = RetryBudget()
            } catch let error as any HearthFailure where error.disposition == .tryLater {
                guard let pause = budget.failed(0, madeProgress: false, jitter: .random(in: 0..<1)) else { throw error }
                try await time.sleep(for: pause)
                (place, sent) = try await state(of: place, before: size)
            }
            progress(sent)
        }
        _ = try await send("PUT", place.adding("digest=\(PercentText.encoded(digest.tagged))"), accepted: [])
    }

    /// Where an upload is after a broken connection.
    private func state(of upload: URL, before size: UInt64) async throws -> (URL, UInt64) {
        let answer = try await send("GET", upload, accepted: [])
        let end = answer.headers["Range"].flatMap { $0.split(separator: "-").last }.flatMap { UInt64($0) }
        guard let end, end < size else {
            throw PublishingError(
                .uploadBroken, "\(reference.host) does not tell how much of an upload it has",
                context: ErrorContext(
                    model: reference.description, expected: "Range: 0-N", found: answer.headers["Range"],
                    remedy: "Publish again."))
        }
        // An upload without bytes is told as `0-0`; a piece is never one byte before the end.
        return (try location(answer), end == 0 ? 0 : end + 1)
    }

    /// Stores a manifest under a tag or its digest.
    func put(_ manifest: Data, as name: String, type: String) async throws -> Answer {
        try await send(
            "PUT", base.below("manifests/\(name)"), body: manifest, headers: ["Content-Type": type], accepted: [])
    }

    /// The manifest of a tag; `nil` if there is none.
    func manifest(_ name: String, type: String) async throws -> Data? {
        let answer = try await send(
            "GET", base.below("manifests/\(name)"), headers: ["Accept": type], accepted: [404])
        return answer.status == 404 ? nil : answer.body
    }

    // MARK: - Requests

    /// Sends a request that may be repeated.
    private func send(
        _ method: String, _ url: URL, body: Data? = nil, headers: HTTPHeaders = [:], accepted: Set<Int>
    ) async throws -> Answer {
        var budget = RetryBudget()
        while true {
            do {
                let answer = try await attempt(method, url, body: body, headers: headers)
                guard (200...299).contains(answer.status) || accepted.contains(answer.status) else {
                    throw failed(answer)
                }
                return answer
            } catch let error as any HearthFailure where error.disposition == .tryLater {
                guard let pause = budget.failed(0, madeProgress: false, jitter: .random(in: 0..<1)) else { throw error }
                try await time.sleep(for: pause)
            }
        }
    }

    private func attempt(_ method: String, _ url: URL, body: Data?, headers: HTTPHeaders) async throws -> Answer {
        var request = HTTPRequest(
            url, method: method, headers: headers, body: body, maximumRedirects: 0,
            maximumBodySize: UInt64(Self.maximumAnswer))
        if method != "GET", method != "HEAD" { request.idleTimeout = Self.longestStoring }
        let response = try await client.execute(request)
        let data = try await response.body.collect(upTo: Self.maximumAnswer)
        return Answer(status: response.status, headers: response.headers, url: response.url, body: data)
    }

    /// The address of an upload. It may be relative, and on another host of the registry, which is sent no log-in of this one.
    private func location(_ answer: Answer) throws -> URL {
        guard let text = answer.headers["Location"], let url = URL(address: text, relativeTo: answer.url),
            url.authority != nil
        else {
            throw PublishingError(
                .registryFailed, "\(reference.host) gave no address for an upload",
                context: ErrorContext(model: reference.description, expected: "Location", found: "\(answer.status)"))
        }
        return url
    }

    private func failed(_ answer: Answer) -> PublishingError {
        let reason = (try? JSONValue(parsing: answer.body))?["errors"]?.items?.first?["code"]?.string
        let isPassing = answer.status >= 500 || [408, 425, 429].contains(answer.status)
        let isRefused = [401, 403, 404].contains(answer.status)
        return PublishingError(
            isRefused ? .registryRefused : .registryFailed,
            "\(reference.path) answered \(answer.status)" + (reason.map { ": \(String($0.prefix(100)).quoted)" } ?? ""),
            context: ErrorContext(
                model: reference.description, url: answer.url.shown, found: "\(answer.status)",
                remedy: isRefused
                    ? "Check the name, and log in with the program that keeps its log-in for containers."
                    : isPassing ? "Try again later." : "Check whether the server is an OCI registry."),
            disposition: isPassing ? .tryLater : .failed)
    }
}

extension URL {
    /// The address with another item at the end of its query.
    fileprivate func adding(_ item: String) -> URL {
        asking((query(percentEncoded: true).map { $0.isEmpty ? "" : "\($0)&" } ?? "") + item)
    }
}
