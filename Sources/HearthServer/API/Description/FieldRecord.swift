import HearthBase

/// What the reader of a request asks of its fields. The schema of the body is made from it, so that the description and the
/// reader cannot differ.
///
/// ```swift
/// let record = FieldRecord()
/// for example in examples { _ = try ChatRequest.decode(try Fields(parsing: example, record: record)) }
/// let schema = record.schema
/// ```
///
/// A reader asks for most fields of any body; objects inside the body, and fields that depend on others, have to be in an
/// example.
package final class FieldRecord: Sendable {
    /// A form in which a field is read.
    enum Kind: Sendable, Hashable {
        case form(JSONForm)
        /// An object whose fields are read too.
        case object
        /// A list of such objects, of at most so many.
        case objects(Int)
    }

    /// The objects at one place of the schema, such as `messages[].`.
    private struct Place {
        var keys: [String] = []
        var kinds: [String: [Kind]] = [:]
        /// The places of the objects in the examples.
        var objects: Set<String> = []
        /// The objects that the reader refuses without a key.
        var required: [String: Set<String>] = [:]
    }

    private struct State {
        var example = 0
        var places: [String: Place] = [:]
    }

    private let state = Locked(State())

    package init() {}

    /// Begins another example.
    func begin() {
        state.withLock { $0.example += 1 }
        enter("")
    }

    /// Notes an object of the example.
    /// - Parameter path: its place, such as `messages[2].`.
    func enter(_ path: String) {
        state.withLock {
            _ = $0.places[Self.place(path), default: Place()].objects.insert("\($0.example) \(path)")
        }
    }

    /// Notes that a field is read.
    /// - Parameter kind: its form; `nil` if another reading says it.
    func read(_ path: String, _ key: String, _ kind: Kind?) {
        state.withLock { state in
            var place = state.places[Self.place(path)] ?? Place()
            if place.kinds[key] == nil { place.keys.append(key) }
            var kinds = place.kinds[key] ?? []
            if let kind, !kinds.contains(kind) { kinds.append(kind) }
            place.kinds[key] = kinds
            state.places[Self.place(path)] = place
        }
    }

    /// Notes that the reader refuses an object without a field.
    func require(_ path: String, _ key: String) {
        state.withLock {
            _ = $0.places[Self.place(path), default: Place()].required[key, default: []].insert(
                "\($0.example) \(path)")
        }
    }

    /// A path without the numbers of items.
    private static func place(_ path: String) -> String {
        var place = ""
        var isNumber = false
        for character in path {
            if character == "]" { isNumber = false }
            if !isNumber { place.append(character) }
            if character == "[" { isNumber = true }
        }
        return place
    }

    // MARK: The schema

    /// The schema of the body.
    package var schema: JSONValue {
        let places = state.withLock { $0.places }
        return Self.form("", places).schema
    }

    private static func form(_ name: String, _ places: [String: Place]) -> JSONForm {
        guard let place = places[name], !place.keys.isEmpty else { return .object }
        let required = place.keys.filter { place.required[$0] == place.objects }
        let members = place.keys.map { key -> (String, JSONForm) in
            let form = form(of: place.kinds[key] ?? [], name + key, places)
            return (key, required.contains(key) ? form : form.orNull)
        }
        return .members(members, required: required)
    }

    private static func form(of kinds: [Kind], _ name: String, _ places: [String: Place]) -> JSONForm {
        .one(
            of: kinds.map { kind in
                switch kind {
                case .form(let form): form
                case .object: form(name + ".", places)
                case .objects(let limit): .list(form(name + "[].", places), atMost: limit)
                }
            })
    }
}
