import Foundation
import HearthBase

/// Reads and writes records as JSON: sorted keys, and dates of ISO 8601 with milliseconds.
package enum RecordJSON {
    /// The bytes of a value, the same for equal values.
    package static func data(_ value: some Encodable) throws -> Data {
        try JSON.data(value, dates: .milliseconds)
    }

    /// Reads a value.
    /// - Throws: ``AssistantError`` with `unusable-record`.
    package static func value<Value: Decodable>(
        _ type: Value.Type, _ data: Data, or message: String = "the text is no record of this kind"
    ) throws -> Value {
        do {
            return try JSON.value(type, data)
        } catch {
            throw AssistantError(.unusableRecord, message, underlying: error)
        }
    }
}

extension KeyedDecodingContainer {
    /// A time of a calendar: a day, or a moment; `nil` for none.
    func time(_ key: Key, zone: String?) throws -> EventTime? {
        guard let text = try decodeIfPresent(String.self, forKey: key), !text.isEmpty else { return nil }
        // Of years before 1900 too, as of birthdays without a year.
        if let early = Timestamp(text) ?? Timestamp(text + "T00:00:00Z") {
            return EventTime(early.date, timeZone: text.count == 10 ? nil : zone, isAllDay: text.count == 10)
        }
        guard let time = PayloadTime(text) else {
            throw DecodingError.typeMismatch(
                Date.self, .init(codingPath: codingPath + [key], debugDescription: "not a time"))
        }
        return EventTime(time.date(in: zone.flatMap(TimeZone.init(identifier:)) ?? .current), timeZone: zone)
    }

    /// A text; empty if it is absent.
    func text(_ key: Key) throws -> String { try decodeIfPresent(String.self, forKey: key) ?? "" }
}

extension EventTime {
    /// The form of ISO 8601: a day, or a moment in UTC.
    package var text: String {
        let moment = Timestamp(date).description
        if isAllDay { return String(moment.prefix(10)) }
        return moment.hasSuffix(".000Z") ? moment.dropLast(5) + "Z" : moment
    }
}

extension Date {
    /// The day and the time of day in a zone: `2026-11-24 15:02`.
    func dayAndTime(in zone: TimeZone) -> String {
        let local = Timestamp(addingTimeInterval(Double(zone.secondsFromGMT(for: self)))).description
        return String(local.prefix(16)).replacing("T", with: " ")
    }
}
