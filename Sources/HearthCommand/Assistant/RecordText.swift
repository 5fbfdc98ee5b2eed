import Foundation
import HearthAssistant
import HearthBase

/// Writes records' times and ids for people and programs.
struct RecordText: Sendable {
    var zone = TimeZone.current

    private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]

    /// A moment such as `Wed 2026-11-25 09:00`.
    func moment(_ date: Date) -> String {
        let parts = parts(date, zone)
        return "\(day(parts)) \(Self.padded(parts.hour ?? 0)):\(Self.padded(parts.minute ?? 0))"
    }

    /// A time of a calendar: a whole day without a time of day.
    func text(_ time: EventTime?) -> String {
        guard let time else { return "-" }
        return time.isAllDay ? day(parts(time.date, .gmt)) : moment(time.date)
    }

    /// A time in the form of ISO 8601: a day, or a moment in UTC.
    static func json(_ time: EventTime?) -> String? {
        time.map { time in
            time.isAllDay ? CalendarDay(of: time.date, in: .gmt).description : json(time.date)
        }
    }

    static func json(_ date: Date) -> String { date.formatted(.iso8601) }

    private func parts(_ date: Date, _ zone: TimeZone) -> DateComponents {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = zone
        return calendar.dateComponents([.year, .month, .day, .hour, .minute, .weekday], from: date)
    }

    private func day(_ parts: DateComponents) -> String {
        let weekday = Self.weekdays[max(0, min(6, (parts.weekday ?? 1) - 1))]
        return "\(weekday) \(parts.year ?? 0)-\(Self.padded(parts.month ?? 0))-\(Self.padded(parts.day ?? 0))"
    }

    private static func padded(_ number: Int) -> String { number < 10 ? "0\(number)" : String(number) }

    /// The digits of ids in listings.
    private static let shortest = 8

    /// The beginning of an id, for listings: long enough to be different from the others.
    static func short(_ id: String, among all: [String]) -> String {
        var length = shortest
        while length < id.count, all.contains(where: { $0 != id && $0.hasPrefix(id.prefix(length)) }) { length += 4 }
        return String(id.prefix(length))
    }

    /// The record whose id is, or begins with, a word.
    /// - Throws: ``AssistantError`` with `no-such-record` or `ambiguous-record`.
    static func only<Record>(
        _ word: String, among records: [Record], id: (Record) -> String, kind: String, listing: String
    ) throws -> Record {
        if let exact = records.first(where: { id($0) == word }) { return exact }
        let found = records.filter { id($0).hasPrefix(word) }
        guard let first = found.first, !word.isEmpty else {
            throw AssistantError(
                .noSuchRecord, "no \(kind) has the id \(word.quotedForTerminal)",
                context: ErrorContext(remedy: "`\(listing)` shows the ids."))
        }
        guard found.count == 1 else {
            throw AssistantError(
                .ambiguousRecord, "\(found.count) records have ids that begin with \(word.quotedForTerminal)",
                context: ErrorContext(remedy: "Give more of the id: `\(listing)` shows them."))
        }
        return first
    }
}

/// A time on the command line: as of ISO 8601, or a time of today or tomorrow.
struct CommandTime: Sendable, Hashable {
    private let text: String
    /// The days after today, if the word names them.
    private let days: Int?

    init?(_ word: String) {
        for (name, days) in [("today", 0), ("tomorrow", 1)] where word.hasPrefix(name) {
            let rest = word.dropFirst(name.count).trimmingCharacters(in: .whitespaces)
            guard rest.isEmpty || PayloadTime("2000-01-01T\(Self.clock(rest))") != nil else { return nil }
            (text, self.days) = (rest.isEmpty ? "" : Self.clock(rest), days)
            return
        }
        guard PayloadTime(word) != nil else { return nil }
        (text, days) = (word, nil)
    }

    private static func clock(_ text: String) -> String { text.count == 4 && text.contains(":") ? "0\(text)" : text }

    /// The time of an event, as of a moment.
    func time(now: Date, zone: TimeZone = .current) -> EventTime? { payload(now, zone)?.eventTime(in: zone) }

    /// The moment, or the beginning of the day.
    func date(now: Date, zone: TimeZone = .current) -> Date? { payload(now, zone)?.date(in: zone) }

    private func payload(_ now: Date, _ zone: TimeZone) -> PayloadTime? {
        guard let days else { return PayloadTime(text) }
        let day = CalendarDay(of: now, in: zone).advanced(by: days)
        return PayloadTime(text.isEmpty ? "\(day)" : "\(day)T\(text)")
    }
}

extension ValueKind where Value == CommandTime {
    /// A day or a time.
    static var time: Self {
        ValueKind("a time such as 2026-11-25, '2026-11-25 09:00' or 'tomorrow 9:00'") { CommandTime($0) }
    }
}
