import Foundation
import HearthBase
import HearthDatabase
import HearthInference

/// What a message has beside its texts, as JSON in one column.
struct MessageExtras: Codable, Equatable {
    var cards: [ActionCard]?
    var notices: [String]?
    var facts: AnswerFacts?
    var results: [MessageResult]?
    var documents: [Document]?
    var failure: FailureBody?
    var isOpen: Bool?

    /// The text of the column; `nil` without extras.
    static func text(of message: AssistantMessage) throws -> String? {
        let extras = MessageExtras(
            cards: message.cards.isEmpty ? nil : message.cards,
            notices: message.notices.isEmpty ? nil : message.notices, facts: message.facts, results: message.results,
            documents: message.documents, failure: message.failure, isOpen: message.isOpen)
        return extras == MessageExtras() ? nil : try JSON.text(extras)
    }
}

extension MessageExtras {
    /// Reads the column. Of one written by another version, what this version cannot read is left out.
    init(column: String?) {
        self.init()
        guard let column else { return }
        let data = Data(column.utf8)
        // The texts of the message are shown all the same.
        if let whole = try? JSON.value(Self.self, data) { self = whole }
    }
}

/// A row of the table `message`.
struct StoredMessage {
    static let columns = "number, id, parent, role, date, content, thinking, raw, extras, pictures"

    let number: Int
    let pictureCount: Int
    /// The message without its pictures.
    var message: AssistantMessage

    /// Reads the present row of a query for ``columns``.
    ///
    /// `isThinking` is not kept: a message that is read thinks no more.
    init(_ row: borrowing Row) {
        number = row.int(0)
        pictureCount = row.int(9)
        let extras = MessageExtras(column: row.optionalText(8))
        message = AssistantMessage(
            id: row.text(1), role: ChatRole(rawValue: row.text(3)) ?? .assistant, content: row.text(5),
            thinkingContent: row.text(6), cards: extras.cards ?? [], notices: extras.notices ?? [], date: row.date(4),
            facts: extras.facts, rawContent: row.optionalText(7), parent: row.optionalText(2))
        message.documents = extras.documents
        (message.results, message.failure, message.isOpen) = (extras.results, extras.failure, extras.isOpen)
    }
}

extension ConversationSummary {
    static let columns = "id, title, created, changed, messages, leaf, settings, pinned, archived, folder"

    /// Reads the present row of a query for ``columns``, from a column on.
    init(_ row: borrowing Row, from column: Int = 0) {
        self.init(
            id: row.text(column), title: row.text(column + 1), created: row.date(column + 2),
            changed: row.date(column + 3), messageCount: row.int(column + 4), leaf: row.optionalText(column + 5),
            settings: ConversationSettings(column: row.optionalText(column + 6)), pinned: row.int(column + 7) != 0,
            archived: row.int(column + 8) != 0, folder: row.optionalText(column + 9))
    }
}
