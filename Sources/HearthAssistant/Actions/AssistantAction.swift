import Foundation

/// The circumstances of an action.
public struct ActionContext: Sendable {
    /// The idempotency key: the same block of the same answer has the same key, and so the same records.
    public var key: String
    /// The moment of the user's message.
    public var now: Date
    /// The user's time zone.
    public var timeZone: TimeZone
    /// The user's language and formats.
    public var locale: Locale

    public init(key: String, now: Date, timeZone: TimeZone = .current, locale: Locale = .current) {
        self.key = key
        self.now = now
        self.timeZone = timeZone
        self.locale = locale
    }
}

/// What an action would do, computed without doing it.
public struct ActionPlan: Sendable {
    /// What the user has to know before the action: whether it may run unasked.
    package enum Effect: Sendable, Hashable {
        /// Reads the user's own data.
        case reads
        /// Changes the user's data.
        case changes
        /// Sends a query off the device.
        case sends
    }

    /// The result of an action.
    package struct Result: Sendable {
        /// The results of a list or search, which the next turn sees as bounded, untrusted data.
        package var items: [ActionCard.Item] = []
        /// The items as the model sees them, if it may not see all of their texts; `nil` for ``items``.
        package var itemsForModel: [ActionCard.Item]?
        /// What a person needs to know besides.
        package var note: String?
        /// The stable name of the note.
        package var noteCode: String?
        /// Where the items are from, if their texts were written by others, such as `contacts`; `nil` for the user's own.
        package var outsideSource: String?
    }

    /// What the action does, such as `New reminder`.
    public var title: String
    /// The stable name of what it does, such as `new-reminder`; `nil` for actions of apps.
    package var code: String?
    public var fields: [ActionCard.Field]
    package var effect: Effect
    /// The changes of records, which the journal makes happen once or not at all and which can be undone.
    package var changes: [RecordChange]
    /// What cannot be undone, or who will ring.
    public var note: String?
    /// The sentences of the note, where all of them have names.
    package var remarks: [ActionCard.Remark] = []
    /// Reads, or does what is no record of a store.
    package var perform: @Sendable () async throws -> Result

    /// Makes a plan.
    /// - Parameters:
    ///   - asks: whether the user is asked first. An action that only reads the user's own data need not ask.
    ///   - perform: does it, and returns what a person needs to know besides.
    public init(
        title: String, fields: [ActionCard.Field] = [], asks: Bool = true, note: String? = nil,
        perform: @escaping @Sendable () async throws -> String?
    ) {
        self.init(title: title, fields: fields, effect: asks ? .changes : .reads, note: note) {
            Result(note: try await perform())
        }
    }

    package init(
        title: String, code: String? = nil, fields: [ActionCard.Field] = [], effect: Effect,
        changes: [RecordChange] = [],
        remarks: [ActionCard.Remark] = [], note: String? = nil,
        perform: @escaping @Sendable () async throws -> Result = { Result() }
    ) {
        self.title = title
        self.code = code
        self.fields = fields
        self.effect = effect
        self.changes = changes
        self.note = note ?? remarks.text
        self.remarks = remarks
        self.perform = perform
    }
}

/// An action that a model can write as a block or call as a tool.
///
/// The payload is checked against ``schema`` while the model writes it, and again when it is decoded.
public protocol AssistantAction: Sendable {
    /// The values of the block.
    associatedtype Payload: Codable & Sendable

    var tag: ActionTag { get }
    /// The use of the action, one line for the prompt.
    var purpose: String { get }
    /// The JSON schema of the payload: each string, array and number is bounded, so that a block ends within 256 tokens.
    var schema: String { get }
    /// The schema for models that call the action as a tool, an object without alternatives; ``schema`` by default.
    var toolSchema: String { get }

    /// Computes what the action would do. Changes nothing.
    /// - Throws: ``AssistantError``: `unusable-payload` and the like, which the model may repair once.
    func plan(_ payload: Payload, in context: ActionContext) async throws -> ActionPlan
}

extension AssistantAction {
    public var toolSchema: String { schema }
}
