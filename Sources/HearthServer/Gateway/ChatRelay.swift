import Foundation
import HearthBase
import HearthHTTP

/// Forwards requests to Gemini with the publisher's key, and streams the answers back.
///
/// A request has Gemini's own body and a client's `Accept`: without `application/json` alone it gets events, else a JSON
/// array. Both forms are passed on byte by byte.
package struct ChatRelay: Sendable {
    /// The largest body of a request: pictures are in it, as base64.
    static let bodyLimit = 20 << 20
    /// The longest wait for the first token.
    private static let firstTokenLimit = Duration.seconds(60)
    /// The longest time of an answer.
    private static let answerLimit = Duration.seconds(300)
    /// The most bytes before the first token; more count as one.
    private static let headLimit = 1 << 20
    private static let errorLimit = 64 << 10

    private let url: URL
    private let model: String
    private let key: Secret
    private let http: any HTTPClient

    /// Asks a model of Gemini at a server, with a key.
    package init(url: URL, model: String, key: Secret, http: any HTTPClient = SystemHTTP.client()) {
        (self.url, self.model, self.key) = (url, model, key)
        self.http = http
    }

    /// An answer whose first token, or whose end, has arrived.
    struct Begun: Sendable {
        let mode: ChatProgress.Mode
        /// Whether there is a token; without one the answer has ended, and costs nothing.
        let hasToken: Bool
        fileprivate let first: [UInt8]
        fileprivate let progress: ChatProgress
        /// `nil` after the end of the body.
        fileprivate let rest: HTTPBody.Iterator?
    }

    /// Checks a request's body.
    /// - Returns: the body to send, in which each field occurs once, as it was checked.
    /// - Throws: ``GatewayRefusal``.
    func checked(_ body: [UInt8]) async throws -> [UInt8] {
        try await blocking {
            let document: JSONValue
            do {
                document = try JSONValue(parsing: Data(body))
            } catch {
                throw GatewayRefusal.badRequest("the body is not a JSON document: \(error)")
            }
            guard case .array(let contents)? = document.members?["contents"], !contents.isEmpty else {
                throw GatewayRefusal.badRequest("the body has no contents")
            }
            if let field = RelayedFields.refused(in: document) {
                throw GatewayRefusal.badRequest("the gateway does not pass on \(field.quoted)")
            }
            return document.bytes
        }
    }

    /// Sends a request and waits for the first token.
    /// - Throws: ``GatewayRefusal`` with the cloud's failure in words for the client; `CancellationError`.
    func begin(_ body: [UInt8], _ mode: ChatProgress.Mode) async throws -> Begun {
        do {
            let begun = try await withThrowingTaskGroup(of: Begun?.self) { group in
                group.addTask { try await ask(body, mode) }
                group.addTask {
                    try await Task.sleep(for: Self.firstTokenLimit)
                    return nil
                }
                defer { group.cancelAll() }
                return try await group.next() ?? nil
            }
            guard let begun else { throw Self.away(504, "the cloud model did not begin to answer in time") }
            return begun
        } catch let error as HTTPError {
            Log.write(.warning, "gateway", "the cloud model cannot be asked", [.error(error)])
            throw error.code == .timedOut
                ? Self.away(504, "the cloud model did not begin to answer in time")
                : Self.away(502, "the cloud model cannot be reached")
        }
    }

    private func ask(_ body: [UInt8], _ mode: ChatProgress.Mode) async throws -> Begun {
        var base = self.url.absoluteString
        while base.hasSuffix("/") { base.removeLast() }
        let model = PercentText.encoded(self.model)
        let query = mode == .events ? "?alt=sse" : ""
        guard let url = URL(address: "\(base)/v1beta/models/\(model):streamGenerateContent\(query)") else {
            throw Self.away(502, "the address of the cloud model cannot be used")
        }
        let response = try await http.execute(
            HTTPRequest(
                url, method: "POST",
                headers: ["Content-Type": "application/json", "x-goog-api-key": key.value],
                body: Data(body), idleTimeout: Self.firstTokenLimit, totalTimeout: Self.answerLimit,
                // The key and the conversation are for this server only.
                maximumRedirects: 0))
        guard response.status == 200 else { throw await refusal(response) }
        var (progress, first) = (ChatProgress(mode), [UInt8]())
        var chunks = response.body.makeAsyncIterator()
        while !progress.hasToken, first.count < Self.headLimit {
            guard let chunk = try await chunks.next() else {
                try progress.finish()
                try check(progress)
                return Begun(
                    mode: mode, hasToken: progress.hasToken, first: first, progress: progress, rest: nil)
            }
            first += chunk
            try progress.append(chunk)
            try check(progress)
        }
        return Begun(mode: mode, hasToken: true, first: first, progress: progress, rest: chunks)
    }

    /// Throws the error that came in place of the first token.
    private func check(_ progress: ChatProgress) throws {
        guard let failure = progress.failure, !progress.hasToken else { return }
        var status = 502
        if case .number(let digits)? = failure.members?["code"], let code = Int(digits) { status = code }
        throw refusal(status, failure, retryAfter: nil)
    }

    /// Writes an answer that has begun.
    /// - Throws: `HTTPError` if the cloud breaks off, so that the client's connection breaks too; `CancellationError`.
    func write(_ begun: Begun, to writer: BodyWriter) async throws {
        try await writer.write(begun.first)
        guard var rest = begun.rest else { return }
        while let chunk = try await rest.next() { try await writer.write(chunk) }
    }

    // MARK: Refusals

    private func refusal(_ response: HTTPResponse) async -> GatewayRefusal {
        var body = Data()
        do {
            for try await chunk in response.body where body.count < Self.errorLimit {
                body.append(contentsOf: chunk)
            }
        } catch {
            // The status says enough without the server's words.
        }
        // A body that is no JSON has no message; the status decides then.
        let document = try? JSONValue(parsing: body)
        var error = document?.members?["error"]
        // Gemini sends a list of one error where it would have sent a list of pieces.
        if case .array(let items)? = document { error = items.first?.members?["error"] }
        return refusal(response.status, error ?? .null, retryAfter: response.headers["Retry-After"])
    }

    /// Translates the cloud's failure for a client of the gateway. A failure of the publisher's own key is the gateway's,
    /// not the client's; only what is wrong with the request itself is passed on in the cloud's words.
    private func refusal(_ status: Int, _ error: JSONValue, retryAfter: String?) -> GatewayRefusal {
        var message = "the cloud model refuses the request"
        if case .string(let text)? = error.members?["message"] { message = String(text.prefix(500)) }
        message = message.replacing(key.value, with: "(secret)")
        var reasons = ""
        if case .array(let details)? = error.members?["details"] {
            for case .string(let reason)? in details.map({ $0.members?["reason"] }) { reasons += reason + " " }
        }
        Log.write(.warning, "gateway", "the cloud model refuses a request", [.count("status", status)])
        switch status {
        case 400 where !reasons.contains("API_KEY"), 413:
            return .cloud(status: status, code: "cloud-refused", message: message, retryAfter: nil)
        case 429:
            let seconds = retryAfter.flatMap { Int($0) }.map { "\(min(max(1, $0), 300))" }
            return .cloud(
                status: 429, code: "cloud-busy", message: "the cloud model takes no request for now",
                retryAfter: seconds ?? "5")
        case 408, 500...599: return Self.away(503, "the cloud model failed")
        default: return Self.away(502, "the cloud model refuses this gateway")
        }
    }

    private static func away(_ status: Int, _ message: String) -> GatewayRefusal {
        .cloud(status: status, code: "cloud-unavailable", message: message, retryAfter: nil)
    }
}
