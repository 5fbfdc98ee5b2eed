import Foundation
import Testing

@testable import HearthAssistant

/// Ends the process before and after each write of journal and store, and looks what the next process finds.
@Suite struct KillTests {
    private static let answers: [(answer: String, kind: StoreKind)] = [
        (#"[REMINDER_ACTION:{"action":"create","title":"a","due":"2026-11-25T09:00"}]"#, .reminders),
        (#"[CALENDAR_ACTION:{"action":"create","title":"a","start":"2026-11-25"}]"#, .calendar),
        (#"[NOTE_ACTION:{"action":"append","title":"Shopping","body":"b"}]"#, .notes),
        (#"[HABIT_ACTION:{"action":"define","name":"a"}]"#, .habits),
        (#"[CALENDAR_ACTION:{"action":"delete","title":"Board meeting"}]"#, .calendar),
        (#"[PAIR_ACTION:{"title":"a"}]"#, .notes),
    ]

    @Test(arguments: 0..<answers.count) func happensOnceOrNotAtAll(_ number: Int) async throws {
        let (answer, kind) = Self.answers[number]
        var step = 1
        var seen: Set<ActionCard.State> = []
        while true {
            let kill = KillSwitch()
            let bench = ActionBench(approval: ScriptedApproval(otherwise: .approve), kill: kill)
            try await bench.fill()
            let start = await bench.effects
            let own: [any AssistantAction] = [PairAction(notes: bench.notes)]
            let (_, blocks) = ActionBench.scan(answer, tags: ActionTag.order + ["PAIR_ACTION"])
            #expect(blocks.count == 1)
            kill.arm(at: step)
            let first = bench.runner(own: own)
            let outcome = await first.run(blocks, in: bench.turn())
            let wasKilled = kill.steps >= step
            kill.arm(at: nil)

            // The next process.
            let next = bench.runner(own: own)
            let recovered = await next.recover()
            let records = await bench.records(kind)
            let card = recovered.first ?? outcome.cards.first
            let key = ActionKey.text(conversation: "c1", message: "m1", tag: blocks[0].tag, index: 0)
            let entry = try await bench.journal.entry(key)
            #expect(entry?.state.isFinished != false)
            let happened = records != (try await Self.untouched(kind))
            switch entry?.state {
            case .done: #expect(happened)
            // Without an entry the action never began.
            case .failed, nil: #expect(!happened)
            default: Issue.record("the entry is \(String(describing: entry?.state))")
            }
            if let recovered = recovered.first {
                seen.insert(recovered.state)
                #expect(recovered.state == (happened ? .done : .notCarriedOut))
            }
            // The button, and the whole answer once more: in the end it has happened once.
            if !happened, let card { _ = await next.perform(card, in: bench.turn()) }
            _ = await next.run(blocks, in: bench.turn())
            let end = await bench.effects[kind] ?? 0
            if happened || card != nil {
                #expect(await bench.records(kind) == (try await Self.changed(number)))
                // A part that was reverted counts twice.
                #expect((end - (start[kind] ?? 0)) % 2 == (number == 5 ? 0 : 1))
            }
            if !wasKilled { break }
            step += 1
            try #require(step < 200)
        }
        #expect(step > 8)
        #expect(seen == [.done, .notCarriedOut])
    }

    @Test func isUndoneOnceOrNotAtAll() async throws {
        var step = 1
        var seen: Set<ActionCard.State> = []
        while true {
            let kill = KillSwitch()
            let bench = ActionBench(approval: ScriptedApproval(otherwise: .approve), kill: kill)
            let own: [any AssistantAction] = [PairAction(notes: bench.notes)]
            let (_, blocks) = ActionBench.scan(#"[PAIR_ACTION:{"title":"a"}]"#, tags: ["PAIR_ACTION"])
            let outcome = await bench.runner(own: own).run(blocks, in: bench.turn())
            let key = try #require(outcome.cards.first?.id)
            kill.arm(at: step)
            _ = try? await bench.runner(own: own).undo(key)
            let wasKilled = kill.steps >= step
            kill.arm(at: nil)
            let next = bench.runner(own: own)
            _ = await next.recover()
            let count = await bench.records(.notes).count
            let entry = try #require(try await bench.journal.entry(key))
            seen.insert(entry.card.state)
            #expect(entry.state == (count == 0 ? .undone : .done))
            #expect([0, 2].contains(count))
            #expect(try await next.undo(key).state == .undone)
            #expect(await bench.records(.notes).isEmpty)
            if !wasKilled { break }
            step += 1
            try #require(step < 100)
        }
        #expect(seen == [.done, .undone])
    }

    private static func untouched(_ kind: StoreKind) async throws -> [String: Data] {
        let bench = ActionBench()
        try await bench.fill()
        return await bench.records(kind)
    }

    /// The records after the action without a kill.
    private static func changed(_ number: Int) async throws -> [String: Data] {
        let bench = ActionBench(approval: ScriptedApproval(otherwise: .approve))
        try await bench.fill()
        let runner = bench.runner(own: [PairAction(notes: bench.notes)])
        let (_, blocks) = ActionBench.scan(answers[number].answer, tags: ActionTag.order + ["PAIR_ACTION"])
        _ = await runner.run(blocks, in: bench.turn())
        return await bench.records(answers[number].kind)
    }
}

extension ActionBench {
    func records(_ kind: StoreKind) async -> [String: Data] {
        switch kind {
        case .calendar: await calendar.records.records
        case .reminders: await reminders.records.records
        case .notes: await notes.records.records
        default: await habits.records.records
        }
    }
}

/// An action with two changes, which happen both or not at all.
struct PairAction: AssistantAction {
    struct Payload: Codable, Sendable { var title: String }

    let tag: ActionTag = "PAIR_ACTION"
    let purpose = "Writes two notes."
    let schema =
        #"{"type":"object","properties":{"title":{"type":"string","maxLength":40}},"required":["title"],"additionalProperties":false}"#
    let notes: MemoryNotes

    func plan(_ payload: Payload, in context: ActionContext) async throws -> ActionPlan {
        var changes: [RecordChange] = []
        for part in ["1", "2"] {
            changes.append(
                try await notes.creation(
                    title: payload.title + part, body: "", id: context.key + part, at: context.now))
        }
        return ActionPlan(
            title: "Two notes", fields: [.init(name: "title", label: "Title", value: payload.title)], effect: .changes,
            changes: changes)
    }
}
