import Foundation
import HearthBase
import HearthInference
import HearthRouting

/// How much the model is told beside the conversation.
package enum ConversationForm: String, Sendable, Hashable, Codable, CaseIterable {
    /// The instructions of this conversation alone: no records, no actions.
    case plain
    /// All instructions of the assistant, for small models too.
    case assistant
}

/// The settings of one conversation, kept with it. A value that is `nil` is that of all conversations.
package struct ConversationSettings: Sendable, Hashable, Codable {
    /// The model of this device that answers: a family with or without its version.
    package var model: String?
    /// The user's words to the model at the beginning of each prompt, at most ``instructionsLimit`` bytes.
    package var instructions: String?
    /// How freely tokens are chosen, within ``temperatures``.
    package var temperature: Double?
    /// The longest answer in tokens, within ``lengths``.
    package var maximumNewTokens: Int?
    /// `nil`: the model and its window decide, see ``PromptForm``.
    package var form: ConversationForm?
    /// Whether the model may think before its answer.
    package var thinks: Bool?
    /// `local`: each answer comes from this device. `cloud`: the cloud may answer also if a model is chosen.
    package var route: RouteSource?

    package init() {}

    package static let instructionsLimit = 16 << 10
    package static let temperatures = 0.0...5.0
    package static let lengths = 1...1_048_576

    /// Whether everything is as in all conversations.
    package var isEmpty: Bool { self == Self() }

    /// The first value that cannot be used: its field, and the values that can.
    package var flaw: (field: String, expectation: String)? {
        if let instructions, instructions.utf8.count > Self.instructionsLimit {
            return ("instructions", "a text of at most \(Self.instructionsLimit) bytes")
        }
        if let temperature, !Self.temperatures.contains(temperature) {
            return ("temperature", "a number from 0 to 5")
        }
        if let maximumNewTokens, !Self.lengths.contains(maximumNewTokens) {
            return ("maximumNewTokens", "a whole number from 1 to \(Self.lengths.upperBound)")
        }
        return nil
    }
}

extension ConversationSettings {
    /// The text of the column; `nil` without settings.
    var column: String? { get throws { isEmpty ? nil : try JSON.text(self) } }

    /// Reads the column. One that this version cannot read counts as none.
    init?(column: String?) {
        // Settings of another version are those of all conversations.
        guard let column, let settings = try? JSON.value(Self.self, Data(column.utf8)), settings.flaw == nil,
            !settings.isEmpty
        else { return nil }
        self = settings
    }
}
