import Foundation
import HearthBase

/// Reads the fields of one object of a manifest; every failure names the field, the entry, what was expected and found.
struct ManifestReader {
    let members: [String: JSONValue]
    /// The object's place, such as `models[2]`, empty for the document itself.
    let place: String
    /// The entry's own identifier, once it is known.
    var entry: String?
    let manifest: URL

    /// The largest integer every JSON reader agrees on.
    static let largestInteger: UInt64 = 1 << 53

    /// The place of a field of this object.
    func place(of field: String) -> String { place.isEmpty ? field : "\(place).\(field)" }

    /// The error for a field that is not what it must be.
    func malformed(_ field: String, expected: String, found: String) -> CatalogError {
        failure(field, "expected \(expected), found \(found)", expected: expected, found: found)
    }

    /// The error for a field with something else wrong.
    func failure(_ field: String, _ problem: String, expected: String? = nil, found: String? = nil) -> CatalogError {
        let place = place(of: field)
        let entry = entry.map { " (\($0))" } ?? ""
        return CatalogError(
            .manifestInvalid, "\(place)\(entry): \(problem)",
            context: ErrorContext(
                model: self.entry, url: manifest.shown, field: place, expected: expected, found: found,
                remedy: "Whoever publishes \(manifest.shown) must correct it."))
    }

    /// The value of a field; `null` counts as absent.
    func value(_ field: String) -> JSONValue? {
        guard let value = members[field], value != .null else { return nil }
        return value
    }

    // MARK: - Required or not

    /// What `read` finds in a field that must be there.
    func required<Value>(
        _ field: String, _ expected: String, _ read: (String) throws(CatalogError) -> Value?
    ) throws(CatalogError) -> Value {
        guard let value = try read(field) else {
            throw failure(field, "it is missing; expected \(expected)", expected: expected, found: "nothing")
        }
        return value
    }

    // MARK: - Kinds

    /// A line of text: not empty, no control characters, at most 1024 bytes.
    func text(_ field: String) throws(CatalogError) -> String? {
        guard let value = value(field) else { return nil }
        let expected = "a line of text"
        guard case .string(let text) = value else { throw malformed(field, expected: expected, found: value.kind) }
        guard !text.isEmpty, text.utf8.count <= 1024, text.isPlain() else {
            throw malformed(field, expected: expected, found: value.kind)
        }
        return text
    }

    /// Text for people: line breaks and tabs allowed, at most 64 KiB.
    func prose(_ field: String) throws(CatalogError) -> String? {
        guard let value = value(field) else { return nil }
        guard case .string(let text) = value, text.utf8.count <= 65536, text.isPlain(except: "\n\r\t") else {
            throw malformed(field, expected: "text without control characters", found: value.kind)
        }
        return text
    }

    /// Text that `make` accepts.
    func parsed<Value>(
        _ field: String, _ expected: String, _ make: (String) -> Value?
    ) throws(CatalogError) -> Value? {
        guard let value = value(field) else { return nil }
        guard case .string(let text) = value, let made = make(text) else {
            throw malformed(field, expected: expected, found: value.kind)
        }
        return made
    }

    /// A whole number of the range; `1.8e9` is one, `10.5` is not.
    func integer(_ field: String, in range: ClosedRange<UInt64> = 0...largestInteger) throws(CatalogError) -> UInt64? {
        guard let value = value(field) else { return nil }
        guard case .number(let digits) = value, let number = Self.integer(digits), range.contains(number) else {
            throw malformed(
                field, expected: "a whole number from \(range.lowerBound) to \(range.upperBound)", found: value.kind)
        }
        return number
    }

    private static func integer(_ digits: String) -> UInt64? {
        if let number = UInt64(digits) { return number }
        guard let number = Double(digits) else { return nil }
        return UInt64(exactly: number)
    }

    /// A number of the range.
    func decimal(_ field: String, in range: ClosedRange<Double>) throws(CatalogError) -> Double? {
        guard let value = value(field) else { return nil }
        guard case .number(let digits) = value, let number = Double(digits), range.contains(number) else {
            let bounds = "\(range.lowerBound.formatted()) to \(range.upperBound.formatted())"
            throw malformed(field, expected: "a number from \(bounds)", found: value.kind)
        }
        return number
    }

    /// One of a list of words.
    func choice<Value: RawRepresentable & CaseIterable>(
        _ field: String, _ type: Value.Type = Value.self
    ) throws(CatalogError) -> Value? where Value.RawValue == String {
        let words = Value.allCases.map(\.rawValue)
        return try parsed(field, "one of \(words.joined(separator: ", "))") { Value(rawValue: $0) }
    }

    /// A SHA-256.
    func digest(_ field: String) throws(CatalogError) -> SHA256Digest? {
        try parsed(field, "64 hexadecimal digits") { SHA256Digest(hex: $0) }
    }

    /// A moment as RFC 3339 writes it, such as `2026-11-21T00:00:00Z`.
    func moment(_ field: String) throws(CatalogError) -> Date? {
        try parsed(field, "a time such as 2026-11-21T00:00:00Z") { Date(timestamp: $0) }
    }

    /// An object within this one.
    func object(_ field: String) throws(CatalogError) -> ManifestReader? {
        guard let value = value(field) else { return nil }
        guard case .object(let members) = value else {
            throw malformed(field, expected: "an object", found: value.kind)
        }
        return ManifestReader(members: members, place: place(of: field), entry: entry, manifest: manifest)
    }

    /// The objects of a list within this one.
    func objects(_ field: String) throws(CatalogError) -> [ManifestReader]? {
        guard let items = try list(field) else { return nil }
        var readers: [ManifestReader] = []
        for (index, item) in items.enumerated() {
            guard case .object(let members) = item else {
                throw malformed("\(field)[\(index)]", expected: "an object", found: item.kind)
            }
            let place = place(of: "\(field)[\(index)]")
            readers.append(ManifestReader(members: members, place: place, entry: entry, manifest: manifest))
        }
        return readers
    }

    /// A list within this object.
    func list(_ field: String) throws(CatalogError) -> [JSONValue]? {
        guard let value = value(field) else { return nil }
        guard case .array(let items) = value else { throw malformed(field, expected: "a list", found: value.kind) }
        return items
    }
}

extension Date {
    /// Reads `2026-11-21T00:00:00Z`, with or without a fraction of the second, in any zone.
    init?(timestamp text: String) {
        guard text.utf8.count <= 40, text.contains("T") else { return nil }
        let styles = [
            Date.ISO8601FormatStyle(), Date.ISO8601FormatStyle(includingFractionalSeconds: true),
        ]
        for style in styles {
            // A text of the other style is no failure.
            if let date = try? style.parse(text) {
                self = date
                return
            }
        }
        return nil
    }

    /// The moment in seconds, UTC, such as `2026-11-21T00:00:00Z`.
    public var timestamp: String { formatted(.iso8601) }
}
