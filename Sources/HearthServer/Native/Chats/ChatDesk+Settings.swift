import Foundation
import HearthAssistant
import HearthBase
import HearthInference
import HearthRouting

extension ChatDesk {
    /// Changes settings of a conversation, from its next question on.
    /// - Throws: ``NativeFailure`` with the field of a value that cannot be used.
    func configure(_ id: String, _ order: ChatSettingsOrder) async throws {
        let session = try await openChat(id).session
        let choices = await choices(isPrivate: session.isPrivate)
        let before = await session.settings
        let after = try order.changed(before, isPrivate: session.isPrivate, choices: choices)
        guard after != before else { return }
        await session.set(after)
        log.add("chat-settings", ["chat": id])
    }

    /// Checks settings for a conversation that is yet to begin.
    func check(_ order: NewChatSettingsOrder) async throws -> NewChatSettingsBody {
        let isPrivate = order.isPrivate ?? false
        let settings =
            try order.settings?.changed(
                ConversationSettings(), isPrivate: isPrivate, choices: await choices(isPrivate: isPrivate))
            ?? ConversationSettings()
        let session = try await assistant.session(nil, isPrivate: isPrivate)
        return NewChatSettingsBody(
            settings: settings, defaults: await defaults(of: session), answering: await answering(settings, in: session)
        )
    }

    /// Refuses a question that no model answers because several could, and none is chosen.
    /// - Throws: ``NativeFailure`` with `model-not-chosen` and the models.
    func requireModel(_ session: ChatSession) async throws {
        let settings = await session.settings
        let choices = await choices(isPrivate: session.isPrivate)
        guard !choices.isEmpty, await !orchestrator.expectsCloud(request(settings, session)) else { return }
        let chosen: String?
        if let model = settings.model { chosen = model } else { chosen = await library.inUse }
        guard let chosen else { throw Self.notChosen("several models can answer, and none is chosen", choices) }
        let family = String(chosen.prefix { $0 != "@" && $0 != ":" })
        guard settings.model != nil, !choices.contains(where: { $0.id == family || $0.id == chosen }) else { return }
        throw Self.notChosen("the model of this conversation is not on this device: \(family)", choices)
    }

    /// The models that can answer a conversation: those of this device, and outside a private one those of other servers.
    func choices(isPrivate: Bool) async -> [ModelChoice] {
        await library.choices + (isPrivate ? [] : await home.otherModels)
    }

    private static func notChosen(_ message: String, _ choices: [ModelChoice]) -> NativeFailure {
        NativeFailure(
            409, "model-not-chosen", message, remedy: "Choose a model, and send the question again.",
            field: "settings.model", models: choices)
    }

    /// The values of settings that a conversation does not set.
    func defaults(of session: ChatSession) async -> ChatDefaultsBody {
        let common = await session.commonSettings
        let model = await library.inUse
        let cloud = try? await orchestrator.cloudFacts  // not shown if the cloud cannot say
        let forceLocal = await orchestrator.forceLocal
        let usual = SamplingOptions().temperature
        return ChatDefaultsBody(
            model: model, modelName: await library.names[model ?? ""],
            temperature: Double("\(common.temperature ?? usual)") ?? Double(usual),
            maximumNewTokens: common.maximumNewTokens, thinks: common.showThinking, forceLocal: forceLocal,
            cloud: session.isPrivate || forceLocal ? nil : cloud?.information.description,
            others: session.isPrivate ? [] : await home.otherModels)
    }

    /// The model that would answer the next question.
    func answering(_ settings: ConversationSettings, in session: ChatSession) async -> AnsweringBody {
        let canSee = await library.canSee
        if let model = settings.model, await orchestrator.namesOther(request(settings, session)) {
            // A model that cannot say what it can is shown without.
            let capabilities = try? await orchestrator.conversation(request(settings, session)).capabilities
            return AnsweringBody(
                name: model, source: .cloud, canThink: capabilities?.contains(.thinking),
                canSee: canSee || capabilities?.contains(.vision) == true)
        }
        // Of a cloud that cannot say who it is, the page knows no more than of this device.
        if await orchestrator.expectsCloud(request(settings, session)), let cloud = try? await orchestrator.cloudFacts {
            return AnsweringBody(
                name: cloud.information.description, source: .cloud, canThink: cloud.capabilities.contains(.thinking),
                canSee: canSee || cloud.capabilities.contains(.vision))
        }
        let model: String?
        if let own = settings.model { model = own } else { model = await library.inUse }
        let family = model.map { String($0.prefix { $0 != "@" && $0 != ":" }) }
        guard let family else { return AnsweringBody(source: .local, canSee: canSee) }
        let capabilities = await library.capabilities(of: family)
        return AnsweringBody(
            id: family, name: await library.names[family], source: .local,
            canThink: capabilities?.contains(.thinking),
            canSee: canSee || capabilities?.contains(.vision) == true)
    }

    /// The request of the next question.
    private func request(_ settings: ConversationSettings, _ session: ChatSession) -> RouteRequest {
        var request = RouteRequest(
            preference: settings.route == .local ? .local : nil, isPrivate: session.isPrivate, model: settings.model)
        request.allowsCloud = settings.route == .cloud
        return request
    }
}
