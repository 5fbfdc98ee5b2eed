/// An action of an answer as people see it: what it would do or did, with its values.
public struct ActionCard: Sendable, Hashable, Codable, Identifiable {
    /// The progress of an action.
    public enum State: String, Sendable, Hashable, Codable, CaseIterable {
        /// Waits for the user's approval.
        case proposed
        /// Not carried out, since the answer is not complete; the user can still do it.
        case notCarriedOut = "not-carried-out"
        case done
        case declined
        case failed
        case undone
        /// The process ended during the action, and the record does not tell whether it happened.
        case unknown
    }

    /// One value of the action.
    public struct Field: Sendable, Hashable, Codable {
        /// The name in the payload, such as `start`.
        public var name: String
        public var label: String
        public var value: String
        /// Where the value occurs literally in a text from outside, such as `web page example.org`; `nil` where it does not.
        public var source: String?
        /// The value as a program reads it, from which a shell makes its own words: a time or day of ISO 8601, two of them
        /// with `/` between them, an RRULE, a number, a code. `nil` for text, which is the same in all languages.
        package var raw: String?

        /// Makes a field. Characters of the value that display as nothing become visible marks.
        public init(name: String, label: String, value: String, source: String? = nil) {
            self.name = name
            self.label = ShownText.of(label)
            self.value = ShownText.of(value)
            self.source = source
        }
    }

    /// One result of a list or search.
    public struct Item: Sendable, Hashable, Codable {
        /// Identifies the record in its store; empty for none.
        public var id = ""
        public var title: String
        public var detail = ""
        /// The address of a web page.
        public var url: String?

        package init(id: String = "", title: String, detail: String = "", url: String? = nil) {
            self.id = id
            self.title = ShownText.of(title)
            self.detail = ShownText.of(detail)
            self.url = url
        }
    }

    /// One sentence of the note, with its stable name and the values in it, from which a shell makes its own words.
    package struct Remark: Sendable, Hashable, Codable {
        package var code: String
        package var text: String
        /// Names, numbers and times in the sentence.
        package var values: [String] = []

        init(_ code: String, _ text: String, _ values: [String] = []) {
            self.code = code
            self.text = ShownText.of(text)
            self.values = values.map(ShownText.of)
        }
    }

    /// The idempotency key of the action.
    public let id: String
    public let tag: ActionTag
    /// What the action does, such as `New reminder`.
    public var title: String
    /// The stable name of what it does, such as `new-reminder`; `nil` for actions of apps.
    package var code: String?
    /// The values. Each text of a card has visible marks in place of characters that display as nothing, such as `‹U+202E›`;
    /// the values in ``payload`` and in records have the characters.
    public var fields: [Field] = []
    public var items: [Item] = []
    public var state: State
    /// The payload of the block, JSON, which the user may edit before approval.
    public var payload: String
    /// What a person needs to know besides: why it failed, who will ring, what cannot be undone.
    public var note: String? { didSet { note = note.map(ShownText.of) } }
    /// The sentences of the note, where all of them have names.
    package var remarks: [Remark]?
    /// Whether the action can be undone once done.
    public var canUndo = false
    /// Whether the user is asked about it now; only shells that show cards elsewhere set it.
    package var isWaiting: Bool?
    /// The names of the values that the user may change; only shells that show cards elsewhere set it.
    package var editable: [String]?

    /// Adds sentences to the note.
    mutating func add(_ more: [Remark]) {
        guard !more.isEmpty else { return }
        // A note of other sentences has no names.
        let named = note == nil || remarks?.text == note
        note = [note, more.text].compactMap(\.self).joined(separator: " ").nonEmpty
        remarks = named ? (remarks ?? []) + more : nil
    }

    package init(
        id: String, tag: ActionTag, title: String, fields: [Field] = [], items: [Item] = [], state: State,
        payload: String, note: String? = nil, canUndo: Bool = false
    ) {
        self.id = id
        self.tag = tag
        self.title = ShownText.of(title)
        self.fields = fields
        self.items = items
        self.state = state
        self.payload = payload
        self.note = note.map(ShownText.of)
        self.canUndo = canUndo
    }
}

extension [ActionCard.Remark] {
    /// The sentences; `nil` for none.
    var text: String? { map(\.text).joined(separator: " ").nonEmpty }
}
