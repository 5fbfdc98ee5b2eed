import Foundation
import HearthBase

/// The description of all that the server answers (OpenAPI 3.1), made from the tables of its routes.
enum OpenAPI {
    /// - Parameters:
    ///   - routes: the routes of the page's API.
    ///   - own: the routes of the process, with whole paths.
    ///   - dialects: the routes of the other servers' APIs.
    /// - Throws: ``SchemaMaker/Undescribed``.
    static func document(
        _ routes: [NativeRoute], own: [NativeRoute] = [], dialects: APIDescription? = nil, version: String
    ) throws -> JSONValue {
        let maker = SchemaMaker()
        var paths = dialects?.paths ?? [:]
        for (base, routes) in [(NativeRouter.base, routes), ("", own)] {
            for route in routes {
                paths[base + route.path, default: [:]][route.method.lowercased()] = try operation(route, maker)
            }
        }
        var components = maker.components
        components["Error"] = [
            "type": "object", "required": ["error"], "properties": ["error": try maker.schema(of: FailureBody.self)],
        ]
        components.merge(maker.components)
        components = JSONMembers(components.map { ($0.key, nullable($0.value)) })
        components.merge(dialects?.schemas ?? [:])
        return [
            "openapi": "3.1.0",
            "info": [
                "title": "Hearth", "version": .string(version),
                "description":
                    "The API of the page that `hearth serve` shows, and those of other servers that it answers for.",
            ],
            "paths": .object(JSONMembers(paths.mapValues { .object($0) })),
            "components": [
                "schemas": .object(components), "responses": .object(dialects?.responses ?? [:]),
                "securitySchemes": [
                    "session": ["type": "apiKey", "in": "cookie", "name": "hearth_session"],
                    "page": ["type": "apiKey", "in": "header", "name": .string(RequestGuard.pageField)],
                    "key": ["type": "http", "scheme": "bearer"],
                ],
            ],
            "security": [["session": [], "page": []], ["key": []]],
        ]
    }

    /// The schema of a structure whose members that may be absent may be `null` as well.
    private static func nullable(_ structure: JSONValue) -> JSONValue {
        guard let properties = structure["properties"]?.members else { return structure }
        let required = Set((structure["required"]?.items ?? []).compactMap(\.string))
        var structure = structure
        structure["properties"] = .object(
            JSONMembers(
                properties.map { ($0.key, required.contains($0.key) ? $0.value : JSONForm($0.value).orNull.schema) }))
        return structure
    }

    private static func operation(_ route: NativeRoute, _ maker: SchemaMaker) throws -> JSONValue {
        var operation: JSONValue = [
            "summary": .string(route.summary), "tags": [.string(route.chapter)],
            "operationId": .string(identifier(route)),
        ]
        let parameters = parameters(route)
        if !parameters.isEmpty { operation["parameters"] = .array(parameters) }
        if let input = route.input {
            var content: JSONValue = ["schema": try input.describe(maker)]
            content["example"] = try input.example.map { try JSONValue(parsing: $0) }
            operation["requestBody"] = ["content": .object(JSONMembers(input.mediaTypes.map { ($0, content) }))]
        }
        let other: JSONValue = route.mediaType == "application/json" ? [:] : ["type": "string"]
        let schema = try route.output?(maker) ?? other
        let failure: JSONValue = [
            "description": "Refused or failed.",
            "content": ["application/json": ["schema": ["$ref": "#/components/schemas/Error"]]],
        ]
        let done: JSONValue = [
            "description": "Done.",
            "content": .object(JSONMembers([(route.mediaType, ["schema": schema] as JSONValue)])),
        ]
        operation["responses"] = .object(
            JSONMembers(([route.status] + route.otherStatuses).map { ("\($0)", done) } + [("default", failure)]))
        return operation
    }

    private static func parameters(_ route: NativeRoute) -> [JSONValue] {
        let inPath = route.path.split(separator: "/").filter { $0.hasPrefix("{") }.map { part -> JSONValue in
            [
                "name": .string(String(part.dropFirst().dropLast())), "in": "path", "required": true,
                "schema": ["type": "string"],
            ]
        }
        return inPath
            + route.query.map {
                [
                    "name": .string($0.name), "in": "query", "description": .string($0.meaning),
                    "schema": ["type": "string"],
                ]
            }
    }

    /// A name of the route in code: `postModelsDownload`.
    private static func identifier(_ route: NativeRoute) -> String {
        let words = route.path.split { "/-.{}".contains($0) }.map { $0.prefix(1).uppercased() + $0.dropFirst() }
        return route.method.lowercased() + words.joined()
    }
}
