import Foundation

/// Writes times for cards in the user's language.
struct TimeWords: Sendable {
    private let locale: Locale
    private let zone: TimeZone

    init(_ context: ActionContext) {
        locale = context.locale
        zone = context.timeZone
    }

    /// A day or a time of day, with the name of its zone if it is not the user's.
    func text(_ time: EventTime) -> String {
        time.isAllDay ? day(time.date) : moment(time.date) + zoneSuffix(time.timeZone)
    }

    /// A period; the end of a whole-day event is the day after its last.
    func period(_ start: EventTime, _ end: EventTime?) -> String {
        guard let end else { return text(start) }
        if start.isAllDay {
            let last = end.date.addingTimeInterval(-86_400)
            return last > start.date ? "\(day(start.date)) – \(day(last))" : day(start.date)
        }
        let isSameDay = CalendarDay(of: start.date, in: zone) == CalendarDay(of: end.date, in: zone)
        let until = isSameDay ? timeOfDay(end.date) : moment(end.date)
        return "\(moment(start.date)) – \(until)\(zoneSuffix(start.timeZone))"
    }

    func day(_ date: Date) -> String {
        date.formatted(style(date: .abbreviated, time: .omitted, TimeZone(secondsFromGMT: 0) ?? zone).weekday())
    }

    func moment(_ date: Date) -> String {
        date.formatted(style(date: .abbreviated, time: .shortened, zone).weekday())
    }

    private func timeOfDay(_ date: Date) -> String { date.formatted(style(date: .omitted, time: .shortened, zone)) }

    private func style(
        date: Date.FormatStyle.DateStyle, time: Date.FormatStyle.TimeStyle, _ zone: TimeZone
    ) -> Date.FormatStyle {
        Date.FormatStyle(date: date, time: time, locale: locale, timeZone: zone)
    }

    /// The time there, if the record's zone is another.
    private func zoneSuffix(_ name: String?) -> String {
        guard let name, name != zone.identifier else { return "" }
        return " (\(name))"
    }
}
