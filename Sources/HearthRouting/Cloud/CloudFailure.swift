import Foundation
import HearthBase
import HearthHTTP
import HearthInference

/// Translates what a cloud server or the network says into ``LLMError``, with the server's own words but never the key.
struct CloudFailure: Sendable {
    let settings: CloudSettings

    /// The server for remedies.
    private var subject: String { settings.upstream.map { "the upstream \($0)" } ?? "the cloud model" }

    // MARK: Answers of the server

    /// The error of a status that is not 2xx.
    func status(_ status: Int, headers: HTTPHeaders, body: Data) -> LLMError {
        // A page of a proxy is not JSON; then the status alone names the error.
        let document = try? JSONValue(parsing: body)
        // Gemini sends a list of one error where it would have sent a list of pieces.
        return error(status: status, document?.items?.first ?? document ?? .null, retryAfter: headers["Retry-After"])
    }

    /// The error that stands where a piece of the answer should.
    func piece(_ piece: JSONValue) -> LLMError { error(status: nil, piece, retryAfter: nil) }

    /// A redirect: the key and the conversation are for the configured server only.
    func redirect(to location: String?) -> LLMError {
        let target = location.flatMap { URL(address: $0)?.host() }
        return LLMError(
            .unusableAnswer, "\(settings.host) redirects to \(target ?? "another address"), which is not followed",
            context: context(remedy: "Set the address of \(subject) to the server that answers."))
    }

    /// The vendor's server answers nothing without a key: nothing is sent to it.
    var keyMissing: LLMError {
        LLMError(
            .unauthorised, "\(settings.host) wants a key, and none is set",
            context: context(remedy: "Give the key of \(subject)."))
    }

    private func error(status: Int?, _ document: JSONValue, retryAfter: String?) -> LLMError {
        let error = document["error"] ?? document
        let details = error["details"]?.items ?? []
        let text = error.string ?? error["message"]?.string ?? document["message"]?.string ?? document["detail"]?.string
        let words = Set(
            (["type", "code", "status"].map { error[$0]?.string } + details.map { $0["reason"]?.string }).compactMap(
                \.self)
        )
        let status = status ?? error["code"]?.count
        let code = code(status: status, words: words, text: (text ?? "").lowercased())
        let (sentence, remedy) = explanation(of: code)
        var context = context(remedy: remedy)
        context.found = status.map { "status \($0)" }
        if code == .exceededContextWindowSize { Self.note(error, text ?? "", in: &context) }
        let delay = retryAfter ?? details.lazy.compactMap { $0["retryDelay"]?.string }.first
        context.retryAfterSeconds = delay.flatMap { Self.seconds($0, now: Date()) }
        let serverText = text.map { ": " + shown($0) } ?? status.map { " (status \($0))" } ?? ""
        return LLMError(
            code, sentence + serverText, context: context, disposition: remedy == Self.later ? .tryLater : .failed)
    }

    /// The kind of error, from what the vendors say in the status, in machine-readable words, or only in the text.
    private func code(status: Int?, words: Set<String>, text: String) -> ErrorCode<ModelInformation> {
        func says(_ candidates: String...) -> Bool { !words.isDisjoint(with: candidates) }
        func reads(_ candidates: String...) -> Bool { candidates.contains { text.contains($0) } }
        if says("context_length_exceeded", "exceed_context_size_error", "request_too_large") || status == 413
            || reads(
                "prompt is too long", "maximum context length", "exceeds the maximum number of tokens",
                "available context size")
        {
            return .exceededContextWindowSize
        }
        if says("insufficient_quota", "billing_error") || status == 402 || reads("credit balance is too low") {
            return .noCredits
        }
        if says("API_KEY_INVALID", "invalid_api_key", "authentication_error", "UNAUTHENTICATED") || status == 401
            || reads("api key not valid")
        {
            return .unauthorised
        }
        if says("PERMISSION_DENIED", "permission_error") || status == 403 {
            return settings.kind == .geminiRelay ? .notEntitled : .unauthorised
        }
        if says("not_found_error", "NOT_FOUND", "model_not_found") || status == 404 { return .remoteModelMissing }
        if says("DEADLINE_EXCEEDED", "timeout_error") || status == 408 || status == 504 { return .timedOut }
        if says("RESOURCE_EXHAUSTED", "UNAVAILABLE", "overloaded_error", "rate_limit_error", "rate_limit_exceeded")
            || [429, 503, 529].contains(status)
        {
            return .rateLimited
        }
        if says("INTERNAL", "api_error", "server_error") || (status ?? 0) >= 500 { return .unreachable }
        return .generateFailed
    }

    /// The sentence and the remedy for a kind of error.
    private func explanation(of code: ErrorCode<ModelInformation>) -> (sentence: String, remedy: String?) {
        let host = settings.host
        switch code {
        case .exceededContextWindowSize:
            return (
                "the conversation is too long for \(settings.model) at \(host)",
                "Start a new conversation, or send less."
            )
        case .noCredits: return ("the account at \(host) has no credits left", nil)
        case .unauthorised:
            let sentence = settings.key == nil ? "\(host) wants a key" : "\(host) refused the key"
            return (sentence, "Check the key of \(subject).")
        case .notEntitled: return ("the account's plan at \(host) does not include the cloud model", nil)
        case .remoteModelMissing:
            let sentence = "\(host) does not offer the model \(settings.model.quoted)"
            return (sentence, "Check the name and the address of \(subject).")
        case .timedOut: return ("\(host) did not answer in time", Self.later)
        case .rateLimited: return ("\(host) takes no request for now", Self.later)
        case .unreachable: return ("\(host) failed", Self.later)
        default: return ("\(host) refused the request", nil)
        }
    }

    private static let later = "Try again later."

    /// Notes how long the conversation is and may be, as far as the server says so.
    private static func note(_ error: JSONValue, _ text: String, in context: inout ErrorContext) {
        var (found, expected) = (error["n_prompt_tokens"]?.count, error["n_ctx"]?.count)
        if let match = text.firstMatch(of: /([0-9]{1,9}) tokens > ([0-9]{1,9})/) {
            (found, expected) = (Int(match.1), Int(match.2))
        } else if let match = text.firstMatch(of: /maximum context length is ([0-9]{1,9}) tokens/) {
            expected = Int(match.1)
            found = text[match.range.upperBound...].firstMatch(of: /([0-9]{1,9}) (?:input )?tokens/).flatMap {
                Int($0.1)
            }
        }
        if let found { context.found = "\(found) tokens" }
        if let expected { context.expected = "at most \(expected) tokens" }
    }

    /// The server's words, quoted, on one line, without the key: some servers repeat it.
    private func shown(_ text: String) -> String {
        (settings.key.map { text.replacing($0.value, with: "(secret)") } ?? text).quoted(limit: 200)
    }

    /// Seconds from `17`, `17.5s` or an HTTP date.
    static func seconds(_ text: String, now: Date) -> Double? {
        if let seconds = Double(text.hasSuffix("s") ? text.dropLast() : text[...]), seconds.isFinite {
            return max(0, seconds)
        }
        let format = Date.VerbatimFormatStyle(
            format: """
                \(weekday: .abbreviated), \(day: .twoDigits) \(month: .abbreviated) \(year: .defaultDigits) \
                \(hour: .twoDigits(clock: .twentyFourHour, hourCycle: .zeroBased)):\(minute: .twoDigits):\
                \(second: .twoDigits) GMT
                """, locale: Locale(identifier: "en_US_POSIX"), timeZone: .gmt,
            calendar: Calendar(identifier: .gregorian))
        // A text that is no date is no time to wait.
        guard let date = try? Date(text, strategy: format.parseStrategy) else { return nil }
        return max(0, date.timeIntervalSince(now))
    }

    // MARK: Bytes that are not an answer

    /// Something that is not in the dialect's format.
    func unusable(_ what: String, remedy: String? = nil, underlying: (any Error)? = nil) -> LLMError {
        LLMError(
            .unusableAnswer, "\(settings.host) sent \(what)", context: context(remedy: remedy), underlying: underlying)
    }

    /// The page of a proxy or a network that wants a log-in.
    var webPage: LLMError {
        unusable(
            "a web page instead of an answer",
            remedy: "Check the address of \(subject), and whether this network wants a sign-in.")
    }

    func interrupted(_ how: String, underlying: (any Error)? = nil) -> LLMError {
        LLMError(
            .answerInterrupted, "the answer of \(settings.host) \(how)", context: context(remedy: "Ask again."),
            disposition: .tryLater, underlying: underlying)
    }

    // MARK: The network

    /// No answer in time, counted in whole or tenths of seconds.
    func timedOut(after limit: Duration, underlying: (any Error)? = nil) -> LLMError {
        let seconds = limit.seconds.formatted(
            .number.precision(.fractionLength(0...1)).locale(Locale(identifier: "en")))
        return LLMError(
            .timedOut, "\(settings.host) did not begin to answer within \(seconds) s",
            context: context(remedy: Self.later), disposition: .tryLater, underlying: underlying)
    }

    /// A request that failed without a usable response.
    /// - Parameter hasBegun: a part of the answer has arrived.
    func transport(_ error: HTTPError, hasBegun: Bool) -> LLMError {
        switch error.code {
        case .tooLarge:
            return unusable("a piece of an answer that is larger than it may be", underlying: error)
        case .badResponse: return unusable("something that is not an answer", underlying: error)
        case .timedOut where hasBegun, .connectionLost where hasBegun:
            return interrupted("broke off: \(error.message)", underlying: error)
        case .timedOut:
            return LLMError(
                .timedOut, error.message, context: context(remedy: Self.later), disposition: .tryLater,
                underlying: error)
        default:
            return LLMError(
                .unreachable, error.message,
                context: context(
                    remedy: error.context.remedy ?? "Check the network and the address of \(subject)."),
                disposition: error.disposition, underlying: error)
        }
    }

    private func context(remedy: String?) -> ErrorContext {
        // The address without a user, a password and a query, which may be secrets.
        let address = settings.url.scheme.map { "\($0)://\(settings.host)\(settings.url.path())" }
        return ErrorContext(model: settings.model, url: address, remedy: remedy)
    }
}
