import Foundation
import HearthAssistant
import HearthBase

/// An action that waits for a decision.
struct WaitingBody: Codable, Sendable, Hashable {
    var chat: String
    var card: ActionCard
}

struct ApprovalsBody: Codable, Sendable, Hashable {
    var cards: [WaitingBody]
    var event: String
}

/// An action of the journal.
struct ActionBody: Codable, Sendable, Hashable {
    var card: ActionCard
    /// The conversation; empty for what the user did without one.
    var chat: String
    var date: Date
}

struct ActionsBody: Codable, Sendable, Hashable {
    var actions: [ActionBody]
    var event: String
}

extension NativeService {
    /// Approvals, cards and the journal of actions.
    static func actionRoutes(_ service: NativeService) -> [NativeRoute] {
        [
            .plain("GET", "/approvals", "The actions that wait for a decision") { _ in
                let event = service.log.lastID
                var cards: [WaitingBody] = []
                for waiting in service.approvals.waiting {
                    cards.append(WaitingBody(chat: waiting.chat, card: await service.chats.shown(waiting.card)))
                }
                return ApprovalsBody(cards: cards, event: event)
            },
            .json(
                "POST", "/chats/{id}/cards/{card}", "Decide about an action that waits",
                example: #"{"decision": "approve"}"#
            ) { (call, order: DecisionOrder) in
                try await service.decide(order, call)
                return EmptyBody()
            },
            .json(
                "POST", "/chats/{id}/cards/{card}/perform", "Carry out an action that was not carried out",
                status: 202,
                example: #"{"payload": "{\"title\": \"Call Anna\"}"}"#
            ) { (call, order: PerformOrder) in
                try await service.chats.perform(
                    call.value("card"), payload: order.payload, isApproved: order.isApproved ?? false,
                    in: call.value("id"))
                return EmptyBody()
            },
            .plain("POST", "/chats/{id}/cards/{card}/undo", "Take an action of a conversation back") { call in
                CardReply(card: try await service.chats.undo(call.value("card"), in: call.value("id")))
            },
            .plain(
                "GET", "/actions", "The actions of all conversations, the newest first",
                query: [("limit", "at most 500")]
            ) { call in
                let event = service.log.lastID
                let limit = try call.number("limit", 1...500, default: 50)
                var actions: [ActionBody] = []
                for entry in try await service.chats.assistant.actions.history(limit: limit) {
                    actions.append(
                        ActionBody(
                            card: await service.chats.shown(entry.card), chat: entry.conversation,
                            date: entry.created))
                }
                return ActionsBody(actions: actions, event: event)
            },
            .plain("POST", "/actions/{id}/undo", "Take an action back, within 30 days") { call in
                CardReply(card: try await service.undo(call.value("id")))
            },
        ]
    }

    private func decide(_ order: DecisionOrder, _ call: NativeCall) async throws {
        var decision: ActionDecision
        if let payload = order.payload, [.approve, .edit].contains(order.decision) {
            try await chats.check(call.value("card"), payload: payload, in: call.value("id"))
        }
        switch order.decision {
        case .approve:
            decision = .approve
            if let payload = order.payload {
                approvals.approve(payload, of: call.value("card"))
                decision = .edit(payload: payload)
            }
        case .approveForConversation: decision = .approveForConversation
        case .always: decision = .always
        case .decline: decision = .decline
        case .edit:
            guard let payload = order.payload else {
                throw NativeFailure.bad("payload", "the changed values, JSON")
            }
            decision = .edit(payload: payload)
        }
        guard approvals.answer(decision, to: call.value("card"), in: call.value("id")) else {
            throw NativeFailure(409, "not-waiting", "the action does not wait for a decision")
        }
    }

    /// Takes an action of the journal back; the card in its conversation shows it.
    private func undo(_ id: String) async throws -> ActionCard {
        let entry = try await records.journal.entry(id)
        if let chat = entry?.conversation, !chat.isEmpty,
            try await records.conversations.conversation(chat) != nil
        {
            return try await chats.undo(id, in: chat)
        }
        let card = try await chats.assistant.undo(id)
        log.add("actions", EmptyBody())
        if let entry { for store in Set(entry.changes.map(\.store.rawValue)) { tellRecords(store) } }
        return await chats.shown(card)
    }

    func tellRecords(_ store: String) {
        log.add("records", ["store": store])
        Task { [rings] in await rings.wake() }
    }
}

extension ChatDesk {
    /// Refuses values of a card that cannot be used.
    /// - Throws: `AssistantError` with the field.
    func check(_ card: String, payload: String, in id: String) async throws {
        let session = try await openChat(id).session
        let waiting = approvals.waiting.first { $0.chat == id && $0.card.id == card }?.card
        let kept = await session.tree.messages.lazy.flatMap(\.cards).last { $0.id == card }
        guard let found = waiting ?? kept else {
            throw NativeFailure(404, "no-such-record", "no action of this conversation has the id")
        }
        _ = try await session.checked(found, payload: payload)
    }

    /// Carries out a card in the background: the user may be asked about it.
    func perform(_ card: String, payload: String?, isApproved: Bool = false, in id: String) async throws {
        guard !approvals.isWaiting(card) else { throw Self.underWay }
        if let payload {
            try await check(card, payload: payload, in: id)
            if isApproved { approvals.approve(payload, of: card) }
        }
        let session = try await openChat(id).session
        let exists = await session.tree.messages.contains { $0.cards.contains { $0.id == card } }
        guard exists else {
            throw NativeFailure(404, "no-such-record", "no action of this conversation has the id")
        }
        try await carryOut(card, in: id) { [self] session in
            do {
                _ = try await session.perform(card, payload: payload)
            } catch {
                let event = ChatEvent.failed(FailureBody(turn: error))
                log.add(event.name, ChatStep(chat: id, event: event))
            }
            await tellMessage(of: card, id, session)
            log.add("actions", EmptyBody())
        }
    }

    func undo(_ card: String, in id: String) async throws -> ActionCard {
        let session = try await openChat(id).session
        let undone = try await session.undo(card)
        await tellMessage(of: card, id, session)
        log.add("actions", EmptyBody())
        return shown(undone)
    }

    private func tellMessage(of card: String, _ id: String, _ session: ChatSession) async {
        let message = await session.tree.messages.last { $0.cards.contains { $0.id == card } }
        if let message { await tell(message, id, session) }
    }
}
