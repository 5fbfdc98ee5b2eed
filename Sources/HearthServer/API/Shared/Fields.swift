import Foundation
import HearthBase
import HearthInference

/// Reads the fields of a request's JSON object. `null` counts as absent.
package struct Fields {
    /// The most bytes of a body.
    package static let maximumBytes = 64 << 20

    private let members: JSONMembers
    /// The path of the object, such as `messages[2].`.
    package let path: String
    /// Collects the parts of the body that are left out.
    private let notes: LeftOut

    init(_ members: JSONMembers, path: String = "", notes: LeftOut = LeftOut()) {
        self.members = members
        self.path = path
        self.notes = notes
    }

    /// Reads a body.
    package init(parsing body: [UInt8], notes: LeftOut = LeftOut()) throws(APIFailure) {
        guard body.count <= Self.maximumBytes else {
            throw APIFailure(.tooLarge, "the body has more than \(Self.maximumBytes) bytes")
        }
        let document: JSONValue
        do {
            document = try JSONValue(parsing: body)
        } catch {
            throw APIFailure(.invalid, "the body cannot be read as JSON: \(error)")
        }
        guard let members = document.members else { throw APIFailure(.invalid, "the body must be a JSON object") }
        notes.begin(members)
        self.init(members, notes: notes)
    }

    /// Notes a kind that the answer goes without.
    package func leaveOut(_ kind: String) { notes.add(kind) }

    /// The name of a field with its path.
    package func name(_ key: String) -> String { path + key }

    /// The value of a field; `nil` for `null`.
    package func value(_ key: String) -> JSONValue? {
        if path.isEmpty { notes.read(key) }
        guard let value = members[key], value != .null else { return nil }
        return value
    }

    /// The names of the fields that have a value.
    package var keys: [String] { members.keys.filter { members[$0] != .null } }

    /// The object as JSON.
    var json: JSONValue { .object(members) }

    package func string(_ key: String) throws(APIFailure) -> String? {
        guard let value = value(key) else { return nil }
        guard let text = value.string else { throw .invalid(name(key), "a text") }
        return text
    }

    /// The first text among several names of one field.
    package func firstString(_ keys: String...) throws(APIFailure) -> String? {
        for key in keys { if let text = try string(key) { return text } }
        return nil
    }

    package func requiredString(_ key: String) throws(APIFailure) -> String {
        guard let text = try string(key) else { throw .invalid(name(key), "a text") }
        return text
    }

    package func flag(_ key: String) throws(APIFailure) -> Bool? {
        guard let value = value(key) else { return nil }
        guard case .boolean(let flag) = value else { throw .invalid(name(key), "true or false") }
        return flag
    }

    /// A finite number.
    package func number(_ key: String, in range: ClosedRange<Double>? = nil) throws(APIFailure) -> Double? {
        guard let value = value(key) else { return nil }
        let words = range.map { "a number from \(Self.shown($0.lowerBound)) to \(Self.shown($0.upperBound))" }
        guard case .number(let digits) = value, let number = Double(digits), number.isFinite,
            range?.contains(number) ?? true
        else { throw .invalid(name(key), words ?? "a number") }
        return number
    }

    package func float(_ key: String, in range: ClosedRange<Double>? = nil) throws(APIFailure) -> Float? {
        try number(key, in: range).map { Float($0) }
    }

    /// A whole number; `3.0` is one.
    package func integer(_ key: String, in range: ClosedRange<Int>? = nil) throws(APIFailure) -> Int? {
        guard let value = value(key) else { return nil }
        guard let number = Self.integer(value), range?.contains(number) ?? true else {
            let words = range.map { "a whole number from \($0.lowerBound) to \($0.upperBound)" }
            throw .invalid(name(key), words ?? "a whole number")
        }
        return number
    }

    static func integer(_ value: JSONValue) -> Int? {
        guard case .number(let digits) = value else { return nil }
        return Int(digits) ?? Double(digits).flatMap { Int(exactly: $0) }
    }

    private static func shown(_ value: Double) -> String {
        value == value.rounded() && abs(value) < 1e15 ? String(Int(value)) : String(value)
    }

    package func object(_ key: String) throws(APIFailure) -> Fields? {
        guard let value = value(key) else { return nil }
        return try object(value, name(key))
    }

    private func object(_ value: JSONValue, _ name: String) throws(APIFailure) -> Fields {
        guard let members = value.members else { throw .invalid(name, "an object") }
        return Fields(members, path: name + ".", notes: notes)
    }

    /// The first object among several names of one field.
    func firstObject(_ keys: String...) throws(APIFailure) -> Fields? {
        for key in keys { if let object = try object(key) { return object } }
        return nil
    }

    package func items(_ key: String) throws(APIFailure) -> [JSONValue]? {
        guard let value = value(key) else { return nil }
        guard let items = value.items else { throw .invalid(name(key), "a list") }
        return items
    }

    /// The objects of a list.
    package func objects(_ key: String, atMost limit: Int = 100_000) throws(APIFailure) -> [Fields]? {
        guard let items = try items(key) else { return nil }
        guard items.count <= limit else { throw .invalid(name(key), "a list of at most \(limit) objects") }
        var objects: [Fields] = []
        for (index, item) in items.enumerated() {
            objects.append(try object(item, "\(name(key))[\(index)]"))
        }
        return objects
    }

    /// A list of texts; one text counts as a list of one.
    package func strings(_ key: String, atMost limit: Int) throws(APIFailure) -> [String]? {
        guard let value = value(key) else { return nil }
        if let text = value.string { return [text] }
        let texts = value.items?.compactMap(\.string)
        guard let texts, texts.count == value.items?.count, texts.count <= limit else {
            throw .invalid(name(key), "a text or a list of at most \(limit) texts")
        }
        return texts
    }

    /// Refuses fields that are known and not served, if they have a value other than the neutral ones.
    package func refuse(_ names: [String: [JSONValue]]) throws(APIFailure) {
        for (key, neutral) in names.sorted(by: { $0.key < $1.key }) {
            guard let value = value(key) else { continue }
            if neutral.contains(value) || Self.equals(value, neutral) { continue }
            if let items = value.items, items.isEmpty { continue }
            if let members = value.members, members.isEmpty { continue }
            throw .notServed(name(key))
        }
    }

    /// Whether a number equals one of the neutral numbers in another spelling, such as `1.0` and `1`.
    private static func equals(_ value: JSONValue, _ neutral: [JSONValue]) -> Bool {
        guard case .number(let digits) = value, let number = Double(digits) else { return false }
        return neutral.contains { if case .number(let other) = $0 { Double(other) == number } else { false } }
    }
}
