import Foundation
import HearthBase
import HearthInference
import HearthTestSupport

@testable import HearthAssistant

/// A session over a scripted engine.
struct ChatFixture: Sendable {
    let engine: ScriptedEngine
    let session: ChatSession
    let store: any ConversationStore
    let clock: ManualClock
    let approval: ScriptedApproval

    init(
        _ answers: [[ScriptedEngine.Step]], capabilities: EngineCapabilities = [], settings: ChatSettings? = nil,
        sources: [any PromptSource] = [], search: (any SearchProvider)? = nil,
        decisions: [ActionDecision] = [], store: (any ConversationStore)? = nil, id: String = "c",
        seeing: ScriptedEngine? = nil, policy: ApprovalPolicy = ApprovalPolicy(), parameters: UInt64? = nil
    ) {
        var information = ModelInformation(description: "scripted", contextLength: 4096)
        information.parameterCount = parameters
        engine = ScriptedEngine(answers, capabilities: capabilities, information: information)
        clock = ManualClock(start: Date(timeIntervalSince1970: 1_795_500_000))
        self.store = store ?? MemoryConversationStore()
        approval = ScriptedApproval(decisions)
        let runner = ActionRunner(
            registry: ActionRegistry([WebSearchAction(), ListAction()]), stores: [:], journal: nil, approval: approval,
            policy: policy, time: clock.time)
        var chosen = settings ?? ChatSettings()
        if settings == nil { chosen.timeZone = .gmt }
        session = ChatSession(
            id: id,
            parts: ChatParts(
                settings: chosen, store: self.store, runner: runner, sources: sources, search: search,
                time: clock.time),
            engine: ChatEngine(engine, seeing: seeing))
    }

    /// Sends a message and returns all events.
    @discardableResult
    func send(_ text: String, images: [ChatImage] = [], act: ActionTag? = nil) async -> [ChatEvent] {
        await Self.collect(session.send(text, images: images, act: act))
    }

    @discardableResult
    static func collect(_ stream: AsyncStream<ChatEvent>) async -> [ChatEvent] {
        var events: [ChatEvent] = []
        for await event in stream { events.append(event) }
        return events
    }

    /// The last message of the session.
    var last: AssistantMessage? { get async { await session.messages.last } }
}

/// Lists things; `change` asks first.
struct ListAction: AssistantAction {
    struct Payload: Codable, Sendable {
        var action: String
        var title: String?
    }

    let tag = ActionTag.note
    let purpose = "Lists things."
    let schema = """
        {"type":"object","properties":{"action":{"type":"string","enum":["list","change","people"]},\
        "title":{"type":"string","maxLength":40}},"required":["action"],"additionalProperties":false}
        """

    func plan(_ payload: Payload, in context: ActionContext) async throws -> ActionPlan {
        guard payload.title != "" else { throw AssistantError(.unusablePayload, "the title is empty") }
        let isOutside = payload.action == "people"
        return ActionPlan(
            title: "List", fields: [.init(name: "title", label: "Title", value: payload.title ?? "")],
            effect: payload.action == "change" ? .changes : .reads
        ) {
            ActionPlan.Result(
                items: [.init(id: "1", title: "First"), .init(id: "2", title: "Second")],
                outsideSource: isOutside ? "contacts" : nil)
        }
    }
}

extension [ChatEvent] {
    /// The text that was shown.
    var text: String {
        reduce(into: "") { text, event in
            switch event {
            case .text(let piece): text += piece
            case .cleared: text = ""
            default: break
            }
        }
    }

    var banner: FailureBody? {
        compactMap { if case .failed(let failure) = $0, failure.needsModel { failure } else { nil } }.first
    }

    var finished: [AssistantMessage] { compactMap { if case .finished(let message) = $0 { message } else { nil } } }
}
