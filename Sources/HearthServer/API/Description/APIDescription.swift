import Foundation
import HearthBase
import HearthHTTP

/// The description of the dialects in OpenAPI 3.1, made from the table of their routes.
///
/// The body of a request is described by what its reader asks of examples: see ``FieldRecord``.
package struct APIDescription: Sendable {
    /// The operations by path and method.
    package private(set) var paths: [String: JSONMembers] = [:]
    /// The schemas that the operations refer to.
    package let schemas: JSONMembers = [
        "OpenAIError": OpenAIForms.failure.schema, "AnthropicError": MessagesForms.failure.schema,
        "OllamaError": OllamaForms.failure.schema,
    ]
    /// The replies to refused requests.
    package private(set) var responses: JSONMembers = [:]

    /// - Throws: ``APIFailure`` for an example that is refused.
    package init(_ routes: APIRoutes) throws {
        for (key, route) in routes.table.sorted(by: { $0.key < $1.key }) {
            let parts = key.split(separator: " ", maxSplits: 1).map(String.init)
            let name = route.description.name.map { "{\($0)}" } ?? "*"
            let path = parts[1].replacing("*", with: name)
            paths[path, default: [:]][parts[0].lowercased()] = try Self.operation(
                parts[0], path, route, routes.service)
        }
        for dialect in APIRoutes.Dialect.allCases {
            responses[dialect.title + "Failure"] = Self.failure([dialect.title + "Error"])
            responses[dialect.title + "Refusal"] = Self.failure([dialect.title + "Error", "Error"], isEarly: true)
        }
    }

    private static func operation(
        _ method: String, _ path: String, _ route: APIRoutes.Route, _ service: APIService
    ) throws -> JSONValue {
        let about = route.description
        let words = path.split { "/-_.{}".contains($0) }.map { $0.prefix(1).uppercased() + $0.dropFirst() }
        var operation: JSONValue = [
            "summary": .string(about.summary), "tags": [.string(route.dialect.title)],
            "operationId": .string(route.dialect.title + method.capitalized + words.joined()),
        ]
        var parameters = about.query.map { parameter($0.name, "query", $0.meaning) }
        if let name = about.name { parameters.append(parameter(name, "path", nil)) }
        if !parameters.isEmpty { operation["parameters"] = .array(parameters) }
        operation["requestBody"] = try about.input.map { try body($0, service) }
        var replies: JSONMembers = about.reply.isRefusal ? [:] : ["200": done(about.reply)]
        for (status, name) in failures(route) {
            replies["\(status)"] = ["$ref": .string("#/components/responses/" + name)]
        }
        operation["responses"] = .object(replies)
        // Programs on this machine ask models without a key.
        operation["security"] =
            route.scope == .chat
            ? [["session": [], "page": []], ["key": []], [:]] : [["session": [], "page": []], ["key": []]]
        return operation
    }

    private static func parameter(_ name: String, _ place: String, _ meaning: String?) -> JSONValue {
        var parameter: JSONValue = ["name": .string(name), "in": .string(place), "schema": ["type": "string"]]
        if place == "path" { parameter["required"] = true }
        parameter["description"] = meaning.map { .string($0) }
        return parameter
    }

    private static func body(_ input: RouteDescription.Input, _ service: APIService) throws -> JSONValue {
        let record = FieldRecord()
        var examples: JSONMembers = [:]
        for (index, example) in input.examples.enumerated() {
            try input.read(try Fields(parsing: Array(example.utf8), record: record), service)
            examples["\(index + 1)"] = ["value": try JSONValue(parsing: example)]
        }
        return [
            "required": true,
            "content": ["application/json": ["schema": record.schema, "examples": .object(examples)]],
        ]
    }

    private static func done(_ reply: RouteDescription.Reply) -> JSONValue {
        var done: JSONValue = [
            "description": "Done.",
            "headers": [
                LeftOut.header: [
                    "description": "The kinds of what the answer goes without.", "schema": ["type": "string"],
                ]
            ],
        ]
        guard let form = reply.form else { return done }
        var content: JSONMembers = ["application/json": ["schema": form.schema]]
        // The schema of a stream would be that of one event.
        if let stream = reply.stream { content[stream] = [:] }
        done["content"] = .object(content)
        return done
    }

    // MARK: Failures

    /// The statuses of a route that does not succeed, with the names of their replies.
    private static func failures(_ route: APIRoutes.Route) -> [(Int, String)] {
        let title = route.dialect.title
        let own = [404, 405, 409, 500, 502, 504].map { ($0, title + "Failure") }
        // The server refuses a request before the dialect reads it, too.
        let early = [400, 401, 403, 413, 421, 429, 503].map { ($0, title + "Refusal") }
        return (own + early).sorted { $0.0 < $1.0 }
    }

    /// - Parameter isEarly: whether the reply may come from the listener, which writes plain text.
    private static func failure(_ schemas: [String], isEarly: Bool = false) -> JSONValue {
        let forms = schemas.map { JSONForm(["$ref": .string("#/components/schemas/" + $0)]) }
        var content: JSONMembers = ["application/json": ["schema": JSONForm.one(of: forms).schema]]
        if isEarly { content["text/plain"] = ["schema": ["type": "string"]] }
        return ["description": "Refused or failed.", "content": .object(content)]
    }
}

extension APIRoutes.Dialect {
    fileprivate var title: String {
        switch self {
        case .openAI: "OpenAI"
        case .anthropic: "Anthropic"
        case .ollama: "Ollama"
        }
    }
}
