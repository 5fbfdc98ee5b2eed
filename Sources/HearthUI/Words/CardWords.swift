import Foundation
import HearthAssistant
import HearthBase
import HearthInference

/// The texts of an action and of an answer.
extension Words {
    /// The title of a card.
    func title(_ card: ActionCard) -> String { card.code.flatMap { of("action", $0) } ?? card.title }

    /// The name of a value.
    func label(_ field: ActionCard.Field, of card: ActionCard) -> String {
        guard let code = card.code else { return field.label }
        return of("card.field", "\(code).\(field.name)") ?? of("card.field", field.name) ?? field.label
    }

    /// A value. Text and values of unknown form are the same in all languages.
    func value(_ field: ActionCard.Field) -> String {
        guard let raw = field.raw else { return field.value }
        let words: String? =
            switch field.name {
            case "start": period(raw)
            case "due", "end", "from", "to", "date": moment(raw)
            case "recurrence": recurrence(raw)
            case "alarmMinutes": Int(raw).map(alarm)
            case "priority": Int(raw).map { self.word("priority", $0 < 5 ? "high" : $0 == 5 ? "medium" : "low") }
            case "frequency": of("habit", raw)
            case "amount": Double(raw).map { $0.formatted(.number.locale(locale)) }
            default: nil
            }
        return words ?? field.value
    }

    /// The state of a card.
    func state(_ card: ActionCard, isWaiting: Bool) -> String {
        word("card.state", isWaiting ? "waiting" : card.state.rawValue)
    }

    /// The note of a card: its sentences by their codes, if all of them have codes.
    func note(_ card: ActionCard) -> String? {
        guard let remarks = card.remarks, remarks.map(\.text).joined(separator: " ") == card.note else {
            return card.note
        }
        return remarks.map { remark in
            if remark.code == "same-time" { return sameTime(remark.values) }
            return of("remark", remark.code, ["value": remark.values.joined(separator: ", ")]) ?? remark.text
        }.joined(separator: " ")
    }

    /// Titles and times in turn, then the number of further events.
    private func sameTime(_ values: [String]) -> String {
        let events = stride(from: 0, to: values.count - 1, by: 2).map { index in
            let title = values[index].isEmpty ? self("action.events") : values[index]
            return "\(title) (\(period(values[index + 1]) ?? values[index + 1]))"
        }
        let more = values.count % 2 == 1 ? values.last ?? "0" : "0"
        return self(
            more == "0" ? "remark.same-time" : "remark.same-time.more",
            ["events": events.joined(separator: "; "), "more": more])
    }

    private func alarm(_ minutes: Int) -> String {
        if minutes == 0 { return self("alarm.now") }
        if minutes % 1440 == 0 { return self("alarm.days", n: minutes / 1440) }
        return minutes % 60 == 0 ? self("alarm.hours", n: minutes / 60) : self("alarm.minutes", n: minutes)
    }

    /// A rule of RFC 5545 with a frequency, an interval and days of the week; `nil` for one of another kind.
    private func recurrence(_ rule: String) -> String? {
        var parts: [String: String] = [:]
        for part in rule.uppercased().replacing("RRULE:", with: "").split(separator: ";") {
            let pair = part.split(separator: "=", maxSplits: 1)
            guard pair.count == 2 else { return nil }
            parts[String(pair[0])] = String(pair[1])
        }
        let units = ["DAILY": "day", "WEEKLY": "week", "MONTHLY": "month", "YEARLY": "year"]
        guard let frequency = parts["FREQ"], let unit = units[frequency],
            Set(parts.keys).isSubset(of: ["FREQ", "INTERVAL", "BYDAY", "COUNT", "WKST"])
        else { return nil }
        let interval = parts["INTERVAL"] ?? "1"
        var words = interval == "1" ? word("repeat", frequency) : word("repeat.every", unit, ["count": interval])
        if let days = parts["BYDAY"] {
            let codes = ["SU", "MO", "TU", "WE", "TH", "FR", "SA"]
            var calendar = Calendar(identifier: .gregorian)
            calendar.locale = locale
            let names = days.split(separator: ",").compactMap { day in
                codes.firstIndex(of: String(day)).map { calendar.weekdaySymbols[$0] }
            }
            guard frequency == "WEEKLY", names.count == days.split(separator: ",").count else { return nil }
            words += ", " + self("repeat.on", ["days": names.formatted(.list(type: .and).locale(locale))])
        }
        if let count = parts["COUNT"].flatMap({ Int($0) }) { words += ", " + self("repeat.times", n: count) }
        return words
    }

    /// The sentence under an answer that is not complete.
    func ending(_ ending: AnswerEnding) -> String {
        of("ending", ending.code) ?? sentence(of: FailureBody(code: ending.code, message: ending.message))
    }

    /// The work of the engine before the next text.
    func phase(_ phase: GenerationPhase?) -> String {
        switch phase {
        case nil: self("phase.chat.waiting")
        case .loading: self("phase.chat.load")
        case .connecting: self("phase.chat.connect")
        case .prefill(let done, let total):
            self("phase.chat.prefill", ["done": "\(done)", "total": "\(total)"])
        case .decode: self("phase.chat.decode")
        }
    }
}
