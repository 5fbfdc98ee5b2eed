import Foundation
import HearthInference

/// The answer whose blocks are carried out, with its context.
package struct ActionTurn: Sendable {
    /// The id of the conversation.
    package var conversation: String
    /// The id of the answer.
    package var message: String
    /// The moment of the user's message.
    package var now: Date
    package var timeZone: TimeZone
    package var locale: Locale
    package var finish: FinishReason
    /// The texts from outside in the context in which the model wrote the answer.
    package var outside: [OutsideText]
    /// Whether data of the user is in that context: records, files, pictures, results.
    package var hasOwnData: Bool
    /// Whether nothing of the conversation may be kept on the disk; then the journal is in memory.
    package var isPrivate: Bool

    package init(
        conversation: String, message: String, now: Date, timeZone: TimeZone = .current, locale: Locale = .current,
        finish: FinishReason = .endOfGeneration, outside: [OutsideText] = [], hasOwnData: Bool = false,
        isPrivate: Bool = false
    ) {
        self.conversation = conversation
        self.message = message
        self.now = now
        self.timeZone = timeZone
        self.locale = locale
        self.finish = finish
        self.outside = outside
        self.hasOwnData = hasOwnData
        self.isPrivate = isPrivate
    }
}
