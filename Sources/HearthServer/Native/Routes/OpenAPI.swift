import Foundation
import HearthBase

/// The description of the native API (OpenAPI 3.1), made from the table of its routes.
enum OpenAPI {
    /// - Throws: ``SchemaMaker/Undescribed``.
    static func document(_ routes: [NativeRoute], version: String) throws -> JSONValue {
        let maker = SchemaMaker()
        var paths: [String: [String: JSONValue]] = [:]
        for route in routes {
            paths[NativeRouter.base + route.path, default: [:]][route.method.lowercased()] = try operation(
                route, maker)
        }
        var components = maker.components
        components["Error"] = error
        return .object([
            "openapi": .string("3.1.0"),
            "info": .object([
                "title": .string("Hearth"), "version": .string(version),
                "description": .string("The API of the page that `hearth serve` shows."),
            ]),
            "paths": .object(paths.mapValues { .object($0) }),
            "components": .object([
                "schemas": .object(components),
                "securitySchemes": .object([
                    "session": .object([
                        "type": .string("apiKey"), "in": .string("cookie"), "name": .string("hearth_session"),
                    ]),
                    "key": .object(["type": .string("http"), "scheme": .string("bearer")]),
                ]),
            ]),
            "security": .array([.object(["session": .array([])]), .object(["key": .array([])])]),
        ])
    }

    private static func operation(_ route: NativeRoute, _ maker: SchemaMaker) throws -> JSONValue {
        var operation: [String: JSONValue] = [
            "summary": .string(route.summary), "tags": .array([.string(route.chapter)]),
            "operationId": .string(identifier(route)),
        ]
        let parameters = parameters(route)
        if !parameters.isEmpty { operation["parameters"] = .array(parameters) }
        if let input = route.input {
            let schema = try input.describe(maker)
            var content: [String: JSONValue] = ["schema": schema]
            if let example = input.example { content["example"] = try JSONValue(parsing: Data(example.utf8)) }
            operation["requestBody"] = .object([
                "content": .object(
                    Dictionary(
                        input.mediaTypes.map { ($0, .object(content)) }, uniquingKeysWith: { first, _ in first }))
            ])
        }
        let schema = try route.output?(maker) ?? .object(["type": .string("string")])
        let failure: JSONValue = .object([
            "description": .string("Refused or failed."),
            "content": .object([
                "application/json": .object(["schema": .object(["$ref": .string("#/components/schemas/Error")])])
            ]),
        ])
        operation["responses"] = .object([
            "\(route.status)": .object([
                "description": .string("Done."),
                "content": .object([route.mediaType: .object(["schema": schema])]),
            ]),
            "default": failure,
        ])
        return .object(operation)
    }

    private static func parameters(_ route: NativeRoute) -> [JSONValue] {
        let text: JSONValue = .object(["type": .string("string")])
        let inPath = route.path.split(separator: "/").filter { $0.hasPrefix("{") }.map { part in
            JSONValue.object([
                "name": .string(String(part.dropFirst().dropLast())), "in": .string("path"),
                "required": .boolean(true), "schema": text,
            ])
        }
        return inPath
            + route.query.map {
                .object([
                    "name": .string($0.name), "in": .string("query"), "description": .string($0.meaning),
                    "schema": text,
                ])
            }
    }

    /// A name of the route in code: `postModelsDownload`.
    private static func identifier(_ route: NativeRoute) -> String {
        let words = route.path.split { "/-.{}".contains($0) }.map { $0.prefix(1).uppercased() + $0.dropFirst() }
        return route.method.lowercased() + words.joined()
    }

    private static let error: JSONValue = .object([
        "type": .string("object"), "required": .array([.string("error")]),
        "properties": .object([
            "error": .object([
                "type": .string("object"), "required": .array([.string("code"), .string("message")]),
                "properties": .object(
                    ["code", "message", "remedy", "field"].reduce(into: [:]) {
                        $0[$1] = .object(["type": .string("string")])
                    }),
            ])
        ]),
    ])
}
