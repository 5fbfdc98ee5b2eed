import Foundation
import HearthBase

/// The tools of a session: how they are described to the model, and how its calls are read and run.
///
/// Calls are written as models of the Hermes and Qwen families are trained to, in text that any model can follow:
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
        return options
    }

    private var description: String {
        get throws {
            let list = try tools.map { tool in
                let function = [
                    #""name":\#(JSONSchema.quoted(tool.name))"#,
                    #""description":\#(JSONSchema.quoted(tool.description))"#,
                    #""parameters":\#(try Self.schema(of: tool).json)"#,
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

    private var callSchema: String {
        get throws {
            let calls = try tools.map { tool -> String in
                let name = tool.name.utf8
                let isName = name.allSatisfy { byte in
                    switch byte {
                    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x5F: true
                    default: false
                    }
                }
                guard isName, (1...64).contains(name.count), tools.filter({ $0.name == tool.name }).count == 1 else {
                    throw LLMError(
                        .unusableGrammar, "the tool name \(tool.name.debugDescription) cannot be used",
                        context: ErrorContext(remedy: "Letters, digits, _ and -, at most 64, each name once."),
                        disposition: .usage)
                }
                return JSONSchema.object([
                    .init("name", .oneOf([JSONSchema.quoted(tool.name)])),
                    .init("arguments", try Self.schema(of: tool)),
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
    func run(_ call: String) async throws -> String {
        let data = Data(call.utf8)
        guard let name = try? JSONDecoder().decode(Name.self, from: data).name else {
            return Self.failure("the call is no JSON object with name and arguments")
        }
        guard let tool = tools.first(where: { $0.name == name }) else {
            return Self.failure("there is no function \(name); there are \(tools.map(\.name).joined(separator: ", "))")
        }
        return try await Self.run(tool, data)
    }

    private static func run<T: Tool>(_ tool: T, _ call: Data) async throws -> String {
        do {
            return try await tool.call(try JSONDecoder().decode(Call<T.Arguments>.self, from: call).arguments)
        } catch let error as CancellationError {
            throw error
        } catch let error as DecodingError {
            return failure("the arguments do not fit: \(error)")
        } catch {
            return failure((error as? any LocalizedError)?.errorDescription ?? "\(error)")
        }
    }

    private static func failure(_ reason: String) -> String { #"{"error":\#(JSONSchema.quoted(reason))}"# }

    /// The message that tells the model a result, as templates of those families write it.
    static func result(_ text: String) -> ChatMessage {
        ChatMessage(.user, "<tool_response>\n\(text)\n</tool_response>")
    }
}
