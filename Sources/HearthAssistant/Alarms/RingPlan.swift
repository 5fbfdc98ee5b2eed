import Foundation

/// What is kept of a ring, in seconds since 1970.
package struct KeptRing: Sendable, Hashable {
    package enum Stage: Sendable, Hashable {
        /// It rang and waits for an answer.
        case open
        case snoozed(until: Int)
        case ended
    }

    package var stage: Stage
    /// The time of the alarm.
    package var moment: Int
    /// Whether it rang late.
    package var isLate: Bool
}

/// Decides which alarms ring: a value of the alarms, of what has rung, and of the time.
package struct RingPlan: Sendable, Hashable {
    /// The alarms that ring now, the oldest first.
    package private(set) var rings: [Ring] = []
    /// The ids of alarms that ring no more: too many fell due while nothing ran.
    package private(set) var missed: [String] = []
    /// The ids of open and snoozed rings whose record was completed, changed or removed.
    package private(set) var gone: [String] = []
    /// The next alarm or end of a snooze, in seconds since 1970; `nil` if none is known.
    package private(set) var next: Int?

    /// The seconds after which a ring counts as late.
    package static let lateness = 120
    /// The most late alarms that ring one by one at a start.
    package static let maximumLate = 5

    /// - Parameters:
    ///   - alarms: those of a period that reaches back to every ring in `kept` that has not ended.
    ///   - kept: what has rung, by the id of its alarm.
    ///   - now: seconds since 1970.
    package init(alarms: [RecordAlarm], kept: [String: KeptRing], now: Int) {
        var due: [(alarm: RecordAlarm, moment: Int)] = []
        for alarm in alarms {
            let moment: Int
            switch kept[alarm.id]?.stage {
            case .open, .ended: continue
            case .snoozed(let until): moment = until
            case nil: moment = alarm.moment
            }
            if moment <= now { due.append((alarm, moment)) } else { next = min(next ?? moment, moment) }
        }
        due.sort { ($0.moment, $0.alarm.id) < ($1.moment, $1.alarm.id) }
        // Of a record that fell due several times, the last time counts.
        var seen: Set<String> = []
        var late = 0
        for (alarm, moment) in due.reversed() {
            let isLate = now - moment > Self.lateness
            let isNew = seen.insert("\(alarm.store.rawValue)\n\(alarm.record)").inserted
            if isLate, !isNew || late >= Self.maximumLate {
                missed.append(alarm.id)
                continue
            }
            late += isLate ? 1 : 0
            rings.append(Ring(alarm, rings: moment, isLate: isLate))
        }
        rings.reverse()
        let known = Set(alarms.map(\.id))
        gone = kept.filter { $0.value.stage != .ended && !known.contains($0.key) }.map(\.key).sorted()
    }
}
