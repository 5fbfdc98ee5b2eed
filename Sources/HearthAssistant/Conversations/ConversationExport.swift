import Foundation
import HearthBase
import HearthInference

/// A conversation as a document for people and other programs.
package struct ConversationExport: Sendable, Hashable, Codable {
    /// The version of the format.
    package var version = 1
    package var conversation: ConversationSummary
    /// The messages in their order; those of one branch for people, all for a copy.
    package var messages: [AssistantMessage]

    package init(_ conversation: ConversationSummary, messages: [AssistantMessage]) {
        self.conversation = conversation
        self.messages = messages
    }

    /// JSON with sorted keys and dates of ISO 8601; pictures are base64.
    /// - Throws: `EncodingError` for a number that JSON does not have.
    package func json() throws -> Data {
        try JSON.data(self, isPretty: true, dates: .milliseconds)
    }

    /// Reads a document of ``json()``. Dates are whole milliseconds.
    /// - Throws: `unusable-record`.
    package init(json: Data) throws {
        self = try RecordJSON.value(Self.self, json, or: "the file holds no conversation")
        guard version == 1 else {
            throw AssistantError(
                .unusableRecord, "the conversation has a version that this program does not read",
                context: .init(expected: "1", found: "\(version)"))
        }
    }

    /// Markdown: a heading for the conversation and for each message, its notices and cards as lists.
    /// - Parameters:
    ///   - thinking: whether the model's thinking is part of the text, as quotations.
    ///   - timeZone: the zone of the dates.
    package func markdown(thinking: Bool = false, timeZone: TimeZone = .current) -> String {
        var parts = ["# \(Self.line(conversation.title.isEmpty ? "Conversation" : conversation.title))"]
        for message in messages where message.role != .system {
            parts.append("## \(Self.author(of: message)) – \(message.date.dayAndTime(in: timeZone))")
            if thinking, !message.thinkingContent.isEmpty { parts.append(Self.quotation(message.thinkingContent)) }
            let pictures = message.images.map { image in
                "*(picture, \(image.header.width) × \(image.header.height))*"
            }
            if !pictures.isEmpty { parts.append(pictures.joined(separator: "\n\n")) }
            let documents = (message.documents ?? []).map { "*(file \(Self.line($0.name)))*" }
            if !documents.isEmpty { parts.append(documents.joined(separator: "\n\n")) }
            let content = message.content.trimmingCharacters(in: .newlines)
            if !content.isEmpty { parts.append(content) }
            if !message.cards.isEmpty { parts.append(message.cards.map(Self.item).joined(separator: "\n")) }
            if !message.notices.isEmpty {
                parts.append(message.notices.map { "> \(Self.line($0))" }.joined(separator: "\n>\n"))
            }
        }
        return parts.joined(separator: "\n\n") + "\n"
    }

    private static func author(of message: AssistantMessage) -> String {
        guard message.role == .assistant else { return "You" }
        return message.facts.map { "Assistant (\(line($0.model)))" } ?? "Assistant"
    }

    private static func item(of card: ActionCard) -> String {
        let fields = card.fields.map { "\(line($0.label)): \(line($0.value))" }
        let items = card.items.map { item in
            let text = item.detail.isEmpty ? line(item.title) : "\(line(item.title)) – \(line(item.detail))"
            return "  - " + (item.url.map { "\(text) <\(line($0))>" } ?? text)
        }
        let state = card.state.rawValue.replacingOccurrences(of: "-", with: " ")
        let first = (["- **\(line(card.title))** (\(state))"] + fields).joined(separator: "; ")
        return ([first] + items).joined(separator: "\n")
    }

    /// The text on one line.
    private static func line(_ text: String) -> String {
        text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    private static func quotation(_ text: String) -> String {
        text.trimmingCharacters(in: .newlines).split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
            .map { $0.isEmpty ? ">" : "> \($0)" }.joined(separator: "\n")
    }
}
