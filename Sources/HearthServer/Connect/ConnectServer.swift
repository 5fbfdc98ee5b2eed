import Foundation
import Hearth
import HearthBase

/// The server of a home as apps are to use it, with the models that it offers.
package struct ConnectServer: Sendable {
    package var address: String
    /// Whether a process serves the home now.
    package var isServing: Bool
    /// A target for each model.
    package var targets: [ConnectTarget]
    /// The model of the settings.
    private var usual: String?

    /// The server of a home: its process if one runs, else what its settings and its installed models say.
    /// - Throws: `ServerError`, `FileError`.
    package static func find(
        _ place: ResidentPlace, _ configuration: Configuration, hearth: () async throws -> Hearth
    ) async throws -> ConnectServer {
        let client = ResidentClient(place)
        let status = try await client.object("GET", "/hearth/v1/status")
        let address = status?["address"]?.string ?? "http://127.0.0.1:\(configuration.server.port)"
        var targets: [ConnectTarget]
        if let list = try await client.object("GET", "/v1/models")?["data"]?.items {
            targets = list.compactMap { ConnectTarget($0, address: address) }
        } else {
            let models = try await HearthModels(hearth()).models()
            targets = models.map { model in
                var target = ConnectTarget(address: address, model: model.name, window: model.facts?.contextLength)
                target.take(model.facts?.abilities ?? [.completion, .tools])
                target.isPreset = model.preset != nil
                return target
            }
        }
        targets = targets.filter(\.answers)
        for index in targets.indices { targets[index].needsKey = configuration.server.requireKeys == .always }
        return ConnectServer(
            address: address, isServing: status != nil, targets: targets, usual: configuration.defaultModel)
    }

    /// The target with a model: the named one, else that of the settings, else the only one.
    /// - Throws: ``ConnectError`` with `app-model-needed`.
    package func target(_ name: String?) throws -> ConnectTarget {
        if let name = name ?? usual {
            if let target = targets.first(where: { $0.model == name || $0.model + ":latest" == name }) { return target }
            // Aliases and variants have the facts of no listed model.
            if let near = targets.first(where: { $0.aliases.contains(name) }) {
                var target = near
                target.model = name
                return target
            }
        }
        let models = targets.filter { !$0.isPreset }
        guard name == nil, let only = models.first, models.count == 1 else {
            let names = targets.prefix(20).map(\.model).joined(separator: ", ")
            throw ConnectError(
                .modelNeeded,
                targets.isEmpty
                    ? "no model is here for apps to use"
                    : name.map { "there is no model \($0.quoted); there are \(names)" }
                        ?? "several models are here: \(names)",
                context: ErrorContext(
                    model: name, field: targets.isEmpty ? "none" : "several",
                    remedy: targets.isEmpty ? "Install a model first." : "Name one of them."))
        }
        return only
    }
}

extension ConnectTarget {
    /// The window of a model whose own is not known.
    private static let assumedWindow = 8192

    init(address: String, model: String, window: Int?) {
        self.init(address: address, model: model, window: window ?? Self.assumedWindow)
    }

    /// The model of an entry of `/v1/models`.
    fileprivate init?(_ entry: JSONValue, address: String) {
        guard let name = entry["id"]?.string else { return nil }
        self.init(address: address, model: name, window: entry["context_length"].flatMap(Fields.integer))
        isPreset = entry["parent"]?.string != nil
        aliases = entry["aliases"]?.items?.compactMap(\.string) ?? []
        let words = entry["capabilities"]?.items?.compactMap(\.string)
        take(words?.compactMap(ServedFacts.Ability.init) ?? [.completion, .tools])
    }

    fileprivate mutating func take(_ abilities: [ServedFacts.Ability]) {
        answers = abilities.contains(.completion)
        hasTools = abilities.contains(.tools)
        hasVision = abilities.contains(.vision)
    }
}
