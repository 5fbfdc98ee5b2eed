import Foundation
import HearthBase

/// The tools of a session: makes their definitions and runs their calls.
struct ToolBox: Sendable {
    private let tools: [any Tool]

    init(_ tools: [any Tool]) { self.tools = tools }

    /// The tools' definitions for an engine.
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

    private static func schema<T: Tool>(of tool: T) throws -> JSONSchema { try JSONSchema(of: T.Arguments.self) }

    /// Runs a call.
    /// - Returns: the text for the model.
    /// - Throws: `CancellationError` only.
    func run(_ call: ToolCall) async throws -> String {
        guard let tool = tools.first(where: { $0.name == call.name }) else {
            return Self.failure(
                call.spelling != nil && call.name.isEmpty
                    ? "the call is no JSON object with name and arguments"
                    : "there is no function \(call.name); there are \(tools.map(\.name).joined(separator: ", "))")
        }
        // Models leave out an empty object of arguments.
        return try await Self.run(tool, Data((call.arguments.isEmpty ? "{}" : call.arguments).utf8))
    }

    private static func run<T: Tool>(_ tool: T, _ arguments: Data) async throws -> String {
        do {
            return try await tool.call(try JSONDecoder().decode(T.Arguments.self, from: arguments))
        } catch let error as CancellationError {
            throw error
        } catch let error as DecodingError {
            return failure("the arguments do not fit: \(error)")
        } catch {
            return failure((error as? any LocalizedError)?.errorDescription ?? "\(error)")
        }
    }

    /// The result of a call that failed.
    static func failure(_ reason: String) -> String { #"{"error":\#(JSONSchema.quoted(reason))}"# }
}
