/// A contact of the user's address books.
public struct Contact: UserRecord {
    public static var kind: StoreKind { .contacts }
    public static var empty: Self { Self(name: "") }

    /// A labelled number or address, such as `home`.
    public struct Entry: Sendable, Hashable, Codable {
        /// The label, in lower case; empty without one.
        public var label: String
        public var value: String

        public init(label: String, value: String) {
            self.label = label
            self.value = value
        }
    }

    /// The UID.
    public var id: String
    /// The address book.
    public var collection: String
    public var name: String
    public var nicknames: [String]
    public var numbers: [Entry]
    public var mails: [Entry]
    public var organization: String
    public var note: String
    /// A day such as `1980-02-29`, or `--02-29` without a year; `nil` for none.
    public var birthday: String?
    /// Where its texts are from if others wrote them, such as `calendar team`; `nil` for the user's own.
    public var source: String?

    public init(
        id: String = "", collection: String = "", name: String, nicknames: [String] = [], numbers: [Entry] = [],
        mails: [Entry] = [], organization: String = "", note: String = "", birthday: String? = nil,
        source: String? = nil
    ) {
        self.id = id
        self.collection = collection
        self.name = name
        self.nicknames = nicknames
        self.numbers = numbers
        self.mails = mails
        self.organization = organization
        self.note = note
        self.birthday = birthday
        self.source = source
    }

    public var displayName: String { name }

    private enum CodingKeys: String, CodingKey {
        case id, name, nicknames, numbers, mails, organization, note, birthday, source
        case collection = "book"
    }
}

/// The contacts of the user. Words are looked for in name, nickname, number and mail address.
///
/// The labels of entries are those of vCards, in lower case: `home`, `work`, `cell`.
public typealias ContactStore = RecordStore<Contact>
