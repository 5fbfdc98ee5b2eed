import Foundation
import Hearth
import HearthAssistant
import HearthBase

struct KeyBody: Codable, Sendable, Hashable {
    var id: String
    var name: String
    var scopes: [String]
    var created: Date
}

struct KeysBody: Codable, Sendable, Hashable { var keys: [KeyBody] }

enum ScopeWord: String, SchemaWord { case chat, models, admin }

struct KeyOrder: Codable, Sendable {
    var name: String
    var scopes: [ScopeWord]
    /// A printed code, which a page has to send.
    var code: String?
}

/// A new key, which is shown once.
struct NewKeyBody: Codable, Sendable, Hashable {
    var id: String
    var key: String
}

extension NativeService {
    /// Settings and keys.
    static func settingRoutes(_ service: NativeService) -> [NativeRoute] {
        [
            .plain("GET", "/settings", "All settings with their kinds and values") { _ in
                let event = service.log.lastID
                let configuration = try await SettingsFile(home: service.records.path).read()
                return SettingsBody(settings: configuration.rows().map(\.withoutSecrets), event: event)
            },
            .raw(
                "PATCH", "/settings", "Change settings, all or none; null removes a value",
                input: NativeRoute.Input(
                    example: #"{"temperature": 0.7, "chat.showThinking": false, "threads": null}"#,
                    mediaTypes: ["application/json"],
                    describe: { _ in
                        .object([
                            "type": .string("object"),
                            "additionalProperties": .object([
                                "type": .array(["string", "number", "boolean", "null"].map { .string($0) })
                            ]),
                        ])
                    }, check: { _ = try Self.values($0) }),
                mediaType: "application/json", output: { try $0.schema(of: SettingsBody.self) }
            ) { call in
                try NativeRoute.requireJSON(call.request)
                let values = try Self.values(try await call.request.body.collect(limit: NativeRoute.bodyLimit))
                let after = try await service.changeSettings(values)
                return try NativeRoute.json(
                    SettingsBody(
                        settings: try values.keys.sorted().map {
                            SettingRow(try Setting.named($0), in: after).withoutSecrets
                        },
                        event: service.log.lastID))
            },
            .plain("GET", "/keys", "The keys of other machines") { _ in
                let home = service.records.path
                let keys = try await blocking { try AccessKeys.load(home: home) }
                return KeysBody(
                    keys: keys.keys.map { key in
                        KeyBody(
                            id: key.id, name: key.name, scopes: key.scopes.map(\.rawValue).sorted(),
                            created: key.created)
                    })
            },
            .json(
                "POST", "/keys", "Make a key; it is shown once", status: 201,
                example: #"{"name": "laptop", "scopes": ["chat"], "code": "b9a2…"}"#
            ) { (call, order: KeyOrder) in try await service.createKey(order, for: call.request) },
            .plain("DELETE", "/keys/{id}", "Revoke a key") { call in
                let id = call.value("id")
                try await AccessKeys.change(home: service.home.path, time: service.home.time) {
                    try $0.revoke(id)
                }
                return EmptyBody()
            },
        ]
    }

    /// The values of a body: texts, numbers and flags by the names of settings.
    static func values(_ bytes: [UInt8]) throws -> [String: String?] {
        guard let document = try? JSONValue(parsing: Data(bytes)), let members = document.members else {
            throw NativeFailure(400, "bad-request", "the body must be an object of settings")
        }
        return try members.mapValues { value in
            switch value {
            case .null: return nil
            case .string(let text): return text
            case .number(let digits): return digits
            case .boolean(let flag): return flag ? "true" : "false"
            case .array, .object: throw NativeFailure.bad("value", "a text, a number, true, false or null")
            }
        }
    }

    /// Changes settings: all or none. They count when the call returns.
    @discardableResult
    func changeSettings(_ values: [String: String?]) async throws -> Configuration {
        let file = SettingsFile(home: home.path, time: home.time)
        let before = try await file.read()
        let hearth = now.hearth
        let models = await library.families
        let after = try await file.change { configuration in
            // A kind removes the values of the kind before, so that it comes first.
            let order = values.sorted {
                ($0.key.hasSuffix(".kind") ? 0 : 1, $0.key) < ($1.key.hasSuffix(".kind") ? 0 : 1, $1.key)
            }
            for (key, value) in order { try configuration.set(key, to: value) }
            try hearth.check(values.compactMap { $1 == nil ? nil : $0 }, of: configuration, models: models)
        }
        guard after != before else { return after }
        await home.reload()
        log.add("settings", ["keys": values.keys.sorted()])
        return after
    }

    private func createKey(_ order: KeyOrder, for request: ServerRequest) async throws -> NewKeyBody {
        let name = order.name.trimmingCharacters(in: .whitespacesAndNewlines)
        guard (1...64).contains(name.utf8.count), name.allSatisfy({ !$0.isNewline }), !order.scopes.isEmpty else {
            throw NativeFailure.bad("name", "a text of at most 64 bytes, with one scope at least")
        }
        let scopes = Set(order.scopes.compactMap { ServerScope(rawValue: $0.rawValue) })
        // A key outlives the session: a page that a stranger has got hold of makes none.
        let refusal =
            request.caller == .page ? home.sessions.confirm(order.code ?? "", from: request.peer) : nil
        if case .tooOften? = refusal, let refusal { throw refusal.failure }
        guard refusal == nil else {
            throw NativeFailure(
                403, "code-required", "a new key needs a printed code, which was not used yet",
                remedy: "Print another address with a code, and type the code here.",
                field: "code")
        }
        let now = home.time.now
        return try await AccessKeys.change(home: home.path, time: home.time) { keys in
            let text = try keys.create(name, scopes: scopes, at: now)
            return NewKeyBody(id: keys.keys.last?.id ?? "", key: text)
        }
    }
}
