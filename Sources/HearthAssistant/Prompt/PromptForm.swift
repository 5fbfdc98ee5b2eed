import HearthInference

/// How much the assistant tells the model beside the conversation. The model that answers decides.
///
/// Long instructions make small models talk about the instructions. A model of less than one billion weights, or with a
/// small window, gets the conversation alone.
package enum PromptForm: Sendable, Hashable {
    /// Nothing: the model's own template alone.
    case plain
    /// A sentence, and the blocks that words of the question suggest; at most ``shortTokens`` tokens.
    case short
    /// All instructions, and all records of the coming days.
    case full

    /// The fewest weights of a model that gets instructions.
    static let shortWeights: UInt64 = 1_000_000_000
    /// The most weights of a model that gets the short form.
    static let mostShortWeights: UInt64 = 3_000_000_000
    /// The smallest window in which instructions leave room for a conversation.
    static let leastWindow = 4096
    /// The most tokens of the short form, without the template and the question.
    package static let shortTokens = 150

    /// The form for a model. Engines that do not count their weights, as those of a cloud, get the full form.
    package init(for model: ModelInformation) {
        guard model.contextLength >= Self.leastWindow else {
            self = .plain
            return
        }
        switch model.parameterCount {
        case nil: self = .full
        case let count? where count < Self.shortWeights: self = .plain
        case let count? where count <= Self.mostShortWeights: self = .short
        default: self = .full
        }
    }
}
