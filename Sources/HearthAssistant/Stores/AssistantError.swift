import HearthBase

extension AssistantStores: ErrorDomain {}

/// A failure of the assistant: of its stores, actions or conversations.
public typealias AssistantError = HearthError<AssistantStores>

extension ErrorCode<AssistantStores> {
    /// Another program has changed the record since it was read.
    public static var changedElsewhere: Self { "changed-elsewhere" }
    /// No record fits the description.
    public static var noSuchRecord: Self { "no-such-record" }
    /// Several records fit the description.
    public static var ambiguousRecord: Self { "ambiguous-record" }
    /// A record in a file cannot be read.
    public static var unusableRecord: Self { "unusable-record" }
    /// A file has more records than one import takes.
    public static var tooManyRecords: Self { "too-many-records" }
    /// The person has not decided whether the app may use their calendars, reminders or contacts.
    public static var accessUndecided: Self { "access-undecided" }
    /// A restriction of the device forbids the app to use them.
    public static var accessRestricted: Self { "access-restricted" }
    /// The person does not allow the app to use them.
    public static var accessDenied: Self { "access-denied" }
    /// The app may add events and read none.
    public static var accessWriteOnly: Self { "access-write-only" }
    /// The device was not unlocked since it started, so its records cannot be read.
    public static var storeLocked: Self { "store-locked" }
    /// A recurrence rule that Hearth does not create.
    public static var unusableRecurrence: Self { "unusable-recurrence" }
    /// The values of an action are missing or wrong.
    public static var unusablePayload: Self { "unusable-payload" }
    /// A search service cannot be used or gave no results that can be read.
    public static var searchFailed: Self { "search-failed" }
    /// An address that no page is read from: of a private network, or in neither the results nor the user's words.
    public static var pageRefused: Self { "page-refused" }
    /// A page has no text that can be read.
    public static var unreadablePage: Self { "unreadable-page" }
    /// A document has more bytes or unpacks to more than is read.
    public static var largeDocument: Self { "large-document" }
    /// A document of a kind that is not read.
    public static var unknownDocument: Self { "unknown-document" }
    /// A document that is cut off, damaged or hostile.
    public static var unreadableDocument: Self { "unreadable-document" }
    /// A document that needs a password.
    public static var encryptedDocument: Self { "encrypted-document" }
    /// A program that reads a document is not installed.
    public static var missingProgram: Self { "missing-program" }
    /// The conversation has no such message.
    public static var noSuchMessage: Self { "no-such-message" }
    /// The name of a folder of conversations is too long or not on one line.
    package static var unusableFolder: Self { "unusable-folder" }
    /// A place in a list that no reply named.
    package static var unusableCursor: Self { "unusable-cursor" }
    /// A file to import is damaged, cut off or of another kind.
    package static var importUnreadable: Self { "import-unreadable" }
    /// A file to import, or a conversation in it, is larger than the limits.
    package static var importTooLarge: Self { "import-too-large" }
    /// An archive to import has entries that no export has.
    package static var importUnsafe: Self { "import-unsafe" }
    /// A conversation to import is in no known format.
    package static var importUnknown: Self { "import-unknown-format" }
    /// The messages of a conversation to import form a circle.
    package static var importCircle: Self { "import-circle" }
    /// A date of a conversation to import cannot be read.
    package static var importDate: Self { "import-date" }
    /// An id or a title of a conversation to import cannot be kept.
    package static var importName: Self { "import-name" }
    /// The conversation to import is being answered.
    package static var importBusy: Self { "import-busy" }
    /// An action that did not happen, changed no record, or is older than 30 days.
    public static var cannotBeUndone: Self { "cannot-be-undone" }
}
