import Foundation
import HearthBase

/// Reads the fields of one object of a manifest. Errors name the field, the entry, the expected and the found value.
package struct ManifestReader {
    package let members: JSONMembers
    /// The object's position, such as `models[2]`; empty for the document.
    package let place: String
    /// The entry's identifier, as soon as it is read.
    package var entry: String?
    package let manifest: URL

    /// The largest integer that all JSON parsers read exactly.
    static let largestInteger: UInt64 = 1 << 53

    /// The position of a field of this object.
    package func place(of field: String) -> String { place.isEmpty ? field : "\(place).\(field)" }

    /// The error for a field of the wrong type or form.
    func malformed(_ field: String, expected: String, found: String) -> CatalogError {
        failure(field, "expected \(expected), found \(found)", expected: expected, found: found)
    }

    /// The error for any other problem with a field.
    package func failure(_ field: String, _ problem: String, expected: String? = nil, found: String? = nil)
        -> CatalogError
    {
        let place = place(of: field)
        let entry = entry.map { " (\($0))" } ?? ""
        return CatalogError(
            .manifestInvalid, "\(place)\(entry): \(problem)",
            context: ErrorContext(
                model: self.entry, url: manifest.shown, field: place, expected: expected, found: found,
                remedy: "The publisher of \(manifest.shown) must correct it."))
    }

    /// The value of a field; `null` counts as absent.
    package func value(_ field: String) -> JSONValue? {
        guard let value = members[field], value != .null else { return nil }
        return value
    }

    // MARK: - Required fields

    /// The value that `read` finds in a required field.
    package func required<Value>(
        _ field: String, _ expected: String, _ read: (String) throws(CatalogError) -> Value?
    ) throws(CatalogError) -> Value {
        guard let value = try read(field) else {
            throw failure(field, "it is missing; expected \(expected)", expected: expected, found: "nothing")
        }
        return value
    }

    // MARK: - Types

    /// A field's value, converted; `convert` returns `nil` for one of the wrong type or form.
    private func converted<Value>(
        _ field: String, _ expected: String, _ convert: (JSONValue) -> Value?
    ) throws(CatalogError) -> Value? {
        guard let value = value(field) else { return nil }
        guard let converted = convert(value) else { throw malformed(field, expected: expected, found: value.kind) }
        return converted
    }

    /// A text that `make` can convert.
    package func parsed<Value>(
        _ field: String, _ expected: String, _ make: (String) -> Value?
    ) throws(CatalogError) -> Value? {
        try converted(field, expected) { if case .string(let text) = $0 { make(text) } else { nil } }
    }

    /// A line of text: not empty, without control characters, at most 1024 bytes.
    package func text(_ field: String) throws(CatalogError) -> String? {
        try parsed(field, "a line of text") { (1...1024).contains($0.utf8.count) && $0.isPlain() ? $0 : nil }
    }

    /// Text for people: line breaks and tabs allowed, at most 64 KiB.
    func prose(_ field: String) throws(CatalogError) -> String? {
        try parsed(field, "text without control characters") {
            $0.utf8.count <= 65536 && $0.isPlain(except: "\n\r\t") ? $0 : nil
        }
    }

    /// A whole number in the range; `1.8e9` is one, `10.5` is not.
    package func integer(_ field: String, in range: ClosedRange<UInt64> = 0...largestInteger) throws(CatalogError)
        -> UInt64?
    {
        try converted(field, "a whole number from \(range.lowerBound) to \(range.upperBound)") { value in
            guard case .number(let digits) = value,
                let number = UInt64(digits) ?? Double(digits).flatMap(UInt64.init(exactly:))
            else { return nil }
            return range.contains(number) ? number : nil
        }
    }

    /// A number in the range.
    func decimal(_ field: String, in range: ClosedRange<Double>) throws(CatalogError) -> Double? {
        let bounds = "\(range.lowerBound.formatted()) to \(range.upperBound.formatted())"
        return try converted(field, "a number from \(bounds)") { value in
            guard case .number(let digits) = value, let number = Double(digits) else { return nil }
            return range.contains(number) ? number : nil
        }
    }

    /// One of a list of words.
    package func choice<Value: RawRepresentable & CaseIterable>(
        _ field: String, _ type: Value.Type = Value.self
    ) throws(CatalogError) -> Value? where Value.RawValue == String {
        let words = Value.allCases.map(\.rawValue)
        return try parsed(field, "one of \(words.joined(separator: ", "))") { Value(rawValue: $0) }
    }

    /// `true` or `false`.
    func flag(_ field: String) throws(CatalogError) -> Bool? {
        try converted(field, "true or false") { if case .boolean(let flag) = $0 { flag } else { nil } }
    }

    package func digest(_ field: String) throws(CatalogError) -> SHA256Digest? {
        try parsed(field, "64 hexadecimal digits") { SHA256Digest(hex: $0) }
    }

    /// An RFC 3339 time, such as `2026-11-21T00:00:00Z`.
    func moment(_ field: String) throws(CatalogError) -> Date? {
        try parsed(field, "a time such as 2026-11-21T00:00:00Z") { Date(timestamp: $0) }
    }

    package func object(_ field: String) throws(CatalogError) -> ManifestReader? {
        try converted(field, "an object") { object($0, at: field) }
    }

    /// The objects of a list.
    func objects(_ field: String) throws(CatalogError) -> [ManifestReader]? {
        guard let items = try list(field) else { return nil }
        var readers: [ManifestReader] = []
        for (index, item) in items.enumerated() {
            let element = "\(field)[\(index)]"
            guard let reader = object(item, at: element) else {
                throw malformed(element, expected: "an object", found: item.kind)
            }
            readers.append(reader)
        }
        return readers
    }

    private func object(_ value: JSONValue, at field: String) -> ManifestReader? {
        guard case .object(let members) = value else { return nil }
        return ManifestReader(members: members, place: place(of: field), entry: entry, manifest: manifest)
    }

    package func list(_ field: String) throws(CatalogError) -> [JSONValue]? {
        try converted(field, "a list") { if case .array(let items) = $0 { items } else { nil } }
    }
}

extension Date {
    /// Parses `2026-11-21T00:00:00Z`, with or without fractions of a second, in any time zone.
    package init?(timestamp text: String) {
        guard text.utf8.count <= 40, text.contains("T") else { return nil }
        let styles = [
            Date.ISO8601FormatStyle(), Date.ISO8601FormatStyle(includingFractionalSeconds: true),
        ]
        for style in styles {
            // If the text has the other style, this one fails.
            if let date = try? style.parse(text) {
                self = date
                return
            }
        }
        return nil
    }

    /// The time in UTC, in whole seconds, such as `2026-11-21T00:00:00Z`.
    package var timestamp: String { formatted(.iso8601) }
}
