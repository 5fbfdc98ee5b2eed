import Foundation
import HearthBase
import HearthHTTP

/// A request of the native API with the values of its path.
struct NativeCall: Sendable {
    let request: ServerRequest
    /// The values of `{…}` in the path, by name.
    let path: [String: String]

    /// A value of the path.
    func value(_ name: String) -> String { path[name] ?? "" }

    /// A value of the query.
    func query(_ name: String) -> String? {
        request.target.value(name).flatMap { $0.isEmpty ? nil : $0 }
    }

    /// A whole number of the query.
    /// - Throws: ``NativeFailure`` with `bad-request`.
    func number(_ name: String, _ range: ClosedRange<Int>, default fallback: Int) throws -> Int {
        guard let text = query(name) else { return fallback }
        guard let number = Int(text), range.contains(number) else {
            throw NativeFailure.bad(name, "a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    /// Whether a value of the query is `true`.
    func flag(_ name: String) throws -> Bool {
        guard let text = query(name) else { return false }
        guard let flag = Bool(text) else { throw NativeFailure.bad(name, "true or false") }
        return flag
    }
}

/// A parameter of a query, and what it means.
typealias NativeQuery = (name: String, meaning: String)

/// A body without members.
struct EmptyBody: Codable, Sendable, Hashable {}

/// A route of the native API: its address, its description and its work. The description is derived from the types of its
/// bodies.
struct NativeRoute: Sendable {
    /// The body that a route takes.
    struct Input: Sendable {
        /// An example of a body, JSON; `nil` for bytes of another kind.
        let example: String?
        let mediaTypes: [String]
        let describe: @Sendable (SchemaMaker) throws -> JSONValue
        /// Reads a body.
        let check: @Sendable ([UInt8]) throws -> Void
    }

    let method: String
    /// The address under the base of its router, such as `/models/{id}/download` under `/hearth/v1`.
    let path: String
    let summary: String
    let status: Int
    /// Further statuses with the same body.
    var otherStatuses: [Int] = []
    let query: [NativeQuery]
    let input: Input?
    /// The media type of the reply.
    let mediaType: String
    /// Describes the reply; `nil` for one that is not JSON.
    let output: (@Sendable (SchemaMaker) throws -> JSONValue)?
    let answer: @Sendable (NativeCall) async throws -> ServerReply

    /// The chapter of the description: the first part of the address.
    var chapter: String { String(path.split(separator: "/").first ?? "") }

    /// The most bytes of a JSON body.
    static let bodyLimit = 1 << 20

    // MARK: Kinds

    /// A route that takes no body.
    static func plain<Output: Codable & Sendable>(
        _ method: String, _ path: String, _ summary: String, status: Int = 200, query: [NativeQuery] = [],
        _ work: @escaping @Sendable (NativeCall) async throws -> Output
    ) -> NativeRoute {
        NativeRoute(
            method: method, path: path, summary: summary, status: status, query: query, input: nil,
            mediaType: "application/json", output: { try $0.schema(of: Output.self) },
            answer: { call in
                if method != "GET" { try requireJSON(call.request) }
                return try json(try await work(call), status: status)
            })
    }

    /// A route that takes JSON.
    /// - Parameter example: a body, which the description shows and a test reads.
    static func json<Input: Decodable & Sendable, Output: Codable & Sendable>(
        _ method: String, _ path: String, _ summary: String, status: Int = 200, example: String,
        _ work: @escaping @Sendable (NativeCall, Input) async throws -> Output
    ) -> NativeRoute {
        let reader = NativeReader<Input>()
        return NativeRoute(
            method: method, path: path, summary: summary, status: status, query: [],
            input: NativeRoute.Input(
                example: example, mediaTypes: ["application/json"],
                describe: { try $0.schema(of: Input.self) }, check: { _ = try reader.value($0) }),
            mediaType: "application/json", output: { try $0.schema(of: Output.self) },
            answer: { call in
                try requireJSON(call.request)
                let value = try reader.value(try await call.request.body.collect(limit: bodyLimit))
                return try json(try await work(call, value), status: status)
            })
    }

    /// A route with bodies of other kinds.
    static func raw(
        _ method: String, _ path: String, _ summary: String, query: [NativeQuery] = [], input: Input? = nil,
        mediaType: String, status: Int = 200, otherStatuses: [Int] = [],
        output: (@Sendable (SchemaMaker) throws -> JSONValue)? = nil,
        _ work: @escaping @Sendable (NativeCall) async throws -> ServerReply
    ) -> NativeRoute {
        NativeRoute(
            method: method, path: path, summary: summary, status: status, otherStatuses: otherStatuses, query: query,
            input: input, mediaType: mediaType, output: output, answer: work)
    }

    /// A JSON reply.
    static func json(_ value: some Encodable, status: Int = 200) throws -> ServerReply {
        .bytes([UInt8](try JSON.data(value, dates: .milliseconds)), "application/json", status: status)
    }

    /// Refuses a body of another media type: a form of another site cannot send JSON. A request without a body needs none.
    static func requireJSON(_ request: ServerRequest) throws(NativeFailure) {
        let isJSON =
            request.headers["Content-Type"].map { $0.prefix { $0 != ";" }.trimmed.lowercased() == "application/json" }
            ?? (request.body.declaredLength == 0)
        guard isJSON else { throw NativeFailure(415, "media-type", "the body must be application/json") }
    }
}

/// A body that takes its members as they are.
protocol NativeDocument: Decodable, Sendable {
    init(_ members: JSONMembers)
}

/// Reads JSON bodies of one type, and refuses members that the type does not have.
private struct NativeReader<Value: Decodable & Sendable>: Sendable {
    private let schema: JSONValue
    private let components: JSONMembers

    init() {
        let maker = SchemaMaker()
        // A type that cannot be described is found by the test of the description.
        schema = (try? maker.schema(of: Value.self)) ?? .null
        components = maker.components
    }

    /// - Throws: ``NativeFailure``.
    func value(_ bytes: [UInt8]) throws -> Value {
        let data = bytes.isEmpty ? Data("{}".utf8) : Data(bytes)
        let document: JSONValue
        do {
            document = try JSONValue(parsing: data)
        } catch {
            throw NativeFailure(400, "bad-request", "the body is not JSON")
        }
        guard let members = document.members else { throw NativeFailure.bad("body", "an object") }
        if let name = Self.unknownField(in: document, schema, components) {
            throw NativeFailure(
                400, "unknown-field", "there is no field `\(name.prefix(200))`", field: String(name.prefix(200)))
        }
        if let type = Value.self as? any NativeDocument.Type, let value = type.init(members) as? Value { return value }
        do {
            return try JSON.value(Value.self, data)
        } catch let error as DecodingError {
            // A decoder does not say where such a number is.
            if case .dataCorrupted(let context) = error, context.codingPath.isEmpty,
                let name = Self.unusableNumber(in: document, schema, components)
            {
                throw NativeFailure.bad(name.replacingOccurrences(of: ".[", with: "["), "a whole number")
            }
            throw NativeFailure(error)
        }
    }

    /// The path of the first member of a document that a schema does not have; `nil` for none.
    private static func unknownField(in value: JSONValue, _ schema: JSONValue, _ components: JSONMembers) -> String? {
        let schema = members(of: schema, components)
        switch value {
        case .object(let members):
            guard let properties = schema["properties"]?.members else { return nil }
            for (name, member) in members.sorted(by: { $0.key < $1.key }) {
                guard let known = properties[name] else { return name }
                if let found = unknownField(in: member, known, components) { return "\(name).\(found)" }
            }
        case .array(let items):
            guard let known = schema["items"] else { return nil }
            for (index, item) in items.enumerated() {
                if let found = unknownField(in: item, known, components) { return "[\(index)].\(found)" }
            }
        default: break
        }
        return nil
    }

    /// The path of the first number with a fraction, or beyond 64 bits, where a schema has a whole number; `nil` for none.
    private static func unusableNumber(in value: JSONValue, _ schema: JSONValue, _ components: JSONMembers) -> String? {
        let schema = members(of: schema, components)
        switch value {
        case .object(let members):
            for (name, member) in members.sorted(by: { $0.key < $1.key }) {
                guard let known = schema["properties"]?.members?[name] else { continue }
                if let found = unusableNumber(in: member, known, components) {
                    return found.isEmpty ? name : "\(name).\(found)"
                }
            }
        case .array(let items):
            guard let known = schema["items"] else { return nil }
            for (index, item) in items.enumerated() {
                if let found = unusableNumber(in: item, known, components) {
                    return found.isEmpty ? "[\(index)]" : "[\(index)].\(found)"
                }
            }
        case .number(let digits):
            let isWhole = Int(digits) != nil || Double(digits).flatMap { Int(exactly: $0) } != nil
            return schema["type"] == .string("integer") && !isWhole ? "" : nil
        default: break
        }
        return nil
    }

    /// The members of a schema, or of the one that it refers to.
    private static func members(of schema: JSONValue, _ components: JSONMembers) -> JSONMembers {
        let members = schema.members ?? [:]
        guard case .string(let reference)? = members["$ref"], let name = reference.split(separator: "/").last else {
            return members
        }
        return components[String(name)]?.members ?? [:]
    }
}
