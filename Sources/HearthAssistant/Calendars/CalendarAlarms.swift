import Foundation

/// The alarms of an event's file.
package enum CalendarAlarms {
    /// The file without the alarms of its events.
    package static func removed(from data: Data) throws -> Data {
        var document = try ContentParser().parse(data)
        for index in document.items.indices {
            guard case .component(var calendar) = document.items[index] else { continue }
            for place in calendar.items.indices {
                guard case .component(var event) = calendar.items[place], event.name == "VEVENT" else { continue }
                event.items.removeAll { if case .component(let part) = $0 { part.name == "VALARM" } else { false } }
                calendar.items[place] = .component(event)
            }
            document.items[index] = .component(calendar)
        }
        return document.data
    }
}
