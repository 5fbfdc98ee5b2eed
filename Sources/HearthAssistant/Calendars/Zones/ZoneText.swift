import Foundation

/// Writes the VTIMEZONE that an event's file carries.
enum ZoneText {
    /// The property of a definition that Hearth has copied from the zone database, with the zone's name there.
    static let copyMark = "X-HEARTH-ZONE"

    /// The definition of a zone from a time on: the changes one by one, then the rule of the years to come.
    /// - Parameters:
    ///   - name: the TZID of the file's times, as their parameter says it.
    ///   - identifier: the zone's name in the database; `nil` for an offset.
    static func definition(
        of zone: SystemZone, name: String, identifier: String?, from start: WallTime
    ) -> ContentComponent {
        let moment = start.seconds - zone.offset(at: start.seconds)
        // The change before the start is in force then.
        let before = zone.changes.lastIndex { $0.moment <= moment }
        let later = zone.changes[(before ?? 0)...]
        var single = Array(later)
        var rules: [(change: SystemZone.Change, previous: Int, rule: String)] = []
        if let rule = zone.rule, let daylight = rule.daylight, let starts = daylight.start.recurrence,
            let ends = daylight.end.recurrence
        {
            // The changes at the end of the list that the rule has, too.
            let year = { (change: SystemZone.Change) in
                WallTime(seconds: change.moment + rule.standard.offset).fields.year
            }
            let isOfRule = { (change: SystemZone.Change) in
                rule.changes(in: year(change)).contains {
                    $0.moment == change.moment && $0.kind.offset == change.kind.offset
                }
            }
            while let last = single.last, isOfRule(last) { single.removeLast() }
            let from = single.last.map { year($0) } ?? start.fields.year - 1
            for year in [from, from + 1] {
                for change in rule.changes(in: year)
                where rules.count < 2 && change.moment > (single.last?.moment ?? .min) {
                    let isDaylight = change.kind == daylight.kind
                    rules.append(
                        (change, isDaylight ? rule.standard.offset : daylight.kind.offset, isDaylight ? starts : ends))
                }
            }
        }
        var items: [ContentComponent.Item] = [.line(ContentLine("TZID", value: ContentText.escaped(name)))]
        if let identifier { items.append(.line(ContentLine(copyMark, value: ContentText.escaped(identifier)))) }
        var previous = before.flatMap { $0 > 0 ? zone.changes[$0 - 1].kind.offset : nil } ?? zone.first.offset
        // At most the changes of 60 years of a zone without a rule.
        for change in single.prefix(120) {
            items.append(.component(observance(change, previous, rule: nil)))
            previous = change.kind.offset
        }
        for (change, previous, rule) in rules { items.append(.component(observance(change, previous, rule: rule))) }
        if single.isEmpty && rules.isEmpty {
            let kind = zone.rule?.standard ?? zone.first
            let fixed = SystemZone.Change(
                moment: WallTime(year: 1970, month: 1, day: 1).seconds - kind.offset, kind: kind)
            items.append(.component(observance(fixed, kind.offset, rule: nil)))
        }
        return ContentComponent("VTIMEZONE", items)
    }

    private static func observance(_ change: SystemZone.Change, _ previous: Int, rule: String?) -> ContentComponent {
        var lines = [
            ContentLine("DTSTART", value: WallTime(seconds: change.moment + previous).text),
            ContentLine("TZOFFSETFROM", value: text(previous)),
            ContentLine("TZOFFSETTO", value: text(change.kind.offset)),
            ContentLine("TZNAME", value: ContentText.escaped(change.kind.name)),
        ]
        if let rule { lines.insert(ContentLine("RRULE", value: rule), at: 1) }
        return ContentComponent(change.kind.isDaylight ? "DAYLIGHT" : "STANDARD", lines.map { .line($0) })
    }

    /// An offset such as `+0130`.
    private static func text(_ offset: Int) -> String {
        let size = abs(offset)
        let seconds = size % 60 == 0 ? "" : String(format: "%02d", size % 60)
        return (offset < 0 ? "-" : "+") + String(format: "%02d%02d", size / 3600, size / 60 % 60) + seconds
    }
}
