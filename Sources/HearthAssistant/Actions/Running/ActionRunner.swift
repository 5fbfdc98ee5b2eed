import Foundation
import HearthBase
import HearthInference

/// Carries out the blocks of answers: plans, asks, journals, applies, undoes.
package actor ActionRunner {
    package let registry: ActionRegistry
    package internal(set) var policy: ApprovalPolicy
    let stores: [StoreKind: any RecordStore]
    let journal: (any ActionJournal)?
    let approval: any ActionApproval
    let time: TimeSource
    let saveSetting: @Sendable (ActionTag, ApprovalPolicy.Setting) async -> Void

    /// - Parameters:
    ///   - journal: `nil` keeps the journal in memory.
    ///   - saveSetting: keeps the user's answer `always`.
    package init(
        registry: ActionRegistry, stores: [StoreKind: any RecordStore], journal: (any ActionJournal)?,
        approval: any ActionApproval, policy: ApprovalPolicy = ApprovalPolicy(), time: TimeSource = .system,
        saveSetting: @escaping @Sendable (ActionTag, ApprovalPolicy.Setting) async -> Void = { _, _ in }
    ) {
        self.registry = registry
        self.stores = stores
        self.journal = journal
        self.approval = approval
        self.policy = policy
        self.time = time
        self.saveSetting = saveSetting
    }

    /// Carries out the blocks of a complete answer in the order of their tags; of an incomplete one, makes cards with a
    /// button. Blocks of the web search are left out.
    package func run(
        _ blocks: [ScannedBlock], in turn: ActionTurn, onCard: @Sendable (ActionCard) -> Void = { _ in }
    ) async -> ActionOutcome {
        ActionOutcome()
    }

    /// Plans and asks about one block without carrying it out, as for the web search.
    /// - Returns: the card, `proposed` if the user or the policy approves it; its payload may be edited.
    package func decide(_ block: ScannedBlock, in turn: ActionTurn) async throws -> ActionCard {
        throw AssistantError(.unusablePayload, "")
    }

    /// The cards of blocks that are not carried out: after a stop, a time-out, an error or the length limit.
    package func notCarriedOut(_ blocks: [ScannedBlock], in turn: ActionTurn) async -> [ActionCard] { [] }

    /// Carries out a card on the user's request. If its values are no longer those on the card, the user is asked again.
    package func perform(_ card: ActionCard, in turn: ActionTurn) async -> ActionCard { card }

    /// Takes an action back.
    /// - Throws: ``AssistantError``: `no-such-record`, `changed-elsewhere`, `cannot-be-undone`.
    package func undo(_ key: String) async throws -> ActionCard {
        throw AssistantError(.noSuchRecord, "")
    }

    /// Settles the actions during which an earlier process ended, and removes entries older than 30 days.
    /// - Returns: their cards.
    package func recover() async -> [ActionCard] { [] }

    /// The actions planned last first.
    package func history(limit: Int) async throws -> [ActionEntry] { try await journal?.entries(limit: limit) ?? [] }
}
