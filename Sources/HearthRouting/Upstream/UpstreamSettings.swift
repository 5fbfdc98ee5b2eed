import Foundation
import HearthBase
import HearthHTTP
import HearthInference

/// The interfaces of servers whose models are served.
package enum UpstreamKind: String, Sendable, Hashable, CaseIterable {
    /// Chat completions as OpenAI defined them: vLLM, llama.cpp's server, another Hearth.
    case openai
    /// Messages as Anthropic defined them.
    case anthropic
    case gemini

    /// The kind of cloud that speaks the same dialect.
    package var cloud: CloudKind {
        switch self {
        case .openai: .openai
        case .anthropic: .anthropic
        case .gemini: .gemini
        }
    }
}

/// Where the key of an upstream is: in the environment, else in a file.
package struct UpstreamKey: Sendable, Hashable {
    /// The variable of the environment, with `NAME` for the name in capital letters.
    package static let pattern = "HEARTH_UPSTREAM_NAME_KEY"
    /// The variable of the environment.
    package let variable: String
    private let text: String?
    private let file: Path?

    /// - Parameter name: the name of the upstream; `my.box` has the variable `HEARTH_UPSTREAM_MY_BOX_KEY`.
    package init(_ name: String, environment: [String: String] = [:], file: Path? = nil) {
        let word = name.uppercased().map { $0.isLetter || $0.isNumber ? $0 : "_" }
        variable = Self.pattern.replacing("NAME", with: String(word))
        text = environment[variable].flatMap { $0.isEmpty ? nil : $0 }
        self.file = file
    }

    /// Reads the key; `nil` without one. Blocks.
    /// - Throws: ``LLMError`` with `cloud-key-unusable`.
    func read() throws -> Secret? {
        if let text { return try CloudKey.secret(text, from: "the variable \(variable)") }
        return try file.map(CloudKey.read)
    }
}

/// Another server whose models are served, and the limits of its requests.
package struct UpstreamSettings: Sendable, Hashable {
    /// The first part of its models' names.
    package let name: String
    package let kind: UpstreamKind
    package let url: URL
    package var key: UpstreamKey
    /// Names of models, in which `*` stands for any letters; `nil` for all that the server lists.
    package var models: [String]?
    /// The requests that the server gets at once; `nil` for no limit.
    package var slots: Int?
    /// The longest silence, before the first token and after it.
    package var timeout = Self.defaultTimeout

    /// Servers on a processor read a long prompt for a minute and more.
    package static let defaultTimeout = Duration.seconds(120)

    package init(_ name: String, _ kind: UpstreamKind, url: URL) {
        (self.name, self.kind, self.url) = (name, kind, url)
        key = UpstreamKey(name)
    }

    /// The names that stand for one model each; `nil` if the server's list is needed.
    var plainNames: [String]? {
        guard let models, !models.contains(where: { $0.contains("*") }) else { return nil }
        return models
    }

    /// Whether a model of the server is served.
    func serves(_ model: String) -> Bool { models?.contains { Self.matches(model[...], $0[...]) } ?? true }

    /// Whether a text fits a pattern. Linear for each `*`, which takes as little as it can.
    private static func matches(_ text: Substring, _ pattern: Substring) -> Bool {
        let parts = pattern.split(separator: "*", omittingEmptySubsequences: false)
        guard let first = parts.first, let last = parts.last, parts.count > 1 else { return text == pattern }
        guard text.count >= first.count + last.count, text.hasPrefix(first), text.hasSuffix(last) else { return false }
        var rest = text.dropFirst(first.count).dropLast(last.count)
        for part in parts.dropFirst().dropLast() where !part.isEmpty {
            guard let found = rest.firstRange(of: part) else { return false }
            rest = rest[found.upperBound...]
        }
        return true
    }

    /// The cloud engine's settings for one of the server's models.
    func cloud(_ model: String, key: Secret?, contextLength: Int?) throws -> CloudSettings {
        var settings = try CloudSettings(kind.cloud, url: url, model: model, secret: key)
        settings.upstream = name
        (settings.firstByteTimeout, settings.idleTimeout) = (timeout, timeout)
        settings.passTimeout = .seconds(86_400)
        settings.historyLimit = .max
        if let contextLength { settings.contextLength = contextLength }
        return settings
    }
}
