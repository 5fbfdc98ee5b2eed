import Foundation
import HearthBase
import HearthInference

/// Carries out the blocks of answers: plans, asks, journals, applies, undoes.
///
/// ```
/// block ──plan──> card ──policy──> ask ──> journal: begun ──> apply ──> journal: done ──> card
///   └─> malformed        └─> refused  └─> declined                └─> failed, changes reverted
/// ```
package actor ActionRunner {
    /// All actions.
    package nonisolated let registry: ActionRegistry
    private nonisolated let privateRegistry: ActionRegistry
    package internal(set) var policy: ApprovalPolicy
    let stores: [StoreKind: any ByteStore]
    private let journal: any ActionJournal
    /// The journal of private conversations.
    let privateJournal: MemoryActionJournal
    let approval: any ActionApproval
    let time: TimeSource
    private let saveSetting: @Sendable (ActionTag, ApprovalPolicy.Setting) async -> Void
    /// The keys of the actions that this runner is planning, asking about or carrying out.
    var active: Set<String> = []
    /// The keys of the settled blocks of the last answer by tag and payload: a repair pass may repeat a block that was right.
    private var settled: (message: String, keys: [String: String]) = ("", [:])

    /// How long an action can be undone: 30 days.
    package static let undoPeriod: TimeInterval = 30 * 86_400
    /// The most blocks of an answer that are carried out.
    static let maximumBlocks = 20
    /// The most changes of a payload by the user before a decision.
    static let maximumEdits = 20

    /// - Parameters:
    ///   - journal: `nil` keeps the journal in memory.
    ///   - privateJournal: the journal of private conversations.
    ///   - saveSetting: keeps the user's answer `always`.
    package init(
        registry: ActionRegistry, stores: [StoreKind: any ByteStore], journal: (any ActionJournal)?,
        privateJournal: MemoryActionJournal = MemoryActionJournal(), approval: any ActionApproval,
        policy: ApprovalPolicy = ApprovalPolicy(), time: TimeSource = .system,
        saveSetting: @escaping @Sendable (ActionTag, ApprovalPolicy.Setting) async -> Void = { _, _ in }
    ) {
        self.registry = registry
        privateRegistry = registry.forPrivateUse
        self.stores = stores
        self.privateJournal = privateJournal
        self.journal = journal ?? privateJournal
        self.approval = approval
        self.policy = policy
        self.time = time
        self.saveSetting = saveSetting
    }

    /// Replaces the user's settings; approvals for conversations remain.
    package func use(settings: [ActionTag: ApprovalPolicy.Setting], preApproved: Set<ActionTag>) {
        policy.settings = settings
        policy.preApproved = preApproved
    }

    /// The actions of a conversation.
    package nonisolated func registry(isPrivate: Bool) -> ActionRegistry { isPrivate ? privateRegistry : registry }

    func planner(of turn: ActionTurn) -> ActionPlanner {
        ActionPlanner(registry: registry(isPrivate: turn.isPrivate), turn: turn)
    }

    // MARK: - Blocks of an answer

    /// Carries out the blocks of a complete answer in the order of their tags; of an incomplete one, makes cards with a
    /// button. Blocks of the web search are left out: the chat runs it.
    package func run(
        _ blocks: [ScannedBlock], in turn: ActionTurn, onCard: @Sendable (ActionCard) -> Void = { _ in }
    ) async -> ActionOutcome {
        guard turn.finish.isComplete else {
            return ActionOutcome(cards: await notCarriedOut(blocks, in: turn))
        }
        var outcome = ActionOutcome()
        let planner = planner(of: turn)
        for card in planner.unoffered(blocks) {
            outcome.cards.append(card)
            onCard(card)
        }
        let ordered = ordered(blocks, planner)
        for block in ordered.prefix(Self.maximumBlocks) {
            guard block.isComplete else {
                outcome.malformed.append(.init(block: block, reason: "the block has no end"))
                continue
            }
            let key = planner.key(of: block)
            let name = "\(block.tag):\(block.payload)"
            if settled.message != turn.message { settled = (turn.message, [:]) }
            guard settled.keys[name] ?? key == key, active.insert(key).inserted else { continue }
            let count = outcome.cards.count
            await run(block, key, planner, onCard, &outcome)
            active.remove(key)
            if outcome.cards.count > count, settled.message == turn.message { settled.keys[name] = key }
        }
        outcome.cards += await notCarriedOut(Array(ordered.dropFirst(Self.maximumBlocks)), in: turn)
        return outcome
    }

    /// The blocks in the order of their tags, without the web search, tags that are not offered and repetitions.
    private func ordered(_ blocks: [ScannedBlock], _ planner: ActionPlanner) -> [ScannedBlock] {
        var seen: Set<String> = []
        return planner.registry.tags.filter { $0 != .webSearch }.flatMap { tag in
            blocks.filter { $0.tag == tag && $0.isOffered }.sorted { $0.index < $1.index }
                .filter { seen.insert("\(tag):\($0.payload)").inserted }
        }
    }

    private func run(
        _ block: ScannedBlock, _ key: String, _ planner: ActionPlanner, _ onCard: @Sendable (ActionCard) -> Void,
        _ outcome: inout ActionOutcome
    ) async {
        let turn = planner.turn
        if let card = await earlier(key, turn) {
            outcome.cards.append(card)
            return onCard(card)
        }
        switch await planner.prepared(block.tag, block.payload, key: key) {
        case nil: break
        case .malformed(let reason): outcome.malformed.append(.init(block: block, reason: reason))
        case .failed(let card, let items, let source, let code):
            outcome.cards.append(card)
            let text = ResultText.text(of: card, items: items, change: nil, code: code)
            outcome.results.append(.init(tag: block.tag, text: text, outsideSource: source, index: block.index))
            onCard(card)
        case .planned(let planned):
            let done = await decideAndCarryOut(planned, planner, onCard)
            outcome.cards.append(done.card)
            let items = done.result.map { $0.itemsForModel ?? $0.items } ?? []
            let text = ResultText.text(
                of: done.card, items: items, change: done.change, code: done.error.map(Self.code))
            outcome.results.append(
                .init(
                    tag: block.tag, text: text, outsideSource: done.result?.outsideSource, index: block.index))
            onCard(done.card)
        }
    }

    private func decideAndCarryOut(
        _ planned: PlannedAction, _ planner: ActionPlanner, _ onCard: @Sendable (ActionCard) -> Void
    ) async -> CarriedOut {
        let decided = await decided(planned, planner, onCard)
        guard decided.isApproved else { return CarriedOut(card: decided.action.card) }
        return await carryOut(decided.action, in: planner.turn)
    }

    // MARK: - Approval

    struct Decided: Sendable {
        var action: PlannedAction
        var isApproved: Bool
    }

    /// Asks the policy and, if it says so, the user.
    func decided(
        _ planned: PlannedAction, _ planner: ActionPlanner, asksAlways: Bool = false,
        _ onCard: @Sendable (ActionCard) -> Void
    ) async -> Decided {
        let (turn, tag) = (planner.turn, planned.card.tag)
        var planned = planned
        var verdict = policy.verdict(
            tag, planned.plan.effect, in: turn.conversation, isTainted: !turn.outside.isEmpty,
            hasOwnData: turn.hasOwnData)
        if asksAlways, verdict == .run { verdict = .ask }
        switch verdict {
        case .run: return Decided(action: planned, isApproved: true)
        case .refuse:
            planned.card.state = .declined
            planned.card.note = nil
            planned.card.remarks = nil
            planned.card.add([.init("switched-off", "The settings switch this kind of action off.")])
            return Decided(action: planned, isApproved: false)
        case .ask: break
        }
        for _ in 0..<Self.maximumEdits {
            planned.card = planned.card.withOutsideNote(turn.outside)
            if planned.plan.effect == .sends, turn.hasOwnData {
                planned.card = planned.card.with(
                    .init("own-data", "Your data is in this conversation. These words leave the device."))
            }
            // The chat carries out a query itself. A failure is met again when the action begins, and stops it there.
            if planned.plan.effect != .sends { try? await save(planned, .planned, in: turn) }
            onCard(planned.card)
            let decision = await approval.decide(planned.card)
            switch Task.isCancelled ? .decline : decision {
            case .approve: return Decided(action: planned, isApproved: true)
            case .approveForConversation:
                policy.approve(tag, in: turn.conversation)
                return Decided(action: planned, isApproved: true)
            case .always:
                policy.settings[tag] = .always
                await saveSetting(tag, .always)
                return Decided(action: planned, isApproved: true)
            case .decline: return await declined(planned, turn)
            case .edit(let payload):
                switch await planner.prepared(tag, payload, key: planned.card.id) {
                case .planned(let edited): planned = edited
                case .malformed(let reason): planned.card.note = reason
                case .failed(let card, _, _, _): planned.card.note = card.note
                case nil: return await declined(planned, turn)
                }
            }
        }
        return await declined(planned, turn)
    }

    private func declined(_ planned: PlannedAction, _ turn: ActionTurn) async -> Decided {
        var planned = planned
        planned.card.state = .declined
        // An entry that stays planned is settled at the next start: not carried out.
        if planned.plan.effect != .sends { try? await save(planned, .failed, in: turn) }
        return Decided(action: planned, isApproved: false)
    }

    /// Plans and asks about one block without carrying it out, as for the web search.
    /// - Returns: the card, `proposed` if the user or the policy approves it, otherwise `declined`; its payload may be
    ///   edited.
    /// - Throws: ``AssistantError``: `unusable-payload` for a payload that the model may write again, and what planning
    ///   throws.
    package func decide(_ block: ScannedBlock, in turn: ActionTurn) async throws -> ActionCard {
        let planner = planner(of: turn)
        guard block.isComplete else { throw PayloadDecoder.unusable("the block has no end") }
        switch await planner.prepared(block.tag, block.payload, key: planner.key(of: block)) {
        case .planned(let planned): return await decided(planned, planner) { _ in }.action.card
        case .malformed(let reason): throw AssistantError(.unusablePayload, reason)
        case .failed(let card, _, _, _):
            throw AssistantError(.noSuchRecord, card.note ?? "the action is not possible")
        case nil: throw PayloadDecoder.unusable("there is no action \(block.tag)")
        }
    }

    // MARK: - Journals

    func journal(for turn: ActionTurn) -> any ActionJournal { turn.isPrivate ? privateJournal : journal }

    /// The journal on the disk, then the one of private conversations.
    var journals: [any ActionJournal] {
        (journal as? MemoryActionJournal) === privateJournal ? [privateJournal] : [journal, privateJournal]
    }

    /// The actions planned last first.
    package func history(limit: Int) async throws -> [ActionEntry] {
        var entries: [String: ActionEntry] = [:]
        for journal in journals {
            for entry in try await journal.entries(limit: limit) { entries[entry.id] = entry }
        }
        return Array(entries.values.sorted { ($0.created, $0.id) > ($1.created, $1.id) }.prefix(max(0, limit)))
    }

    /// Removes all entries, from the disk too. Actions can then no longer be undone.
    package func eraseAll() async throws {
        for journal in journals { try await journal.eraseAll() }
    }

    /// One sentence about an error for a card.
    static func sentence(_ error: any Error) -> String {
        guard let failure = error as? any HearthFailure else { return "\(error)" }
        return failure.errorDescription ?? failure.message
    }
}

extension ActionCard {
    /// The card with a line about the texts from outside that are in the context.
    func withOutsideNote(_ outside: [OutsideText]) -> ActionCard {
        guard !outside.isEmpty else { return self }
        let source = outside.sourceName ?? ""
        return with(.init("outside", "Text from outside may have led to this: \(source).", [source]))
    }

    /// The card with a further sentence.
    func with(_ remark: Remark) -> ActionCard {
        guard note?.contains(remark.text) != true else { return self }
        var card = self
        card.add([remark])
        return card
    }
}
