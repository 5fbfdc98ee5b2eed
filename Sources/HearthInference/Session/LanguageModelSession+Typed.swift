import Foundation
import HearthBase

extension OutputConstraint {
    /// Constrains answers to the JSON of a type: a structure of strings, numbers, truth values, optionals, arrays,
    /// dictionaries with names as keys, other such structures, `UUID`s, and enumerations with raw values that are
    /// `CaseIterable`. Other types provide their schema: ``JSONSchemaProviding``.
    /// - Throws: `grammar-unusable` for a type without a schema.
    public static func fitting(
        _ type: any Decodable.Type, after openings: [String] = []
    ) throws -> OutputConstraint {
        .jsonSchema(try JSONSchema(of: type).json, after: openings)
    }
}

extension LanguageModelSession {
    /// Sends `prompt` and waits for an answer that is a value of a type.
    ///
    /// ```swift
    /// struct City: Codable { var name: String; var inhabitants: Int }
    /// let city = try await session.respond(to: "The capital of France?", generating: City.self).content
    /// ```
    /// The model can only write the type's JSON; the prompt must say which value belongs in which property. Replaces
    /// the options' constraint.
    /// - Throws: `grammar-unusable` for a type without a schema (``OutputConstraint/fitting(_:after:)``), before the turn begins;
    ///   `answer-not-decodable` when a limit cut the answer short; errors of the model; `CancellationError`.
    public func respond<Content: Decodable & Sendable>(
        to prompt: String, generating type: Content.Type, options: GenerationOptions = GenerationOptions()
    ) async throws -> Response<Content> {
        var options = options
        options.constraint = try .fitting(type)
        let answer = try await respond(to: prompt, options: options)
        do {
            let content = try JSONDecoder().decode(type, from: Data(answer.content.utf8))
            return Response(content: content, thinking: answer.thinking, summary: answer.summary)
        } catch {
            let reason = answer.summary.reason
            throw LLMError(
                .answerNotDecodable, "the answer is no \(type): it ended with `\(reason.rawValue)`",
                context: ErrorContext(remedy: "Allow more tokens, or ask for less."), underlying: error)
        }
    }
}
