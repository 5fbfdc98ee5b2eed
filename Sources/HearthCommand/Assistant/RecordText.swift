import Foundation
import HearthAssistant
import HearthBase
import HearthCatalog

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

    /// The record whose id is, or begins with, a word, or whose title is the word.
    /// - Parameter title: the title; `nil` for records that have none.
    /// - Throws: ``AssistantError`` with `no-such-record` or `ambiguous-record`.
    static func only<Record>(
        _ word: String, among records: [Record], id: (Record) -> String, title: ((Record) -> String)? = nil,
        kind: String, listing: String
    ) throws -> Record {
        if let exact = records.first(where: { id($0) == word }) { return exact }
        let wanted = SearchText.folded(word.trimmingCharacters(in: .whitespaces))
        let titled =
            title.map { title in wanted.isEmpty ? [] : records.filter { SearchText.folded(title($0)) == wanted } } ?? []
        let found = word.isEmpty ? [] : titled.isEmpty ? records.filter { id($0).hasPrefix(word) } : titled
        guard let first = found.first else {
            let near =
                title.map { title in NearNames.of(records, to: wanted) { SearchText.folded(title($0)) }.first.map(title)
                } ?? nil
            let remedy = near.map { "Did you mean \($0.quotedForTerminal)? " } ?? ""
            throw AssistantError(
                .noSuchRecord, "no \(kind) has the id\(title == nil ? "" : " or title") \(word.quotedForTerminal)",
                context: ErrorContext(remedy: remedy + "`\(listing)` shows the ids."))
        }
        guard found.count == 1 else {
            throw AssistantError(
                .ambiguousRecord,
                titled.isEmpty
                    ? "\(found.count) records have ids that begin with \(word.quotedForTerminal)"
                    : "\(found.count) records have the title \(word.quotedForTerminal)",
                context: ErrorContext(remedy: "Give the id, or more of it: `\(listing)` shows them."))
        }
        return first
    }
}
