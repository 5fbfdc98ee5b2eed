import Foundation
import HearthBase
import HearthHTTP
import HearthInference

/// A cloud model as an engine: Gemini, chat completions as OpenAI defined them, or Anthropic's messages.
///
/// ```swift
/// let engine = CloudEngine(try CloudSettings(.gemini, key: key))
/// let session = LanguageModelSession(model: engine)
/// ```
/// Each request is sent once: repeating it, or asking another engine, is the caller's decision. Only a conversation that is too
/// long for the model is sent a second time, with its older half left out. Preparing sends nothing.
/// Shapes of blocks within an answer are not sent: the model is held to them by its instructions alone.
public struct CloudEngine: InferenceEngine {
    public let settings: CloudSettings
    private let client: any HTTPClient
    private let onCredits: (@Sendable (Int) -> Void)?

    /// An engine for the model of `settings`.
    public init(_ settings: CloudSettings) {
        self.init(settings) { CreditReport.current?($0) }
    }

    /// The same with other parts.
    /// - Parameters:
    ///   - client: sends the requests.
    ///   - onCredits: called with the credits left, whenever a relay reports them.
    package init(
        _ settings: CloudSettings, client: any HTTPClient = SystemHTTP.client(),
        onCredits: (@Sendable (Int) -> Void)? = nil
    ) {
        self.settings = settings
        self.client = client
        self.onCredits = onCredits
    }

    /// The identity of the turn that requests belong to, sent to a relay, so that the passes of one turn cost once.
    @TaskLocal package static var turn: String?

    /// The server.
    public var address: URL { settings.url }

    public var modelInformation: ModelInformation {
        ModelInformation(
            description: "\(settings.model) (\(settings.host))", contextLength: settings.contextLength)
    }

    public var capabilities: EngineCapabilities {
        let all = settings.dialect.capabilities
        return settings.shares.sections.contains(.pictures) ? all : all.subtracting(.vision)
    }

    /// Asks whether the server answers, without a request that costs anything.
    /// - Throws: ``LLMError`` for any answer but success within 5 s.
    public func checkHealth() async throws {
        let limit = Duration.seconds(5)
        do {
            var request = try request(settings.dialect.healthPath, limit: limit)
            request.idleTimeout = limit
            let response = try await client.execute(request)
            guard (200..<300).contains(response.status) else { throw try await refusal(response) }
            if response.headers["Content-Type"]?.lowercased().hasPrefix("text/html") == true {
                throw CloudFailure(settings: settings).webPage
            }
        } catch let error as HTTPError {
            throw CloudFailure(settings: settings).transport(error, hasBegun: false)
        }
    }

    /// Answers the last message of `messages`.
    /// - Throws: ``LLMError``: `unreachable`, `unauthorised`, `rate-limited`, `no-credits`, `not-entitled`,
    ///   `remote-model-missing`, `timed-out`, `context-window-exceeded`, `unusable-answer`, `answer-interrupted` after a part of the
    ///   answer, `cannot-read-picture`, `engine-missing` for a grammar or a raw prompt. `CancellationError`.
    public func generate(
        _ messages: [ChatMessage], options: GenerationOptions, onEvent: @escaping @Sendable (GenerationEvent) -> Void
    ) async throws -> GenerationSummary {
        try check(options)
        return try await messages.continuing(options, onEvent) { messages, onEvent in
            try await answer(messages, options, onEvent)
        }
    }

    private func answer(
        _ messages: [ChatMessage], _ options: GenerationOptions,
        _ onEvent: @escaping @Sendable (GenerationEvent) -> Void
    ) async throws -> GenerationSummary {
        let shared = settings.shares.shared(messages)
        var history = CloudHistory(shared.messages, limit: settings.historyLimit)
        onEvent(.phase(.connecting))
        var pass = CloudPass(settings: settings, limit: min(options.timeout, settings.passTimeout), onEvent: onEvent)
        while true {
            let request = CloudRequest(history.messages, options: options)
            do {
                let answer = try await begin(request, pass)
                if history.dropped > 0 { onEvent(.truncated(dropped: history.dropped)) }
                if shared.withheldPictures > 0 { onEvent(.picturesLeftOut(count: shared.withheldPictures)) }
                return try await pass.read(answer, request: request)
            } catch let error as LLMError where error.code == .exceededContextWindowSize {
                guard !options.keepsAllMessages, !pass.hasCut, history.cut() else { throw error }
                pass.hasCut = true
            }
        }
    }

    private func check(_ options: GenerationOptions) throws {
        func missing(_ ability: String) -> LLMError {
            LLMError(
                .engineMissing, "\(settings.model) at \(settings.host) \(ability)",
                context: ErrorContext(model: settings.model, remedy: "Use a local model for that."), disposition: .usage
            )
        }
        guard options.usesChatTemplate || settings.dialect.capabilities.contains(.rawPrompt) else {
            throw missing("takes no raw prompt")
        }
        for block in options.constraint?.blocks ?? [] where block.opening.isEmpty {
            guard case .jsonSchema(let schema) = block.shape else { throw missing("takes no grammar") }
            try Self.check(schema)
        }
        for tool in options.tools { try Self.check(tool.parameters) }
    }

    private static func check(_ schema: String) throws {
        let members = (try? JSONValue(parsing: schema))?.members
        guard members != nil else { throw OutputConstraint.unusable("it is no JSON object") }
    }

    // MARK: Requests

    private func request(_ path: String, body: Data? = nil, limit: Duration) throws -> HTTPRequest {
        guard !settings.lacksKey else { throw CloudFailure(settings: settings).keyMissing }
        var base = settings.url.absoluteString
        while base.hasSuffix("/") { base.removeLast() }
        // An address may have the API's version already.
        let version = path.dropFirst().prefix { $0 != "/" }
        if !version.isEmpty, base.hasSuffix("/\(version)"), version.hasPrefix("v1") {
            base.removeLast(version.count + 1)
        }
        guard let url = URL(address: base + path) else {
            throw LLMError(.unreachable, "\(settings.url) is not an address that can be used", disposition: .usage)
        }
        var headers = HTTPHeaders()
        for header in settings.dialect.headers(key: settings.key) { headers[header.name] = header.value }
        if body != nil {
            headers["Content-Type"] = "application/json"
            headers["Accept"] = "text/event-stream, application/json"
        }
        if settings.kind == .geminiRelay { headers["X-Hearth-Turn"] = Self.turn }
        if settings.upstream != nil { headers[UpstreamHops.header] = "\(UpstreamHops.count + 1)" }
        // Redirects are not followed: neither the key nor the conversation is for another server.
        return HTTPRequest(
            url, method: body == nil ? "GET" : "POST", headers: headers, body: body,
            connectTimeout: min(limit, .seconds(10)), idleTimeout: max(settings.idleTimeout, settings.firstByteTimeout),
            totalTimeout: limit, maximumRedirects: 0)
    }

    /// Sends a request and reads a document.
    /// - Parameter body: the document to send; `nil` asks only.
    /// - Throws: ``LLMError``.
    func document(_ path: String, body: JSONValue? = nil, limit: Duration) async throws -> JSONValue {
        let failure = CloudFailure(settings: settings)
        do {
            var request = try request(path, body: body.map { Data($0.bytes) }, limit: limit)
            request.idleTimeout = limit
            let response = try await client.execute(request)
            guard (200..<300).contains(response.status) else { throw try await refusal(response) }
            let data = try await response.body.collect(upTo: CloudReader.limit)
            if data.first(where: { $0 > 0x20 }) == UInt8(ascii: "<") { throw failure.webPage }
            do {
                return try JSONValue(parsing: data)
            } catch {
                throw failure.unusable("something that is not JSON", underlying: error)
            }
        } catch let error as HTTPError {
            throw failure.transport(error, hasBegun: false)
        }
    }

    /// Sends a generation and waits for the first bytes of its answer.
    private func begin(_ generation: CloudRequest, _ pass: CloudPass) async throws -> CloudBody {
        let failure = CloudFailure(settings: settings)
        guard pass.left > .zero else { throw failure.timedOut(after: pass.limit) }
        let body = Data(try settings.dialect.body(generation).bytes)
        let request = try request(settings.dialect.path(of: generation), body: body, limit: pass.left)
        do {
            let begun = try await within(settings.firstByteTimeout) {
                let response = try await client.execute(request)
                if let credits = response.headers["X-Hearth-Credits"].flatMap({ Int($0) }) { onCredits?(credits) }
                guard (200..<300).contains(response.status) else { throw try await refusal(response) }
                var chunks = response.body.makeAsyncIterator()
                let first = try await chunks.next()
                return CloudBody(first: first, rest: chunks)
            }
            guard let begun else { throw failure.timedOut(after: settings.firstByteTimeout) }
            return begun
        } catch let error as HTTPError {
            throw failure.transport(error, hasBegun: false)
        }
    }

    /// The error of a response that is no success.
    private func refusal(_ response: HTTPResponse) async throws -> LLMError {
        let failure = CloudFailure(settings: settings)
        if (300..<400).contains(response.status) { return failure.redirect(to: response.headers["Location"]) }
        var body = Data()
        do {
            for try await chunk in response.body where body.count < 64 << 10 { body.append(contentsOf: chunk) }
        } catch is HTTPError {
            // The status says enough without the server's words.
        }
        return failure.status(response.status, headers: response.headers, body: body)
    }
}

/// The body of an answer whose first bytes have arrived.
struct CloudBody: Sendable {
    /// `nil` for an empty body.
    let first: [UInt8]?
    let rest: HTTPBody.Iterator
}
