/// A contact of the user's address books.
public struct Contact: Sendable, Hashable, Identifiable {
    /// A labelled number or address, such as `home`.
    public struct Entry: Sendable, Hashable {
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

    public init(
        id: String, collection: String, name: String, nicknames: [String] = [], numbers: [Entry] = [],
        mails: [Entry] = [], organization: String = "", note: String = ""
    ) {
        self.id = id
        self.collection = collection
        self.name = name
        self.nicknames = nicknames
        self.numbers = numbers
        self.mails = mails
        self.organization = organization
        self.note = note
    }
}

/// The contacts of the user, for reading.
///
/// A store over Apple's Contacts reads a `CNContact` with the keys of these values, over Evolution the text of
/// `e_book_client_get_contacts_sync`. The labels are those of vCards, in lower case: `home`, `work`, `cell`.
public protocol ContactStore: Sendable {
    /// The number of records that the store cannot read, and skips.
    var unreadable: Int { get async throws }

    /// The contacts whose name, nickname, number or mail address contains the words, without regard to accents and case;
    /// the best first, at most `limit`. Empty words match all.
    func contacts(matching words: String, limit: Int) async throws -> [Contact]
}

extension ContactStore {
    /// Zero, for a store that reads all of its records.
    public var unreadable: Int { 0 }
}
