/// Writes a recurrence rule for cards; a rule with other parts is shown as it is.
enum RecurrenceWords {
    static func text(_ rule: String) -> String {
        var parts: [String: String] = [:]
        for part in rule.split(separator: ";") {
            let pair = part.split(separator: "=", maxSplits: 1)
            guard pair.count == 2 else { return rule }
            parts[String(pair[0])] = String(pair[1])
        }
        let units = ["DAILY": "day", "WEEKLY": "week", "MONTHLY": "month", "YEARLY": "year"]
        guard let unit = parts.removeValue(forKey: "FREQ").flatMap({ units[$0] }) else { return rule }
        let interval = parts.removeValue(forKey: "INTERVAL") ?? "1"
        var text = interval == "1" ? "every \(unit)" : "every \(interval) \(unit)s"
        if let days = parts.removeValue(forKey: "BYDAY") {
            let names = days.split(separator: ",").map { name(of: $0) }
            guard !names.contains(nil) else { return rule }
            text += " on " + names.compactMap(\.self).joined(separator: ", ")
        }
        if let day = parts.removeValue(forKey: "BYMONTHDAY") { text += " on day \(day)" }
        if let count = parts.removeValue(forKey: "COUNT") { text += ", \(count) times" }
        if let until = parts.removeValue(forKey: "UNTIL") {
            guard until.count >= 8 else { return rule }
            let digits = until.prefix(8)
            text += ", until \(digits.prefix(4))-\(digits.dropFirst(4).prefix(2))-\(digits.suffix(2))"
        }
        return parts.isEmpty ? text : rule
    }

    private static func name(of day: Substring) -> String? {
        let names = [
            "MO": "Monday", "TU": "Tuesday", "WE": "Wednesday", "TH": "Thursday", "FR": "Friday", "SA": "Saturday",
            "SU": "Sunday",
        ]
        guard let name = names[String(day.suffix(2))] else { return nil }
        switch day.dropLast(2) {
        case "": return name
        case "1": return "the first \(name)"
        case "2": return "the second \(name)"
        case "3": return "the third \(name)"
        case "4": return "the fourth \(name)"
        case "-1": return "the last \(name)"
        default: return nil
        }
    }
}
