import Foundation
import HearthAssistant
import HearthBase
import HearthRouting

/// The values of settings that a conversation does not set.
struct ChatDefaultsBody: Codable, Sendable, Hashable {
    /// The id and the name of the model of this device that answers.
    var model: String?
    var modelName: String?
    var temperature: Double
    /// The longest answer in tokens; `nil` for what the context window allows.
    var maximumNewTokens: Int?
    var thinks: Bool
    /// Whether the settings keep every answer on this device.
    var forceLocal: Bool
    /// The model in the cloud; `nil` for none that may answer.
    var cloud: String?
    /// The models of other servers and the aliases that may answer; empty in a private conversation.
    var others: [ModelChoice]
}

/// The model that would answer the next question.
struct AnsweringBody: Codable, Sendable, Hashable {
    /// The id of a model of this device.
    var id: String?
    var name: String?
    var source: RouteSource
    /// Whether it thinks before its answer; `nil` if that is not known before it is loaded.
    var canThink: Bool?
    /// Whether pictures can be answered: by it, or by the model for pictures.
    var canSee: Bool?
}

/// The settings of a conversation that is yet to begin.
struct NewChatSettingsBody: Codable, Sendable, Hashable {
    var settings: ConversationSettings
    var defaults: ChatDefaultsBody
    var answering: AnsweringBody
}

struct NewChatSettingsOrder: Codable, Sendable {
    var isPrivate: Bool?
    var settings: ChatSettingsOrder?
}

/// Changes of a conversation's settings: a member that is missing stays, `null` and an empty text reset it.
struct ChatSettingsOrder: Codable, Sendable {
    var model: String??
    var instructions: String??
    var temperature: Double??
    var maximumNewTokens: Int??
    var form: ConversationForm??
    var thinks: Bool??
    var route: RouteSource??

    private enum CodingKeys: CodingKey {
        case model, instructions, temperature, maximumNewTokens, form, thinks, route
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        func change<Value: Decodable>(_ key: CodingKeys) throws -> Value?? {
            container.contains(key) ? .some(try container.decodeIfPresent(Value.self, forKey: key)) : nil
        }
        model = try change(.model)
        instructions = try change(.instructions)
        temperature = try change(.temperature)
        maximumNewTokens = try change(.maximumNewTokens)
        form = try change(.form)
        thinks = try change(.thinks)
        route = try change(.route)
    }

    init(model: String? = nil, thinks: Bool? = nil) {
        if let model { self.model = .some(model) }
        if let thinks { self.thinks = .some(thinks) }
    }

    /// Settings with the changes.
    /// - Throws: ``NativeFailure`` with the field of a value that cannot be used.
    func changed(_ before: ConversationSettings, isPrivate: Bool, choices: [ModelChoice]) throws -> ConversationSettings
    {
        var settings = before
        if let model { settings.model = model.flatMap { $0.isEmpty ? nil : $0 } }
        if let instructions {
            settings.instructions = instructions.flatMap { $0.contains { !$0.isWhitespace } ? $0 : nil }
        }
        if let temperature { settings.temperature = temperature }
        if let maximumNewTokens { settings.maximumNewTokens = maximumNewTokens }
        if let form { settings.form = form }
        if let thinks { settings.thinks = thinks }
        if let route { settings.route = route }
        if let flaw = settings.flaw { throw NativeFailure.bad("settings.\(flaw.field)", flaw.expectation) }
        let family = settings.model?.prefix { $0 != "@" && $0 != ":" }
        if case .some(.some(let model)) = model, let family,
            !choices.contains(where: { $0.id == family || $0.id == model })
        {
            throw NativeFailure.bad("settings.model", "the id of a model for text on this device or of an upstream")
        }
        if isPrivate, settings.route == .cloud {
            throw NativeFailure.bad("settings.route", "local: the conversation is private")
        }
        return settings
    }
}
