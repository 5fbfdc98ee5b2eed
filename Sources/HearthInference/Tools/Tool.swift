/// A function that a model may call while it answers, such as a search.
///
/// ```swift
/// struct Weather: Tool {
///     struct Arguments: Codable { var city: String }
///     let name = "weather"
///     let description = "Tells the weather of a city."
///     func call(_ arguments: Arguments) async throws -> String { "sunny in \(arguments.city)" }
/// }
/// let session = LanguageModelSession(model: model, tools: [Weather()])
/// ```
/// The model can only write arguments that match their schema (``OutputConstraint/fitting(_:after:)`` lists the supported types).
/// Calls follow from texts that the model has read, also from results of other tools: a tool that changes data should
/// ask first.
public protocol Tool: Sendable {
    /// The arguments of a call.
    associatedtype Arguments: Codable & Sendable

    /// The name in the model's calls: letters, digits, `_` and `-`, at most 128.
    var name: String { get }
    /// The tool's effect and use, for the model.
    var description: String { get }

    /// Runs the tool and returns the text for the model.
    ///
    /// If the tool throws, the model gets the error as the result, and may try again or answer without the tool. A
    /// `CancellationError` ends the answer.
    func call(_ arguments: Arguments) async throws -> String
}
