import Foundation
import HearthBase

/// Reads the fields of one object of a metadata file. Errors name the file and the field.
struct MetadataReader {
    let members: JSONMembers
    /// The object's position, such as `roles.timestamp`; empty for the signed part.
    let place: String
    let file: String

    init(_ value: JSONValue, place: String = "", file: String) throws(TrustError) {
        guard let members = value.members else {
            throw .invalid(file, "expected an object, found \(value.kind)", field: place.isEmpty ? nil : place)
        }
        self.members = members
        self.place = place
        self.file = file
    }

    func has(_ field: String) -> Bool { members[field] != nil }

    func failure(_ field: String, expected: String) -> TrustError {
        .invalid(
            file, "expected \(expected), found \(members[field]?.kind ?? "nothing")",
            field: place.isEmpty ? field : "\(place).\(field)")
    }

    /// The value of a field that `convert` accepts.
    func value<Value>(_ field: String, _ expected: String, _ convert: (JSONValue) -> Value?) throws(TrustError) -> Value
    {
        guard let value = members[field].flatMap(convert) else { throw failure(field, expected: expected) }
        return value
    }

    func text(_ field: String, limit: Int = 1024) throws(TrustError) -> String {
        try value(field, "a text of at most \(limit) bytes") {
            if case .string(let text) = $0, text.utf8.count <= limit { text } else { nil }
        }
    }

    func integer(_ field: String, in range: ClosedRange<UInt64>) throws(TrustError) -> UInt64 {
        try value(field, "a whole number from \(range.lowerBound) to \(range.upperBound)") {
            guard case .number(let digits) = $0, let number = UInt64(digits) else { return nil }
            return range.contains(number) ? number : nil
        }
    }

    func boolean(_ field: String) throws(TrustError) -> Bool {
        try value(field, "true or false") { if case .boolean(let flag) = $0 { flag } else { nil } }
    }

    func moment(_ field: String) throws(TrustError) -> Date {
        try value(field, "a time such as 2026-11-21T00:00:00Z") {
            if case .string(let text) = $0 { Date(timestamp: text) } else { nil }
        }
    }

    func object(_ field: String) throws(TrustError) -> MetadataReader {
        guard let value = members[field] else { throw failure(field, expected: "an object") }
        return try MetadataReader(value, place: place.isEmpty ? field : "\(place).\(field)", file: file)
    }

    func list(_ field: String, limit: Int) throws(TrustError) -> [JSONValue] {
        try value(field, "a list of at most \(limit) values") {
            if case .array(let items) = $0, items.count <= limit { items } else { nil }
        }
    }

    func texts(_ field: String, limit: Int) throws(TrustError) -> [String] {
        var texts: [String] = []
        for item in try list(field, limit: limit) {
            guard case .string(let text) = item, text.utf8.count <= 4096 else {
                throw failure(field, expected: "a list of texts")
            }
            texts.append(text)
        }
        return texts
    }

    /// The members as readers, in the order of their names.
    func objects(limit: Int) throws(TrustError) -> [(name: String, reader: MetadataReader)] {
        guard members.count <= limit else {
            throw .invalid(file, "more than \(limit) members", field: place.isEmpty ? nil : place)
        }
        var readers: [(name: String, reader: MetadataReader)] = []
        for name in members.keys.sorted() { readers.append((name, try object(name))) }
        return readers
    }
}
