import Foundation
import HearthBase
import Testing

@testable import HearthServer

/// The description of the native API, and the bodies that it describes.
@Suite(.timeLimit(.minutes(5))) struct DescriptionTests {
    @Test func everyRouteIsDescribedOnceAndItsExampleIsRead() async throws {
        try await NativeFixture.with { fixture in
            let routes = fixture.service.routes
            let document = try OpenAPI.document(routes, version: "1")
            #expect(document["openapi"]?.text == "3.1.0")
            let paths = try #require(document["paths"]?.members)
            #expect(routes.count > 60)
            #expect(Set(routes.map { "\($0.method) \($0.path)" }).count == routes.count)
            var identifiers: Set<String> = []
            for route in routes {
                let operation = try #require(
                    paths["/hearth/v1" + route.path]?[route.method.lowercased()], "\(route.method) \(route.path)")
                let (isNew, _) = identifiers.insert(operation["operationId"]?.text ?? "")
                #expect(isNew)
                #expect(operation["summary"]?.text?.isEmpty == false)
                #expect(operation["responses"]?["\(route.status)"] != nil)
                let named = route.path.split(separator: "/").filter { $0.hasPrefix("{") }.count
                let parameters = operation["parameters"]?.items ?? []
                #expect(parameters.count == named + route.query.count)
                guard let input = route.input, let example = input.example else { continue }
                #expect(throws: Never.self, "\(route.path)") { try input.check(Array(example.utf8)) }
            }
            #expect(paths.values.compactMap { $0.members?.count }.reduce(0, +) == routes.count)
        }
    }

    /// Every reference leads to a schema.
    @Test func referencesLeadToSchemas() async throws {
        try await NativeFixture.with { fixture in
            let document = try OpenAPI.document(fixture.service.routes, version: "1")
            // What may be absent may be null.
            let row = document[path: "components/schemas/Row/properties"]
            #expect(row?["keptBytes"]?["type"] == ["integer", "null"] && row?["id"]?["type"] == "string")
            let schemas = Set(document["components"]?["schemas"]?.members?.keys.map { $0 } ?? [])
            #expect(schemas.isSuperset(of: ["Row", "Message", "ActionCard", "Error", "State", "CalendarEvent"]))
            var found: [String] = []
            func collect(_ value: JSONValue) {
                switch value {
                case .object(let members):
                    if case .string(let reference)? = members["$ref"] { found.append(reference) }
                    members.values.forEach(collect)
                case .array(let items): items.forEach(collect)
                default: break
                }
            }
            collect(document)
            #expect(found.count > 50)
            for reference in found {
                #expect(
                    schemas.contains(String(reference.dropFirst("#/components/schemas/".count))), "\(reference)")
            }
        }
    }

    private enum Word: String, SchemaWord { case one, two }

    private struct Inner: Codable { var flag: Bool }

    private struct Sample: Codable {
        var text: String
        var count: Int?
        var word: Word
        var inner: Inner?
        var list: [Inner]
        var map: [String: Double]
        var date: Date
    }

    @Test func aSchemaIsThatOfTheType() throws {
        let maker = SchemaMaker()
        #expect(try maker.schema(of: Sample.self)["$ref"]?.text == "#/components/schemas/Sample")
        let schema = try #require(maker.components["Sample"])
        #expect(schema["required"]?.items.map(\.text) == ["date", "list", "map", "text", "word"])
        let properties = try #require(schema["properties"])
        #expect(properties["count"]?["type"]?.text == "integer")
        #expect(properties["word"]?["enum"]?.items.map(\.text) == ["one", "two"])
        #expect(properties["list"]?["items"]?["$ref"]?.text == "#/components/schemas/Inner")
        #expect(properties["map"]?["additionalProperties"]?["type"]?.text == "number")
        #expect(properties["date"]?["format"]?.text == "date-time")
    }
}
