import Foundation

/// The block `HABIT_ACTION`: defines habits, logs them, and tells their streaks.
package struct HabitAction: AssistantAction {
    package let tag = ActionTag.habit
    package let purpose = "The user's habits, logged by day."
    let store: any HabitStore

    static let shape = PayloadSchema(
        fields: [
            .text("name", atMost: 60, about: "the habit"),
            .choice("frequency", HabitFrequency.allCases.map(\.rawValue), about: "how often it is meant to be done"),
            .pattern("date", PayloadPattern.day, atMost: 10, about: "the day such as 2026-11-24; today if left out"),
            .integer("amount", 1...1000, about: "how often or how much; 1 if left out"),
        ],
        forms: [
            .init("define", required: ["name"], optional: ["frequency"]),
            .init("log", required: ["name"], optional: ["date", "amount"]),
            .init("list"),
        ])

    package var schema: String { Self.shape.block }
    package var toolSchema: String { Self.shape.tool }

    package func plan(_ payload: HabitPayload, in context: ActionContext) async throws -> ActionPlan {
        switch payload.action {
        case .define: try await definition(payload, context)
        case .log: try await logging(payload, context)
        case .list: list(context)
        }
    }

    private func definition(_ payload: HabitPayload, _ context: ActionContext) async throws -> ActionPlan {
        guard let name = payload.name else { throw ActionRefusal.missing("name") }
        let frequency = payload.frequency ?? .daily
        let old = try await store.habit(named: name)
        let change = try await store.definition(
            name: name, frequency: frequency, id: old?.id ?? context.key, at: context.now)
        return ActionPlan(
            title: old == nil ? "New habit" : "Change a habit", code: old == nil ? "new-habit" : "change-habit",
            fields: .init(("name", "Habit", name), ("frequency", "Frequency", frequency.rawValue))
                .raw(["frequency": frequency.rawValue]),
            effect: .changes, changes: [change])
    }

    private func logging(_ payload: HabitPayload, _ context: ActionContext) async throws -> ActionPlan {
        guard let name = payload.name else { throw ActionRefusal.missing("name") }
        let day = payload.date.map { CalendarDay(number: $0.day) } ?? CalendarDay(of: context.now, in: context.timeZone)
        let amount = payload.amount ?? 1
        guard amount > 0, amount <= 1_000_000 else {
            throw PayloadDecoder.unusable("amount is not positive", field: "amount")
        }
        guard let habit = try await store.habit(named: name) else {
            let known = try await store.records(matching: "", limit: .max).prefix(8)
            let names = known.map {
                ActionCard.Item(id: $0.id, title: $0.name, detail: $0.frequency.rawValue)
            }
            throw ActionRefusal(error: ActionRefusal.unknown("habit"), items: names, outsideSource: known.outsideSource)
        }
        let change = try await store.logging(habit.name, on: day, amount: amount)
        let before = habit.log[day] ?? 0
        let fields = [ActionCard.Field](
            ("name", "Habit", habit.name),
            ("date", "Day", TimeWords(context).text(EventTime(day.midnight, isAllDay: true))),
            ("amount", "Amount", amount == 1 ? nil : amount.formatted())
        ).raw(["date": day.description, "amount": HabitRecord.digits(amount)])
        return ActionPlan(
            title: "Log a habit", code: "log-habit", fields: fields, effect: .changes, changes: [change],
            remarks: before > 0
                ? [
                    .init(
                        "already-logged", "\(before.formatted()) is already logged on that day; the amounts add up.",
                        [HabitRecord.digits(before)])
                ] : [])
    }

    private func list(_ context: ActionContext) -> ActionPlan {
        ActionPlan(title: "Habits", code: "habits", effect: .reads) { [store] in
            let today = CalendarDay(of: context.now, in: context.timeZone)
            let habits = try await store.records(matching: "", limit: .max).prefix(20)
            let items = habits.map { habit in
                let streak = HabitStreak(of: habit, on: today)
                let unit = habit.frequency == .daily ? "days" : "weeks"
                let done = streak.isDone ? "done" : "not done yet"
                return ActionCard.Item(
                    id: habit.id, title: habit.name,
                    detail: "\(habit.frequency.rawValue), \(done), \(streak.current) \(unit) in a row, "
                        + "longest \(streak.longest)")
            }
            return ActionPlan.Result(
                items: items, note: items.isEmpty ? "No habit is defined." : nil, noteCode: "no-habits",
                outsideSource: habits.outsideSource)
        }
    }
}

extension CalendarDay {
    /// The midnight of the day in UTC.
    var midnight: Date { Date(timeIntervalSince1970: Double(number) * 86_400) }
}
