import Foundation
import HearthAssistant
import HearthBase

extension RingSnooze: SchemaWord {}

extension StoreKind: SchemaDescribed {
    static func describe(_ maker: SchemaMaker) throws -> (schema: JSONValue, sample: Self) {
        (["type": "string"], .reminders)
    }
}

struct RingsBody: Codable, Sendable, Hashable {
    var rings: [Ring]
    /// The number of alarms that fell due while nothing ran, and do not ring one by one.
    var missed: Int
    var event: String
}

/// A ring as it begins.
struct RingBegun: Codable, Sendable, Hashable {
    var ring: Ring
}

/// The end of a ring: it was answered, or its record has changed.
struct RingEnded: Codable, Sendable, Hashable {
    var id: String
}

struct MissedRings: Codable, Sendable, Hashable {
    var missed: Int
}

/// Whether a page is the first that plays a ring.
struct RingPlay: Codable, Sendable, Hashable {
    var isFirst: Bool
}

enum RingAnswerWord: String, SchemaWord { case done, close, snooze }

/// The answer of a person to a ring.
struct RingOrder: Codable, Sendable {
    var answer: RingAnswerWord
    /// The length of a snooze; ten minutes if it is absent.
    var snooze: RingSnooze?

    var value: RingAnswer {
        switch answer {
        case .done: .done
        case .close: .close
        case .snooze: .snooze(snooze ?? .tenMinutes)
        }
    }
}

/// What an answer has changed.
struct RingReply: Codable, Sendable, Hashable {
    /// The action that undoes the completion of a reminder; absent without one.
    var action: String?
}
