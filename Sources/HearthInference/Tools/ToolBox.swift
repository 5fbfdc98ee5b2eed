import Foundation
import HearthBase

/// The tools of a session: how they are described to the model, and how its calls are read and run.
///
/// An engine whose template knows tools gets their definitions and reads the calls itself. For others calls are written as models
/// of the Hermes and Qwen families are trained to, in text that any model can follow:
/// ```
/// <tool_call>{"name": "weather", "arguments": {"city": "Paris"}}</tool_call>
/// ```
struct ToolBox: Sendable {
    static let opening = "<tool_call>"
    static let closing = "</tool_call>"

    private let tools: [any Tool]

    init(_ tools: [any Tool]) { self.tools = tools }

    var isEmpty: Bool { tools.isEmpty }

    /// The conversation with the tools described in its system message.
    func describing(in messages: [ChatMessage]) throws -> [ChatMessage] {
        guard !isEmpty else { return messages }
        let messages = messages.withSpelledTools
        let text = try description
        guard let first = messages.first, first.role == .system else { return [ChatMessage(.system, text)] + messages }
        return [ChatMessage(.system, first.content + "\n\n" + text)] + messages.dropFirst()
    }

    /// The options with calls held to their shape, unless the whole answer has one already.
    func constraining(_ options: GenerationOptions) throws -> GenerationOptions {
        guard !isEmpty else { return options }
        var options = options
        options.constraint = .jsonSchema(try callSchema, after: [Self.opening])
        options.stopStrings.append(Self.closing)
        options.callMark = Self.opening
        return options
    }

    private var description: String {
        get throws {
            let list = try definitions.map { tool in
                let function = [
                    #""name":\#(JSONSchema.quoted(tool.name))"#,
                    #""description":\#(JSONSchema.quoted(tool.description))"#, #""parameters":\#(tool.parameters)"#,
                ]
                return #"{"type":"function","function":{\#(function.joined(separator: ","))}}"#
            }
            return """
                # Tools

                You may call one or more functions to assist with the user query.

                You are provided with function signatures within <tools></tools> XML tags:
                <tools>
                \(list.joined(separator: "\n"))
                </tools>

                For each function call, return a json object with function name and arguments within \
                \(Self.opening)\(Self.closing) XML tags:
                \(Self.opening)
                {"name": <function-name>, "arguments": <args-json-object>}
                \(Self.closing)
                """
        }
    }

    /// The tools as an engine is told of them.
    /// - Throws: `grammar-unusable`.
    var definitions: [ToolDefinition] {
        get throws {
            let list = try tools.map {
                ToolDefinition(name: $0.name, description: $0.description, parameters: try Self.schema(of: $0).json)
            }
            try ToolDefinition.check(list)
            return list
        }
    }

    private var callSchema: String {
        get throws {
            let calls = try definitions.map {
                JSONSchema.object([
                    .init("name", .oneOf([JSONSchema.quoted($0.name)])), .init("arguments", .text($0.parameters)),
                ]).json
            }
            return #"{"anyOf":[\#(calls.joined(separator: ","))]}"#
        }
    }

    private static func schema<T: Tool>(of tool: T) throws -> JSONSchema { try JSONSchema(of: T.Arguments.self) }

    private struct Name: Decodable { var name: String }

    private struct Call<Arguments: Decodable>: Decodable { var arguments: Arguments }

    /// Runs the call in what follows the opening mark of an answer.
    /// - Returns: what the model is to read.
    /// - Throws: `CancellationError` only.
    func run(spelled call: String) async throws -> String {
        let data = Data(call.utf8)
        guard let name = try? JSONDecoder().decode(Name.self, from: data).name else {
            return Self.failure("the call is no JSON object with name and arguments")
        }
        guard let tool = tool(name) else { return unknown(name) }
        return try await Self.run(tool, data, isWhole: true)
    }

    /// Runs a call that the engine has read.
    /// - Returns: what the model is to read.
    /// - Throws: `CancellationError` only.
    func run(_ call: ToolCall) async throws -> String {
        guard let tool = tool(call.name) else { return unknown(call.name) }
        // Models leave out what would be an empty object.
        let arguments = Data((call.arguments.isEmpty ? "{}" : call.arguments).utf8)
        return try await Self.run(tool, arguments, isWhole: false)
    }

    private func tool(_ name: String) -> (any Tool)? { tools.first { $0.name == name } }

    private func unknown(_ name: String) -> String {
        Self.failure("there is no function \(name); there are \(tools.map(\.name).joined(separator: ", "))")
    }

    /// - Parameter isWhole: the JSON is that of the call, with its arguments in it.
    private static func run<T: Tool>(_ tool: T, _ json: Data, isWhole: Bool) async throws -> String {
        do {
            let decoder = JSONDecoder()
            return try await tool.call(
                isWhole
                    ? try decoder.decode(Call<T.Arguments>.self, from: json).arguments
                    : try decoder.decode(T.Arguments.self, from: json))
        } catch let error as CancellationError {
            throw error
        } catch let error as DecodingError {
            return failure("the arguments do not fit: \(error)")
        } catch {
            return failure((error as? any LocalizedError)?.errorDescription ?? "\(error)")
        }
    }

    private static func failure(_ reason: String) -> String { #"{"error":\#(JSONSchema.quoted(reason))}"# }

    private static let resultOpening = "<tool_response>\n"
    private static let resultClosing = "\n</tool_response>"

    /// The message that tells the model a result, as templates of those families write it.
    static func result(_ text: String) -> ChatMessage { ChatMessage(.user, resultOpening + text + resultClosing) }

    /// Whether a message tells the model a result in that way.
    static func isResult(_ message: ChatMessage) -> Bool {
        message.role == .user && message.images.isEmpty && message.content.hasPrefix(resultOpening)
            && message.content.hasSuffix(resultClosing)
    }

    /// What an answer says before it calls.
    static func withoutCall(_ said: String) -> String {
        said.firstRange(of: opening).map { String(said[..<$0.lowerBound]) } ?? said
    }
}
