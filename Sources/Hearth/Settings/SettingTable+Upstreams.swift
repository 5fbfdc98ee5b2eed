import Foundation
import HearthBase
import HearthRouting

extension Setting {
    static let upstreams: [Setting] = [
        upstream("kind") { name, key in
            Setting(
                key, optional: \.[upstream: name].kind, .choice, unset: "none",
                changed: { $0.forgetKey(ofMoved: name, since: $1) },
                "The interface of another server whose models are served as NAME/MODEL.")
        },
        upstream("url") { name, key in
            Setting(
                key, optional: \.[upstream: name].url, .server, unset: "the vendor's",
                implied: { $0[upstream: name].kind?.cloud.defaultURL?.absoluteString },
                changed: { $0.forgetKey(ofMoved: name, since: $1) },
                "The address of the server; another one resets the key's file.")
        },
        upstream("keyFile") { name, key in
            Setting(
                key, optional: \.[upstream: name].keyFile, .path, unset: "the variable \(UpstreamKey.pattern)",
                "A file with the server's key, which only you may read.")
        },
        upstream("models") { name, key in
            Setting(
                key, optional: \.[upstream: name].models, .patterns, unset: "all that the server lists",
                "The models of the server that are served; * stands for any letters.")
        },
        upstream("slots") { name, key in
            Setting(
                key, optional: \.[upstream: name].slots, .integer(1...4096), unset: "no limit",
                "The requests that the server gets at once; others wait.")
        },
        upstream("timeout") { name, key in
            Setting(
                key, optional: \.[upstream: name].timeout, .integer(1...3600), unit: "seconds",
                default: "\(UpstreamSettings.defaultTimeout.components.seconds)",
                "The longest silence of the server, before the first token and after it.")
        },
        .family("aliases.NAME", named: .model, { $0.aliases.keys.sorted() }) { name in
            Setting(
                "aliases.\(name)", optional: \.aliases[name], .targets,
                "The models that answer requests for NAME: each stands in for those before it if they fail.")
        },
    ]

    /// A setting of each upstream.
    private static func upstream(
        _ field: String, _ row: @escaping @Sendable (_ name: String, _ key: String) -> Setting
    ) -> Setting {
        let suffix = ".\(field)"
        return .family("upstreams.NAME" + suffix, named: .plain, { $0.upstreams.keys.sorted() }) { name in
            row(name, "upstreams.\(name)\(suffix)")
        }
    }
}
