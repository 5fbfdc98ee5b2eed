import Foundation
import HearthBase
import HearthHTTP
import HearthInference

/// What the pieces of a cloud answer have said so far; each dialect fills it in.
struct CloudAnswer: Sendable {
    var usage = TokenUsage(promptTokens: 0, cachedTokens: 0, generatedTokens: 0)
    /// Why the answer ended; `nil` while no piece said so.
    var reason: FinishReason?
    /// Set when the dialect's last piece has arrived.
    var hasEnded = false
    /// The calls begun so far, by the dialect's index.
    var calls: [Int: PartialCall] = [:]
    /// The events of the piece that is read now.
    var events: [GenerationEvent] = []
    /// The answer has a schema, and its text is the argument of a call that the model has to make.
    var isCall = false

    /// A tool call that arrives in fragments.
    struct PartialCall: Sendable {
        var id: String?
        var name = ""
        var arguments = ""
    }

    mutating func add(text: String?) { if let text, !text.isEmpty { events.append(.text(text)) } }
    mutating func add(thinking: String?) { if let thinking, !thinking.isEmpty { events.append(.thinking(thinking)) } }

    /// The calls of a complete answer, in the model's order. Their ids are new: servers give theirs again in other
    /// conversations.
    var toolCalls: [ToolCall] {
        calls.sorted { $0.key < $1.key }.map(\.value).filter { !$0.name.isEmpty }.map { call in
            ToolCall(
                id: ToolCall.newID(), name: call.name, arguments: call.arguments.isEmpty ? "{}" : call.arguments)
        }
    }

    /// The bytes of text, thinking and arguments in the events and the calls.
    var bytes: (events: Int, calls: Int) {
        let events = events.reduce(0) { sum, event in
            switch event {
            case .text(let text), .thinking(let text): sum + text.utf8.count
            default: sum
            }
        }
        return (events, calls.values.reduce(0) { $0 + $1.arguments.utf8.count + $1.name.utf8.count })
    }
}

/// One vendor's request and answer format, without a network.
protocol CloudDialect: Sendable {
    /// What models of this kind can do.
    var capabilities: EngineCapabilities { get }
    /// The path of a generation after the address, with its query.
    var path: String { get }
    /// The path of one generation.
    func path(of request: CloudRequest) -> String
    /// The path of a request that tells whether the server answers, and costs nothing.
    var healthPath: String { get }
    /// How the key is sent, and other headers of every request.
    func headers(key: Secret?) -> [(name: String, value: String)]
    func body(_ request: CloudRequest) throws -> JSONValue
    /// How the events of the answer end.
    var mode: ServerSentEventParser.Mode { get }
    /// Reads one piece of the answer.
    /// - Throws: ``LLMError``.
    func read(_ piece: JSONValue, into answer: inout CloudAnswer) throws
    /// Whether this event is the stream's last and has no JSON.
    func isEnd(_ event: ServerSentEvent) -> Bool
}

extension CloudDialect {
    var mode: ServerSentEventParser.Mode { .standard }
    func path(of request: CloudRequest) -> String { path }
    func isEnd(_ event: ServerSentEvent) -> Bool { false }
}

extension CloudSettings {
    /// The dialect of this kind of model.
    var dialect: any CloudDialect {
        switch kind {
        case .openai:
            OpenAIDialect(
                model: model, isVendor: url.host() == kind.defaultURL?.host(), isUpstream: upstream != nil,
                path: url.path())
        case .gemini: GeminiDialect(model: model, isRelay: false)
        case .geminiRelay: GeminiDialect(model: model, isRelay: true)
        case .anthropic: AnthropicDialect(model: model)
        }
    }
}

/// A generation as the dialects send it.
struct CloudRequest: Sendable {
    var system: String
    /// The conversation without its system messages.
    var messages: [ChatMessage]
    var options: GenerationOptions

    init(_ messages: [ChatMessage], options: GenerationOptions) {
        system = messages.filter { $0.role == .system }.map(\.content).joined(separator: "\n\n")
        self.messages = messages.filter { $0.role != .system }
        self.options = options
    }

    /// The longest answer in tokens; `nil` for that of the server.
    var limit: Int? { options.maximumNewTokens == GenerationOptions.windowLength ? nil : options.maximumNewTokens }

    /// The tokens that thinking may take of the answer's, so that the answer has room; `nil` if the model is not to think.
    var thinkingTokens: Int? {
        guard options.thinking.isEnabled else { return nil }
        let most = options.maximumNewTokens
        let room = most - min(options.thinking.answerTokens, most / 2)
        return min(room, options.thinking.maximumTokens ?? room)
    }

    /// The schema of the whole answer, if it has one.
    var schema: String? {
        guard let block = options.constraint?.blocks.first(where: \.opening.isEmpty),
            case .jsonSchema(let schema) = block.shape
        else { return nil }
        return schema
    }

    /// The temperature; `nil` for the model's own.
    var temperature: Float? { options.leavesTemperature ? nil : options.sampling.temperature }

    /// Whether the model must call a tool.
    var mustCall: Bool { !options.tools.isEmpty && options.toolChoice != .automatic }

    /// The tools, each with its schema under the vendor's name for it.
    func tools(schemaKey: String) -> [JSONValue] {
        options.tools.map { tool in
            [
                "name": .string(tool.name), "description": .string(tool.description),
                schemaKey: .object(parsing: tool.parameters),
            ]
        }
    }

    /// The messages in groups that one turn of the dialect holds: results of tools belong together.
    var turns: [[ChatMessage]] {
        messages.reduce(into: []) { turns, message in
            if message.role == .tool, turns.last?.last?.role == .tool {
                turns[turns.count - 1].append(message)
            } else {
                turns.append([message])
            }
        }
    }
}

extension ChatImage {
    /// The picture's media type.
    /// - Throws: `cannot-read-picture` for a format that the vendors do not read.
    func mediaType(for vendor: String) throws -> String {
        switch header.format {
        case .jpeg: return "image/jpeg"
        case .png: return "image/png"
        case .bmp:
            throw LLMError(
                .cannotReadPicture, "\(vendor) reads no BMP pictures",
                context: ErrorContext(remedy: "Give the picture as JPEG or PNG."), disposition: .usage)
        }
    }
}

extension JSONValue {
    /// A number that counts something: never so large that sums of some overflow.
    var count: Int? {
        if case .number(let digits) = self { Int(digits).map { min(max(0, $0), 1 << 40) } } else { nil }
    }
}
