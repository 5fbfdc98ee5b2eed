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
    /// Collects what is asked for, where the body is an example.
    private let record: FieldRecord?

    init(_ members: JSONMembers, path: String = "", notes: LeftOut = LeftOut(), record: FieldRecord? = nil) {
        self.members = members
        self.path = path
        self.notes = notes
        self.record = record
        record?.enter(path)
    }

    /// Reads a body.
    package init(
        parsing body: [UInt8], notes: LeftOut = LeftOut(), record: FieldRecord? = nil
    ) throws(APIFailure) {
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
        record?.begin()
        self.init(members, notes: notes, record: record)
    }

    /// Notes a kind that the answer goes without.
    package func leaveOut(_ kind: String) { notes.add(kind) }

    /// The name of a field with its path.
    package func name(_ key: String) -> String { path + key }

    /// The value of a field; `nil` for `null`.
    /// - Parameter form: its form for the description, unless another reading of the field says it.
    package func value(_ key: String, _ form: @autoclosure () -> JSONForm? = nil) -> JSONValue? {
        value(key, as: form().map { .form($0) })
    }

    func value(_ key: String, as kind: @autoclosure () -> FieldRecord.Kind?) -> JSONValue? {
        record?.read(path, key, kind())
        return unrecorded(key)
    }

    /// The value of a field that is no part of the description.
    func unrecorded(_ key: String) -> JSONValue? {
        if path.isEmpty { notes.read(key) }
        guard let value = members[key], value != .null else { return nil }
        return value
    }

    /// Says in the description that the body is refused without a field.
    package func require(_ key: String) { record?.require(path, key) }

    /// The names of the fields that have a value.
    package var keys: [String] { members.keys.filter { members[$0] != .null } }

    /// The object as JSON.
    var json: JSONValue { .object(members) }

    package func string(_ key: String) throws(APIFailure) -> String? {
        guard let value = value(key, .text) else { return nil }
        guard let text = value.string else { throw .invalid(name(key), "a text") }
        return text
    }

    /// The text of a field that may have another form; `nil` for the others.
    package func text(_ key: String) -> String? { value(key, .text)?.string }

    /// The first text among several names of one field.
    package func firstString(_ keys: String...) throws(APIFailure) -> String? {
        for key in keys { if let text = try string(key) { return text } }
        return nil
    }

    package func requiredString(_ key: String, _ expectation: String = "a text") throws(APIFailure) -> String {
        require(key)
        guard let text = try string(key) else { throw .invalid(name(key), expectation) }
        return text
    }

    /// One of some texts.
    func word(_ key: String, of words: [String], _ expectation: String) throws(APIFailure) -> String? {
        guard let text = value(key, .word(of: words)) else { return nil }
        guard let word = text.string, words.contains(word) else { throw .invalid(name(key), expectation) }
        return word
    }

    func requiredWord(_ key: String, of words: [String], _ expectation: String) throws(APIFailure) -> String {
        require(key)
        guard let word = try word(key, of: words, expectation) else { throw .invalid(name(key), expectation) }
        return word
    }

    package func flag(_ key: String) throws(APIFailure) -> Bool? {
        guard let value = value(key, .flag) else { return nil }
        guard case .boolean(let flag) = value else { throw .invalid(name(key), "true or false") }
        return flag
    }

    /// A finite number.
    package func number(_ key: String, in range: ClosedRange<Double>? = nil) throws(APIFailure) -> Double? {
        guard let value = value(key, range.map { JSONForm.number(in: $0) } ?? JSONForm.number) else { return nil }
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
        guard let value = value(key, range.map { JSONForm.integer(in: $0) } ?? JSONForm.integer) else { return nil }
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
        guard let value = value(key, as: .object) else { return nil }
        return try object(value, name(key))
    }

    func object(_ value: JSONValue, _ name: String) throws(APIFailure) -> Fields {
        guard let members = value.members else { throw .invalid(name, "an object") }
        return Fields(members, path: name + ".", notes: notes, record: record)
    }

    /// The first object among several names of one field.
    func firstObject(_ keys: String...) throws(APIFailure) -> Fields? {
        for key in keys { if let object = try object(key) { return object } }
        return nil
    }
}
