import Foundation
import HearthBase

/// A block with what it would do.
struct PlannedAction: Sendable {
    var card: ActionCard
    var plan: ActionPlan
}

/// The result of planning a block.
enum Preparation: Sendable {
    case planned(PlannedAction)
    /// The payload cannot be used; the model may write it again.
    case malformed(reason: String)
    /// The action is not possible.
    case failed(ActionCard, items: [ActionCard.Item], outsideSource: String?, code: String)
}

/// Plans blocks and writes their cards.
struct ActionPlanner: Sendable {
    let registry: ActionRegistry
    let turn: ActionTurn
    private let sources: ValueSources

    init(registry: ActionRegistry, turn: ActionTurn) {
        self.registry = registry
        self.turn = turn
        sources = ValueSources(turn.outside)
    }

    func key(of block: ScannedBlock) -> String {
        ActionKey.text(conversation: turn.conversation, message: turn.message, tag: block.tag, index: block.index)
    }

    /// The card of a payload that a person has written.
    /// - Throws: ``AssistantError``: `unusable-payload` with the field, `unusable-recurrence`, and what planning throws.
    func card(_ tag: ActionTag, _ payload: String, key: String) async throws -> ActionCard {
        guard let action = registry.action(tag) else { throw PayloadDecoder.unusable("there is no action \(tag)") }
        let context = ActionContext(key: key, now: turn.now, timeZone: turn.timeZone, locale: turn.locale)
        do {
            return try await planned(action, payload, context).card
        } catch let refusal as ActionRefusal {
            throw refusal.error
        }
    }

    /// Plans a payload; `nil` for a tag without an action.
    func prepared(_ tag: ActionTag, _ payload: String, key: String) async -> Preparation? {
        guard let action = registry.action(tag) else { return nil }
        let context = ActionContext(key: key, now: turn.now, timeZone: turn.timeZone, locale: turn.locale)
        do {
            return .planned(try await planned(action, payload, context))
        } catch let refusal as ActionRefusal {
            return failed(tag, payload, key, refusal.error, refusal)
        } catch let error as AssistantError where [.unusablePayload, .unusableRecurrence].contains(error.code) {
            return .malformed(reason: error.message)
        } catch {
            return failed(tag, payload, key, error)
        }
    }

    private func planned<Action: AssistantAction>(
        _ action: Action, _ payload: String, _ context: ActionContext
    ) async throws -> PlannedAction {
        let decoded = try PayloadDecoder.decode(
            Action.Payload.self, payload, fields: ActionRegistry.fields(of: action))
        let plan = try await action.plan(decoded.payload, in: context)
        var remarks: [ActionCard.Remark] = []
        if !decoded.ignored.isEmpty {
            let names = decoded.ignored.prefix(5).map { PayloadText.cleaned(String($0.prefix(40))) }
            remarks.append(.init("ignored", "Ignored: \(names.joined(separator: ", ")).", names))
        }
        if plan.effect == .changes, plan.changes.isEmpty {
            remarks.append(.init("cannot-be-undone", "This cannot be undone."))
        }
        var card = ActionCard(
            id: context.key, tag: action.tag, title: registry.label(plan.title),
            fields: marked(plan.fields.map(labelled), decoded.text),
            state: .proposed, payload: decoded.text, note: plan.note)
        card.code = plan.code
        card.remarks = plan.remarks.isEmpty ? nil : plan.remarks
        card.add(remarks)
        return PlannedAction(card: card, plan: plan)
    }

    private func labelled(_ field: ActionCard.Field) -> ActionCard.Field {
        var field = field
        field.label = registry.label(field.label)
        return field
    }

    /// The fields with the places where their values occur in texts from outside.
    private func marked(_ fields: [ActionCard.Field], _ payload: String) -> [ActionCard.Field] {
        guard !turn.outside.isEmpty else { return fields }
        // The payload was decoded before.
        let members = (try? JSONValue(parsing: Data(payload.utf8)))?.members ?? [:]
        return fields.map { field in
            var field = field
            var values = [field.value]
            if case .string(let text)? = members[field.name] { values.append(text) }
            field.source = sources.source(of: values)
            return field
        }
    }

    private func failed(
        _ tag: ActionTag, _ payload: String, _ key: String, _ error: any Error, _ refusal: ActionRefusal? = nil
    ) -> Preparation {
        let items = refusal?.items ?? []
        let card = ActionCard(
            id: key, tag: tag, title: registry.label(tag.title), items: items, state: .failed,
            payload: PayloadText.repaired(payload), note: ActionRunner.sentence(error))
        return .failed(
            card, items: refusal?.itemsForModel ?? items, outsideSource: refusal?.outsideSource,
            code: (error as? any HearthFailure)?.codeText ?? "failed")
    }
}

extension ActionTag {
    /// The tag as words, such as `Calendar action`.
    var title: String {
        let words = rawValue.lowercased().replacingOccurrences(of: "_", with: " ")
        return words.prefix(1).uppercased() + words.dropFirst()
    }
}
