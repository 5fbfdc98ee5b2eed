import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthAssistant

/// A home with calendar stores whose clock and zone are given.
struct CalendarFixture {
    let folder: TemporaryFolder
    let calendar: VdirCalendarStore
    let reminders: VdirReminderStore

    /// 2026-11-24T12:00:00Z.
    static let now = Date(timeIntervalSince1970: 1_795_521_600)
    static let time = TimeSource(clock: ContinuousClock(), now: { now })

    init(zone: String = "Europe/Berlin", now: Date = now) throws {
        folder = try TemporaryFolder()
        let zone = try #require(TimeZone(identifier: zone))
        let time = TimeSource(clock: ContinuousClock(), now: { now })
        calendar = VdirCalendarStore(home: folder.path, time: time, timeZone: { zone })
        reminders = VdirReminderStore(home: folder.path, time: time, timeZone: { zone })
    }

    /// The moment of a text such as `2026-11-24T12:00:00Z`.
    static func date(_ text: String) throws -> Date { try Date(text, strategy: .iso8601) }

    /// Writes an event file of another program, with the line endings of iCalendar.
    @discardableResult
    func write(_ name: String, event lines: String, kind: String = "VEVENT", zone: String = "") throws -> Data {
        let text =
            "BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:-//Other//EN\n\(zone)BEGIN:\(kind)\n\(lines)\nEND:\(kind)\nEND:VCALENDAR\n"
        let data = Data(text.replacing("\n", with: "\r\n").utf8)
        try folder.write((kind == "VTODO" ? "reminders/" : "calendar/") + name, data)
        return data
    }

    func text(_ name: String) throws -> String {
        String(decoding: try LocalFileSystem().contents(ofFile: folder.path(name), limit: 1 << 20), as: UTF8.self)
    }

    /// The starts of the occurrences in a period, as ISO 8601.
    func starts(_ from: String, _ until: String) async throws -> [String] {
        try await calendar.occurrences(from: Self.date(from), until: Self.date(until), limit: 1000)
            .map { $0.start.date.formatted(.iso8601) }
    }
}
