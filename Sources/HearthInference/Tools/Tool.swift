/// Something a model may ask for while it answers: a look at the weather, a search, a sum.
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
/// The model is held to the arguments' JSON while it writes a call (``JSONSchema/init(of:)`` says for which types that works).
/// Calls come from what the model read, also from the results of other tools: one that changes something should ask before.
public protocol Tool: Sendable {
    /// The arguments of a call.
    associatedtype Arguments: Codable & Sendable

    /// The name the model calls it by: letters, digits, `_` and `-`, at most 64.
    var name: String { get }
    /// The tool's effect and use, for the model.
    var description: String { get }

    /// Does it, and says what the model is to read.
    ///
    /// An error is told to the model, which may try again or answer without the tool; a `CancellationError` ends the answer.
    func call(_ arguments: Arguments) async throws -> String
}
