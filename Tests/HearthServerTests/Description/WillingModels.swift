import Foundation
import HearthBase
import HearthHTTP
import HearthInference

@testable import HearthServer

/// An engine that can do everything, and answers with all that a request asks for: thinking, text, tokens and a call of the
/// first tool.
struct WillingEngine: InferenceEngine, TokenReader {
    let capabilities = EngineCapabilities(rawValue: (1 << 13) - 1).subtracting(.ranking)

    var modelInformation: ModelInformation {
        var information = ModelInformation(description: "willing", contextLength: 4096)
        information.embeddingLength = 3
        return information
    }

    func generate(
        _ messages: [ChatMessage], options: GenerationOptions, onEvent: @escaping @Sendable (GenerationEvent) -> Void
    ) async throws -> GenerationSummary {
        onEvent(.phase(.prefill(done: 1, total: 2)))
        if options.thinking.isEnabled { onEvent(.thinking("So.")) }
        if options.tokenReports != nil {
            let chance = TokenReport.Chance(token: 5, bytes: Array("Yes".utf8), logProbability: -0.5)
            onEvent(.token(TokenReport(chosen: chance, alternatives: [chance])))
        }
        onEvent(.text("Yes"))
        var reason = FinishReason.endOfGeneration
        if let tool = options.tools.first {
            onEvent(
                .toolCall(ToolCall(id: "call00001", name: tool.name, arguments: #"{"path": "a.txt", "input": "a"}"#)))
            reason = .toolCalls
        }
        return GenerationSummary(
            reason: reason, usage: TokenUsage(promptTokens: 7, cachedTokens: 2, generatedTokens: 3),
            timings: GenerationTimings(firstTokenSeconds: 0.1, prefillTokensPerSecond: 5, decodeTokensPerSecond: 9))
    }

    func embed(_ texts: [String]) async throws -> [[Float]] { texts.map { _ in [1, 0, 0] } }

    func tokenize(
        _ text: String, controlTokens: Bool, wholePrompt: Bool, limit: Int?
    ) async throws -> [TokenID] {
        // The names of control tokens are one token each.
        controlTokens && text.hasPrefix("<") ? [1] : text.utf8.map { TokenID($0) }
    }

    func count(_ messages: [ChatMessage]) async throws -> Int { messages.count }

    func pieces(of tokens: [TokenID]) async throws -> [[UInt8]] {
        try tokens.map { token in
            guard let byte = UInt8(exactly: token) else {
                throw LLMError(.generateFailed, "no such token", disposition: .usage)
            }
            return [byte]
        }
    }

    func rendered(
        _ messages: [ChatMessage], options: GenerationOptions
    ) async throws -> (text: String, tokenCount: Int) { ("prompt", messages.count) }
}

/// One model for every name.
struct WillingModels: ModelProvider {
    private var served: ServedModel {
        var model = ServedModel(name: "tiny", created: Date(timeIntervalSince1970: 1_700_000_000))
        var facts = ServedFacts()
        (facts.contextLength, facts.abilities) = (4096, [.completion])
        model.facts = facts
        return model
    }

    func models() async throws -> [ServedModel] { [served] }
    func model(_ name: String?) async throws -> ServedModel { served }
    func engine(for model: ServedModel) async throws -> any InferenceEngine { WillingEngine() }
    func details(of model: ServedModel) async throws -> ModelDetails { ModelDetails() }
    func loaded() async -> [LoadedModel] { [LoadedModel(model: served, bytes: 1000)] }
    func isAnswering(_ model: ServedModel) async -> Bool { false }
    func used(_ model: ServedModel, keepAlive: Duration?) async {}
    func unload(_ model: ServedModel) async {}
    func pull(_ name: String, progress: @escaping @Sendable (PullStep) -> Void) async throws {}
    func delete(_ name: String) async throws {}
    func keep(_ preset: Preset) async throws {}
}

/// The dialects with their description, without a network.
struct DescribedRoutes {
    /// An operation of the description.
    struct Operation {
        let method: String
        let path: String
        let body: JSONValue

        /// The bodies that the description shows.
        var examples: [JSONValue] {
            let content = body[path: "requestBody/content"]?.members?["application/json"]
            return content?["examples"]?.members?.values.compactMap { $0["value"] } ?? []
        }

        /// The schema of the body.
        var input: JSONValue? { body[path: "requestBody/content"]?.members?["application/json"]?["schema"] }

        var replies: JSONMembers { body["responses"]?.members ?? [:] }
    }

    let routes = APIRoutes(APIService(WillingModels()))
    let document: JSONValue
    /// The schemas of replies, by operation.
    private let checks = Locked<[String: SchemaCheck]>([:])

    init() throws {
        document = try OpenAPI.document([], dialects: try APIDescription(routes), version: "1")
    }

    var operations: [Operation] {
        (document["paths"]?.members ?? [:]).flatMap { path, methods in
            (methods.members ?? [:]).map { Operation(method: $0.key.uppercased(), path: path, body: $0.value) }
        }
    }

    func send(_ operation: Operation, _ body: JSONValue?) async throws -> (status: Int, type: String, bytes: [UInt8]) {
        let path = operation.path.replacing("{model}", with: "tiny").replacing("{id}", with: "resp_1")
        let request = ServerRequest(method: operation.method, target: path, body: RequestBody(body?.bytes ?? []))
        let reply = await routes.reply(to: request) ?? .text(404, "no route")
        let type = reply.headers["Content-Type"]?.prefix { $0 != ";" } ?? ""
        return (reply.status, String(type), try await reply.collectedBody())
    }

    /// What a reply has that the description does not, or lacks; `nil` for none.
    /// - Parameter isComplete: whether all members must be described.
    func flaw(
        _ operation: Operation, _ status: Int, _ type: String, _ bytes: [UInt8], isComplete: Bool = true
    ) -> String? {
        guard let described = operation.replies["\(status)"].map({ resolved($0) }) else { return "status \(status)" }
        guard let contents = described["content"]?.members else { return bytes.isEmpty ? nil : "a body" }
        guard let content = contents[type] else { return "media type \(type)" }
        guard type == "application/json" else { return nil }
        guard let schema = content["schema"] else { return "no schema" }
        let key = [operation.method, operation.path, "\(status)", "\(isComplete)"].joined(separator: " ")
        let known = checks.withLock { $0[key] }
        guard let check = known ?? self.check(schema, isComplete: isComplete) else { return "schema" }
        checks.withLock { $0[key] = check }
        let text = String(decoding: bytes, as: UTF8.self)
        return check.flaw(in: text).map { "\($0.keyword) at \($0.place): \(text.prefix(400))" }
    }

    private func check(_ schema: JSONValue, isComplete: Bool) -> SchemaCheck? {
        let whole = isComplete ? closed(resolved(schema)) : resolved(schema)
        return SchemaCheck(whole.merged("components", document["components"] ?? [:]).line)
    }

    /// A part of the document, or the one that it refers to.
    func resolved(_ part: JSONValue) -> JSONValue {
        guard let reference = part["$ref"]?.string else { return part }
        return document[path: String(reference.dropFirst("#/".count))] ?? part
    }

    /// The schema without further members in objects whose members it names.
    private func closed(_ schema: JSONValue) -> JSONValue {
        switch schema {
        case .array(let items): return .array(items.map(closed))
        case .object(let members):
            var all = JSONMembers(members.map { ($0.key, closed($0.value)) })
            if members["properties"]?.members != nil, members["type"] != nil { all["additionalProperties"] = false }
            return .object(all)
        default: return schema
        }
    }
}

extension JSONValue {
    fileprivate func merged(_ key: String, _ value: JSONValue) -> JSONValue {
        .object(JSONMembers([(key, value)]).after(members ?? [:]))
    }
}
