import Foundation

/// The date, time, zone and locale of the question, so that the model can compute "tomorrow".
package struct MomentSource: PromptSource {
    static let name = "now"

    package func sections(at moment: PromptMoment) async throws -> [PromptSection] {
        let text = PromptTime(moment.timeZone)
        let tomorrow = text.calendar.date(byAdding: .day, value: 1, to: moment.now) ?? moment.now
        let line =
            "\(text.weekday(moment.now)) \(text.dayAndTime(moment.now)), \(moment.timeZone.identifier) "
            + "(\(text.offset(at: moment.now))), \(moment.locale.identifier)\n"
            + "Tomorrow is \(text.weekday(tomorrow)) \(text.day(tomorrow))"
        return [PromptSection(name: Self.name, text: line, priority: PromptSection.required)]
    }

    /// The section of the short form: the two days and the time, each digit of which is a token.
    static func short(at moment: PromptMoment) -> PromptSection {
        let text = PromptTime(moment.timeZone)
        let tomorrow = text.calendar.date(byAdding: .day, value: 1, to: moment.now) ?? moment.now
        let line = "\(text.weekday(moment.now)) \(text.dayAndTime(moment.now)); tomorrow is \(text.day(tomorrow))"
        return PromptSection(name: name, text: line, priority: PromptSection.required)
    }
}

/// Times as they stand in a prompt: ISO 8601 in one time zone, and English names of weekdays.
package struct PromptTime: Sendable {
    package let calendar: Calendar

    package init(_ timeZone: TimeZone) {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = timeZone
        self.calendar = calendar
    }

    /// `2026-11-24`
    package func day(_ date: Date) -> String { String(dayAndTime(date).prefix(10)) }

    /// `15:02`
    package func time(_ date: Date) -> String { String(dayAndTime(date).suffix(5)) }

    /// `2026-11-24 15:02`
    package func dayAndTime(_ date: Date) -> String { date.dayAndTime(in: calendar.timeZone) }

    /// `Tuesday`
    package func weekday(_ date: Date) -> String {
        let names = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]
        return names[calendar.component(.weekday, from: date) - 1]
    }

    /// `UTC+01:00`
    package func offset(at date: Date) -> String {
        let seconds = calendar.timeZone.secondsFromGMT(for: date)
        let minutes = abs(seconds) / 60
        return "UTC\(seconds < 0 ? "-" : "+")" + String(format: "%02d:%02d", minutes / 60, minutes % 60)
    }
}
