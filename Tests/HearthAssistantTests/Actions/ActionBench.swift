import Foundation
import HearthBase
import HearthInference

@testable import HearthAssistant

/// An approval that answers by a script and records the cards.
actor ScriptedApproval: ActionApproval {
    private(set) var asked: [ActionCard] = []
    private var decisions: [ActionDecision]
    private let otherwise: ActionDecision

    init(_ decisions: [ActionDecision] = [], otherwise: ActionDecision = .decline) {
        self.decisions = decisions
        self.otherwise = otherwise
    }

    func decide(_ card: ActionCard) -> ActionDecision {
        asked.append(card)
        return decisions.isEmpty ? otherwise : decisions.removeFirst()
    }
}

/// All actions over stores in memory.
struct ActionBench {
    /// Tuesday, 24 November 2026, 09:30 in Berlin.
    static let now = Date(timeIntervalSince1970: 1_795_509_000)
    static let berlin = TimeZone(identifier: "Europe/Berlin") ?? .current

    var calendar = MemoryCalendar()
    var reminders = MemoryReminders()
    var notes = MemoryNotes()
    var habits = MemoryHabits()
    var contacts = MemoryContacts()
    var approval = ScriptedApproval()
    var journal: any ActionJournal = MemoryActionJournal()
    var now = Self.now

    init(approval: ScriptedApproval = ScriptedApproval(), kill: KillSwitch? = nil) {
        self.approval = approval
        guard let kill else { return }
        calendar.records = MemoryRecords(kill: kill)
        reminders.records = MemoryRecords(kill: kill)
        notes.records = MemoryRecords(kill: kill)
        habits.records = MemoryRecords(kill: kill)
        journal = MortalJournal(kill: kill)
    }

    var registry: ActionRegistry {
        .standard(
            AssistantStores(
                calendar: calendar, reminders: reminders, contacts: contacts, notes: notes, habits: habits),
            searchesWeb: true)
    }

    func runner(_ policy: ApprovalPolicy = ApprovalPolicy(), own: [any AssistantAction] = []) -> ActionRunner {
        let now = now
        return ActionRunner(
            registry: ActionRegistry(registry.actions + own),
            stores: [.calendar: calendar, .reminders: reminders, .notes: notes, .habits: habits], journal: journal,
            approval: approval, policy: policy, time: TimeSource(clock: ContinuousClock(), now: { now }))
    }

    func turn(
        _ finish: FinishReason = .endOfGeneration, message: String = "m1", outside: [OutsideText] = [],
        isPrivate: Bool = false
    ) -> ActionTurn {
        ActionTurn(
            conversation: "c1", message: message, now: now, timeZone: Self.berlin, locale: Locale(identifier: "en_US"),
            finish: finish, outside: outside, isPrivate: isPrivate)
    }

    /// The number of applied changes by store.
    var effects: [StoreKind: Int] {
        get async {
            var counts: [StoreKind: Int] = [:]
            for (kind, records) in [
                (StoreKind.calendar, calendar.records), (.reminders, reminders.records), (.notes, notes.records),
                (.habits, habits.records),
            ] {
                let count = await records.applied
                if count > 0 { counts[kind] = count }
            }
            return counts
        }
    }

    static func scan(_ answer: String, tags: [ActionTag] = ActionTag.order) -> (text: String, blocks: [ScannedBlock]) {
        var scanner = BlockScanner(tags: tags)
        let text = scanner.append(answer)
        let end = scanner.finish()
        return (text + end.text, end.blocks)
    }
}

/// Random numbers that repeat with their seed (SplitMix64).
struct SeededRandom: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}
