import Foundation
import HearthBase
import HearthHTTP
import HearthRouting

/// The settings `upstreams.NAME.*`: another server whose models are served.
package struct UpstreamConfiguration: Sendable, Hashable {
    /// `nil` for an upstream that is not complete yet.
    package var kind: UpstreamKind?
    /// `nil` for the vendor's.
    package var url: URL?
    package var keyFile: Path?
    /// Names of models, in which `*` stands for any letters; `nil` for all that the server lists.
    package var models: [String]?
    /// The requests that the server gets at once; `nil` for no limit.
    package var slots: Int?
    /// The longest silence in seconds; `nil` for the default.
    package var timeout: Int?

    /// The address that is asked; `nil` for an upstream that is not complete yet.
    fileprivate var address: URL? { url ?? kind?.cloud.defaultURL }
}

extension Configuration {
    /// The settings of an upstream; empty ones for an unknown name.
    package subscript(upstream name: String) -> UpstreamConfiguration {
        get { upstreams[name] ?? UpstreamConfiguration() }
        set { upstreams[name] = newValue == UpstreamConfiguration() ? nil : newValue }
    }

    /// The upstreams that can be used. One with an invalid setting is not used: a question must not reach another server than
    /// the one that was meant.
    package func usableUpstreams(environment: [String: String]) -> [UpstreamSettings] {
        guard !forceLocal, problem(of: "routing.forceLocal") == nil else { return [] }
        return upstreams.sorted { $0.key < $1.key }.compactMap { name, upstream in
            guard let kind = upstream.kind, !hasProblem(upstream: name), let url = upstream.url ?? kind.cloud.defaultURL
            else { return nil }
            var settings = UpstreamSettings(name, kind, url: url)
            settings.models = upstream.models
            settings.slots = upstream.slots
            settings.key = UpstreamKey(name, environment: environment, file: upstream.keyFile)
            if let seconds = upstream.timeout { settings.timeout = .seconds(seconds) }
            return settings
        }
    }

    /// Drops the key's file of an upstream that has another address than before: the key of one server is not sent to another.
    mutating func forgetKey(ofMoved name: String, since before: Configuration) {
        guard let old = before[upstream: name].address, old != self[upstream: name].address else { return }
        self[upstream: name].keyFile = nil
    }

    /// Whether a setting of an upstream is invalid.
    func hasProblem(upstream name: String) -> Bool {
        invalid.keys.contains { $0 == "upstreams" || $0.hasPrefix("upstreams.\(name).") }
    }
}

extension SettingForm where Value == [String] {
    /// Names of models of a server, in which `*` stands for any letters.
    static var patterns: Self {
        list("names of models such as qwen3-*, separated by commas", atMost: 200, { $0 }) { (text: String) in
            text.utf8.count <= 256 && text.isPlain() ? text : nil
        }
    }

    /// The models of an alias, in the order in which they are tried.
    static var targets: Self {
        list("names of models of this device or NAME/MODEL of upstreams, separated by commas", atMost: 16, { $0 }) {
            (text: String) in text.utf8.count <= 256 && text.isPlain() && !text.contains(" ") ? text : nil
        }
    }
}
