import Foundation
import HearthBase
import HearthInference

/// Reads payloads: strict about types and duplicate fields, lenient where harmless.
enum PayloadDecoder {
    /// - Parameter fields: the names of the action's fields.
    /// - Returns: the payload, the object as a person can edit it, and the fields that the action does not have.
    /// - Throws: `unusable-payload`, with the field.
    static func decode<Payload: Decodable & Sendable>(
        _ type: Payload.Type, _ text: String, fields: [String]
    ) throws(AssistantError) -> (payload: Payload, text: String, ignored: [String]) {
        let text = PayloadText.repaired(text)
        do {
            guard case .object(let members) = try JSONValue(parsing: Data(text.utf8)) else {
                throw unusable("it is no JSON object")
            }
            let payload = try JSON.value(type, Data(text.utf8))
            let ignored = fields.isEmpty ? [] : members.keys.filter { !fields.contains($0) }.sorted()
            return (payload, text, ignored)
        } catch let error as DecodingError {
            throw unusable(reason(error), field: field(error))
        } catch let error as AssistantError {
            throw error
        } catch {
            throw unusable("\(error)")
        }
    }

    /// - Parameter field: the field with the value that cannot be used.
    static func unusable(_ reason: String, field: String? = nil) -> AssistantError {
        AssistantError(
            .unusablePayload, "the values of the action cannot be used: \(reason)", context: ErrorContext(field: field))
    }

    private static func field(_ error: DecodingError) -> String? {
        switch error {
        case .keyNotFound(let key, _): key.stringValue
        case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
            context.codingPath.first?.stringValue
        @unknown default: nil
        }
    }

    private static func reason(_ error: DecodingError) -> String {
        func field(_ path: [any CodingKey]) -> String { path.map(\.stringValue).joined(separator: ".") }
        switch error {
        case .keyNotFound(let key, _): return "\(key.stringValue) is missing"
        case .typeMismatch(_, let context): return "\(field(context.codingPath)) has the wrong type"
        case .valueNotFound(_, let context): return "\(field(context.codingPath)) has no value"
        case .dataCorrupted(let context):
            let path = field(context.codingPath)
            return path.isEmpty ? context.debugDescription : "\(path) \(context.debugDescription)"
        @unknown default: return "a field has the wrong type"
        }
    }
}

/// The most characters of values that are read. Schemas set lower bounds, which models without a grammar exceed.
enum PayloadLimit {
    static let line = 300
    static let text = 8000
}

extension KeyedDecodingContainer {
    /// A line of text; a number counts as its text; `nil` without visible characters.
    func line(_ key: Key, atMost limit: Int = PayloadLimit.line) throws -> String? {
        try scalarText(key, isMultiline: false, atMost: limit)
    }

    /// A text of several lines.
    func paragraphs(_ key: Key) throws -> String? {
        try scalarText(key, isMultiline: true, atMost: PayloadLimit.text)
    }

    private func scalarText(_ key: Key, isMultiline: Bool, atMost limit: Int) throws -> String? {
        guard contains(key), try !decodeNil(forKey: key) else { return nil }
        let written: String
        // The value may have the other type.
        if let number = try? decode(Decimal.self, forKey: key), (try? decode(Bool.self, forKey: key)) == nil {
            written = number.description
        } else {
            written = try decode(String.self, forKey: key)
        }
        let text = PayloadText.cleaned(written, isMultiline: isMultiline)
        guard text.count <= limit else { throw refusal(key, "has more than \(limit) characters") }
        return text.isEmpty ? nil : text
    }

    /// A whole number, also written as text or with a zero fraction.
    func whole(_ key: Key, _ range: ClosedRange<Int>) throws -> Int? {
        guard let number = try number(key) else { return nil }
        guard let whole = Int(exactly: number) else { throw refusal(key, "is no whole number") }
        guard range.contains(whole) else {
            throw refusal(key, "is not between \(range.lowerBound) and \(range.upperBound)")
        }
        return whole
    }

    /// A number, also written as text.
    func number(_ key: Key) throws -> Double? {
        guard contains(key), try !decodeNil(forKey: key) else { return nil }
        // The value may have the other type.
        if let text = try? decode(String.self, forKey: key) {
            let trimmed = text.trimmingCharacters(in: .whitespaces)
            if trimmed.isEmpty { return nil }
            guard trimmed.utf8.count <= 32, let number = Double(trimmed), number.isFinite else {
                throw refusal(key, "is no number")
            }
            return number
        }
        return try decode(Double.self, forKey: key)
    }

    /// A truth value, also written as text.
    func flag(_ key: Key) throws -> Bool? {
        guard contains(key), try !decodeNil(forKey: key) else { return nil }
        // The value may have the other type.
        guard let text = try? decode(String.self, forKey: key) else { return try decode(Bool.self, forKey: key) }
        switch text.lowercased() {
        case "true", "yes": return true
        case "false", "no": return false
        case "": return nil
        default: throw refusal(key, "is neither true nor false")
        }
    }

    /// A word of a list, in any case.
    func choice<Choice: RawRepresentable & CaseIterable>(_ key: Key) throws -> Choice? where Choice.RawValue == String {
        guard let text = try line(key, atMost: 40)?.lowercased() else { return nil }
        guard let choice = Choice.allCases.first(where: { $0.rawValue == text }) else {
            let names = Choice.allCases.map(\.rawValue).joined(separator: ", ")
            throw refusal(key, "is not one of \(names)")
        }
        return choice
    }

    /// A word of a list, which must be present.
    func requiredChoice<Choice: RawRepresentable & CaseIterable>(_ key: Key) throws -> Choice
    where Choice.RawValue == String {
        guard let choice: Choice = try choice(key) else { throw refusal(key, "is missing") }
        return choice
    }

    /// A time or a day.
    func time(_ key: Key) throws -> PayloadTime? {
        guard let text = try line(key, atMost: 64) else { return nil }
        guard let time = PayloadTime(text) else {
            throw refusal(key, "is no time such as 2026-11-24T15:00 and no day such as 2026-11-24")
        }
        return time
    }
}
