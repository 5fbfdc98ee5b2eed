import Foundation
import HearthBase
import HearthInference
import HearthTestSupport
import Testing

@testable import HearthServer

/// The description of the dialects against what they do.
@Suite(.timeLimit(.minutes(5))) struct APIDescriptionTests {
    @Test func everyRouteIsDescribedOnce() throws {
        let described = try DescribedRoutes()
        let table = described.routes.table
        let operations = described.operations
        #expect(table.count > 45)
        let keys = operations.map { operation in
            "\(operation.method) " + operation.path.replacing(/\{[a-z]+\}/, with: "*")
        }
        #expect(Set(keys) == Set(table.keys) && keys.count == table.count)
        #expect(Set(operations.compactMap { $0.body["operationId"]?.string }).count == table.count)
        for operation in operations {
            #expect(operation.body["summary"]?.string?.isEmpty == false, "\(operation.path)")
            for reply in operation.replies.values {
                #expect(described.resolved(reply)["description"]?.string != nil, "\(operation.path)")
            }
            let isServed = operation.replies["200"] != nil
            #expect(isServed == (table[key(operation)]?.description.reply.isRefusal == false))
            guard isServed, operation.method == "POST" else { continue }
            #expect(operation.examples.first != nil && operation.input?["properties"] != nil, "\(operation.path)")
        }
    }

    private func key(_ operation: DescribedRoutes.Operation) -> String {
        "\(operation.method) " + operation.path.replacing(/\{[a-z]+\}/, with: "*")
    }

    /// The examples are answered, and meet the schema; so do the answers, which have no other members.
    @Test func examplesAreAnsweredAsDescribed() async throws {
        let described = try DescribedRoutes()
        for operation in described.operations {
            guard operation.replies["200"] != nil else {
                #expect(try await described.send(operation, nil).status == 404)
                continue
            }
            guard !operation.path.contains("{id}") else { continue }
            for example in operation.examples.isEmpty ? [nil] : operation.examples.map(Optional.some) {
                if let example {
                    let schema = try #require(operation.input)
                    let check = try #require(SchemaCheck(schema.line))
                    #expect(check.flaw(in: example.line) == nil, "\(operation.path) \(example.line)")
                }
                let reply = try await described.send(operation, example)
                #expect(reply.status == 200, "\(operation.path) \(String(decoding: reply.bytes, as: UTF8.self))")
                let flaw = described.flaw(operation, reply.status, reply.type, reply.bytes)
                #expect(flaw == nil, "\(operation.path) \(example?.line ?? "")")
            }
        }
    }

    /// The first example has what is required: without a field of it, a body is refused.
    @Test func whatIsRequiredIsRequired() async throws {
        let described = try DescribedRoutes()
        var count = 0
        for operation in described.operations where operation.replies["200"] != nil {
            let members = operation.examples.first?.members ?? [:]
            for name in (operation.input?["required"]?.items ?? []).compactMap(\.string) {
                #expect(members[name] != nil)
                let reply = try await described.send(operation, .object(members.filter { $0.key != name }))
                #expect(reply.status == 400, "\(operation.path) without \(name)")
                #expect(described.flaw(operation, reply.status, reply.type, reply.bytes) == nil)
                count += 1
            }
        }
        #expect(count > 30)
    }

    /// Values of another type, in the place of each value of each example, are answered or refused in the dialect's form.
    @Test func valuesOfOtherTypesAreAnsweredOrRefused() async throws {
        let described = try DescribedRoutes()
        let all: [JSONValue] = [.number("1e400"), ["x": [:]], true, -1, "x", [], [[]]]
        let others = all.prefix(TestExtent.isFull ? 7 : 2)
        var known: Set<[String]> = []
        for operation in described.operations where operation.replies["200"] != nil {
            // Paths with other names for one operation have one reader.
            let name = (operation.body["summary"]?.string ?? "") + (operation.body["tags"]?.line ?? "")
            for example in operation.examples {
                for place in places(of: example) where known.insert([name] + place).inserted {
                    for other in others {
                        let body = changed(example, place[...], other)
                        let reply = try await described.send(operation, body)
                        let isExpected = reply.status < 500
                        #expect(isExpected, "\(operation.path) \(place) \(other.line)")
                        let flaw = described.flaw(
                            operation, reply.status, reply.type, reply.bytes, isComplete: reply.status != 200)
                        #expect(flaw == nil, "\(operation.path) \(place) \(other.line)")
                    }
                }
            }
        }
    }

    /// The places of all values in a document.
    private func places(of value: JSONValue) -> [[String]] {
        var inner: [[String]] = []
        for (key, member) in value.members ?? [:] { inner += places(of: member).map { [key] + $0 } }
        for (index, item) in value.items.enumerated() { inner += places(of: item).map { ["\(index)"] + $0 } }
        return [[]] + inner
    }

    private func changed(_ value: JSONValue, _ place: ArraySlice<String>, _ other: JSONValue) -> JSONValue {
        guard let key = place.first else { return other }
        switch value {
        case .object(var members):
            members[key] = members[key].map { changed($0, place.dropFirst(), other) }
            return .object(members)
        case .array(var items):
            if let index = Int(key) { items[index] = changed(items[index], place.dropFirst(), other) }
            return .array(items)
        default: return value
        }
    }

    /// Callers that ask models read the description of everything; the same is beside the page's API.
    @Test func theServerGivesOneDescription() async throws {
        try await ResidentFixture.with { fixture in
            let reply = try fixture.get("/openapi.json")
            #expect(reply.status == 200 && reply.headers["content-type"] == "application/json")
            let document = try JSONValue(parsing: reply.body)
            let paths = try #require(document["paths"]?.members)
            for path in ["/v1/messages", "/api/chat", "/props", "/hearth/v1/state", "/hearth/v1/pull", "/health"] {
                #expect(paths[path] != nil, "\(path)")
            }
            let count = paths.values.compactMap { $0.members?.count }.reduce(0, +)
            let (server, native) = (fixture.server, fixture.native)
            let dialects = try #require(try native.home.description()?.paths.values.map(\.count).reduce(0, +))
            #expect(count == server.router.routes.count + native.service.routes.count + dialects)
            #expect(try fixture.get("/openapi.json", ["X-Forwarded-For: 192.0.2.1"]).status == 401)
            #expect(try fixture.get("/hearth/v1/openapi.json").status == 403)
            let (key, chat) = ("Authorization: Bearer \(fixture.key)", "Authorization: Bearer \(fixture.chatKey)")
            #expect(try fixture.get("/hearth/v1/openapi.json", [key]).body == reply.body)
            #expect(try fixture.get("/openapi.json", method: "POST", [chat, "Content-Length: 0"]).status == 405)
        }
    }

    /// The schema follows the reader.
    @Test func aRecordHasWhatTheReaderAsksFor() throws {
        let record = FieldRecord()
        for example in [
            #"{"list": [{"a": "x"}, {"a": "y", "b": 1}], "word": "one"}"#, #"{"word": "two", "list": "x"}"#,
        ] {
            let fields = try Fields(parsing: Array(example.utf8), record: record)
            _ = try fields.requiredWord("word", of: ["one", "two"], "one or two")
            _ = try fields.integer("count", in: 1...5)
            if fields.text("list") == nil {
                for item in try fields.objects("list", atMost: 9) ?? [] {
                    _ = try item.requiredString("a")
                    _ = try item.number("b")
                }
            }
        }
        #expect(
            record.schema == [
                "type": "object",
                "properties": [
                    "word": ["type": "string", "enum": ["one", "two"]],
                    "count": ["type": ["integer", "null"], "minimum": 1, "maximum": 5],
                    "list": [
                        "anyOf": [
                            ["type": "string"],
                            [
                                "type": "array",
                                "items": [
                                    "type": "object",
                                    "properties": ["a": ["type": "string"], "b": ["type": ["number", "null"]]],
                                    "required": ["a"],
                                ], "maxItems": 9,
                            ], ["type": "null"],
                        ]
                    ],
                ], "required": ["word"],
            ])
    }
}
