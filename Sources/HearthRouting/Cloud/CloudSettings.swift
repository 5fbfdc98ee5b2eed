import Foundation
import HearthBase
import HearthHTTP

/// The kinds of cloud models.
public enum CloudKind: String, Sendable, Hashable, CaseIterable {
    /// Chat completions as OpenAI defined them, from any server.
    case openai
    /// Gemini, from Google.
    case gemini
    /// Gemini, through a relay of the app's publisher: `POST /ai/chat`, `GET /agent/health`.
    case geminiRelay = "gemini-relay"
    /// Messages as Anthropic defined them.
    case anthropic

    private var facts: (url: String?, model: String, keyVariable: String?, contextLength: Int) {
        switch self {
        case .openai: ("https://api.openai.com/v1", "gpt-4.1-mini", "OPENAI_API_KEY", 128_000)
        case .gemini:
            ("https://generativelanguage.googleapis.com", "gemini-2.5-flash", "GEMINI_API_KEY", 1_048_576)
        case .geminiRelay: (nil, "gemini-2.5-flash", nil, 1_048_576)
        case .anthropic: ("https://api.anthropic.com", "claude-haiku-4-5", "ANTHROPIC_API_KEY", 200_000)
        }
    }

    /// The vendor's address; `nil` for a relay, which has none of its own.
    package var defaultURL: URL? { facts.url.flatMap { URL(address: $0) } }
    package var defaultModel: String { facts.model }
    /// The variables of the environment that give the key, the first with a value.
    package var keyVariables: [String] { ["HEARTH_CLOUD_KEY"] + [facts.keyVariable].compactMap { $0 } }
    fileprivate var contextLength: Int { facts.contextLength }
}

/// Where a cloud model is, and the limits of its requests.
public struct CloudSettings: Sendable, Hashable {
    public var kind: CloudKind
    /// The server: `https`, or `http` to this machine. A path before the API's own is kept.
    public var url: URL
    public var model: String
    /// Sent to the server of `url` only; `nil` for a server that wants none.
    package var key: Secret?
    /// The name of the upstream, for a server whose models are served; `nil` for a cloud.
    package var upstream: String?
    /// The sections of a conversation that are sent.
    package var shares = CloudShares.all
    /// The longest wait for the beginning of an answer.
    public var firstByteTimeout: Duration
    /// The longest wait for the next bytes of an answer.
    public var idleTimeout: Duration
    /// The longest time of one answer; a request's own `timeout` may be shorter.
    public var passTimeout: Duration
    /// The most messages sent, system messages not counted.
    public var historyLimit: Int
    /// The context window in tokens.
    public var contextLength: Int

    /// A model of a kind: the vendor's address, its usual model and limits unless said otherwise.
    /// - Throws: ``HTTPError`` with `unsupported-url` for a relay without an address; ``LLMError`` with `cloud-key-unusable`
    ///   for a key of several words or lines.
    public init(_ kind: CloudKind, url: URL? = nil, model: String? = nil, key: String? = nil) throws {
        try self.init(kind, url: url, model: model, secret: key.map { try CloudKey.secret($0, from: "the given key") })
    }

    /// A model with the key that ``CloudKey`` found.
    package init(_ kind: CloudKind, url: URL?, model: String?, secret: Secret?) throws {
        guard let url = url ?? kind.defaultURL else {
            throw HTTPError(
                .unsupportedURL, "the relay has no address",
                context: ErrorContext(field: "cloud.url", remedy: "Give the address of the relay."),
                disposition: .usage)
        }
        self.kind = kind
        self.url = url
        self.model = model ?? kind.defaultModel
        key = secret
        // Some servers of this kind send their head only after they have read the prompt.
        firstByteTimeout = kind == .openai ? .seconds(60) : .seconds(15)
        idleTimeout = .seconds(60)
        passTimeout = .seconds(120)
        historyLimit = 50
        contextLength = kind.contextLength
    }

    /// Whether the server is the vendor's own, which answers nothing without a key, and the key is missing.
    package var lacksKey: Bool { key == nil && url.host() == kind.defaultURL?.host() }

    /// The host for messages.
    package var host: String {
        let name = url.host() ?? "the cloud"
        return url.port.map { "\(name):\($0)" } ?? name
    }
}
