/// The notes of seed 001.
public typealias NotesStore = NoteStore

/// The contacts of seed 001.
public typealias ContactsService = ContactStore
