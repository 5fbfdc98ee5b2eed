import Foundation
import HearthBase

/// Looks for alarms that fall due, keeps what has rung, and carries out the answers to rings.
///
/// ```
/// RecordAlarm ──RingPlan──> Ring: open ──done, close──> ended
///                                  └──snooze──> rings again
/// ```
package actor RingKeeper {
    /// What a look has found.
    package struct Look: Sendable, Hashable {
        /// The alarms that ring now.
        package var rings: [Ring] = []
        /// The number of alarms that fell due while nothing ran, and do not ring one by one.
        package var missed = 0
        /// The ids of rings that have ended because their record has changed.
        package var ended: [String] = []
        /// The time until the next look, at most ``interval``.
        package var wait: Duration = .seconds(interval)
    }

    /// The most seconds between two looks: other programs change the files of records.
    static let interval = 20
    /// How far a look reaches back in seconds: at the first start ever, and at most.
    static let (firstReach, reach) = (86_400, 31 * 86_400)
    /// The kept time of the last look is between 10 and 25 minutes old, so that a record that arrives late rings.
    private static let (grace, age) = (600, 1500)

    private let home: AssistantHome
    private let table: RingTable
    private let allows: @Sendable (StoreKind) -> Bool
    private let timeZone: @Sendable () -> TimeZone
    /// Whether a look or an answer is under way, and those that wait for its end.
    private var isBusy = false
    private var waiting: [CheckedContinuation<Void, Never>] = []
    private var kept: RingTable.Kept?
    /// The alarms of the rings that have not ended.
    private var alarms: [String: RecordAlarm] = [:]

    /// - Parameter allows: whether records of a kind may ring.
    package init(
        _ home: AssistantHome, timeZone: @escaping @Sendable () -> TimeZone = { .current },
        allows: @escaping @Sendable (StoreKind) -> Bool = { _ in true }
    ) {
        self.home = home
        self.allows = allows
        self.timeZone = timeZone
        table = RingTable(database: home.database)
    }

    private var now: Int { Int(home.time.now.timeIntervalSince1970.rounded(.down)) }

    /// The rings that wait for an answer, the oldest first.
    package var open: [Ring] {
        guard let kept else { return [] }
        return kept.rings.compactMap { id, ring in
            guard ring.stage == .open, let alarm = alarms[id] else { return nil }
            return Ring(alarm, rings: ring.moment, isLate: ring.isLate)
        }
        .sorted { ($0.rings, $0.id) < ($1.rings, $1.id) }
    }

    /// Looks at the records, and keeps that the found alarms have rung.
    /// - Throws: `DatabaseError`, `FileError`.
    package func look() async throws -> Look {
        await enter()
        defer { leave() }
        var kept = try await known()
        let now = now
        // A clock that was put back must not hide what falls due meanwhile.
        let looked = max(min(kept.looked ?? now - Self.firstReach, now - Self.grace), now - Self.reach)
        let oldest = kept.rings.values.filter { $0.stage != .ended }.map(\.moment).min()
        let since = max(min(looked, (oldest ?? looked) - 1), now - 2 * Self.reach)
        let found = try await alarms(after: since, until: now + Self.interval)
        // The rings of an earlier period count only if they wait still.
        let plan = RingPlan(
            alarms: found.filter { $0.moment > looked || kept.rings[$0.id] != nil }, kept: kept.rings, now: now)
        var changed: [String: KeptRing] = [:]
        let byID = Dictionary(found.map { ($0.id, $0) }) { first, _ in first }
        for ring in plan.rings {
            changed[ring.id] = KeptRing(stage: .open, moment: byID[ring.id]?.moment ?? now, isLate: ring.isLate)
        }
        for id in plan.missed {
            changed[id] = KeptRing(stage: .ended, moment: byID[id]?.moment ?? now, isLate: true)
        }
        for id in plan.gone {
            changed[id] = kept.rings[id]
            changed[id]?.stage = .ended
        }
        kept.rings.merge(changed) { $1 }
        let isDue = kept.looked.map { now - $0 > Self.age || $0 > now } ?? true
        let old = kept.rings.filter { $0.value.stage == .ended && $0.value.moment < now - 2 * Self.reach }.map(\.key)
        if isDue { kept.looked = kept.looked == nil ? looked : now - Self.grace }
        try await table.save(changed, forgetting: old, looked: isDue ? kept.looked : nil)
        for id in old { kept.rings[id] = nil }
        self.kept = kept
        alarms = byID.filter { kept.rings[$0.key].map { $0.stage != .ended } ?? false }
        let wait = min(Self.interval, max(1, (plan.next ?? now + Self.interval) - now))
        return Look(rings: plan.rings, missed: plan.missed.count, ended: plan.gone, wait: .seconds(wait))
    }

    private func known() async throws -> RingTable.Kept {
        if let kept { return kept }
        return try await table.kept()
    }

    private func alarms(after from: Int, until: Int) async throws -> [RecordAlarm] {
        var found: [RecordAlarm] = []
        if allows(.reminders) { found += try await home.reminders.alarms(after: from, until: until) }
        if allows(.calendar) { found += try await home.calendar.alarms(after: from, until: until) }
        return found
    }

    /// Carries out an answer.
    /// - Returns: the change of a reminder that was completed; `nil` otherwise.
    /// - Throws: ``AssistantError``: `no-such-record` for a ring that has ended, `changed-elsewhere` if the reminder has
    ///   another due time now. Errors of the store, the journal and the database.
    package func answer(_ id: String, _ answer: RingAnswer) async throws -> RecordEdit? {
        await enter()
        defer { leave() }
        var kept = try await known()
        guard var ring = kept.rings[id], ring.stage != .ended, let alarm = alarms[id] else {
            throw AssistantError(
                .noSuchRecord, "no ring with this id waits for an answer", context: ErrorContext(field: "id"))
        }
        var edit: RecordEdit?
        switch answer {
        case .close: ring.stage = .ended
        case .done:
            if alarm.store == .reminders { edit = try await complete(alarm) }
            ring.stage = .ended
        case .snooze(let snooze):
            let end = snooze.end(from: home.time.now, in: timeZone())
            ring.stage = .snoozed(until: Int(end.timeIntervalSince1970.rounded(.up)))
        }
        try await table.save([id: ring], looked: nil)
        kept.rings[id] = ring
        self.kept = kept
        return edit
    }

    /// Waits until no other look or answer is under way.
    private func enter() async {
        guard isBusy else {
            isBusy = true
            return
        }
        await withCheckedContinuation { waiting.append($0) }
    }

    private func leave() {
        if waiting.isEmpty { isBusy = false } else { waiting.removeFirst().resume() }
    }

    private func complete(_ alarm: RecordAlarm) async throws -> RecordEdit {
        let now = home.time.now
        return try await home.records.reminders.change(alarm.record, as: "Complete a reminder") { reminder in
            // A repeating reminder may have moved to its next time on another device.
            guard reminder.due == alarm.time, reminder.completed == nil else {
                throw AssistantError(.changedElsewhere, "the reminder has another due time now")
            }
            reminder.completed = now
        }
    }
}
