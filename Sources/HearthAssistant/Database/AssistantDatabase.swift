import HearthBase
import HearthDatabase

/// The assistant's file `hearth.db`: conversations, notes, habits and the journal of actions.
package enum AssistantDatabase {
    /// Opens `hearth.db` in a home folder, or creates it.
    /// - Parameter home: the folder; `nil` for a database in memory.
    /// - Throws: `DatabaseError`.
    package static func open(home: Path?, busyTimeout: Duration = .seconds(5)) async throws -> Database {
        try await Database(path: home?.appending("hearth.db"), migrations: migrations, busyTimeout: busyTimeout)
    }

    /// The index of the messages' words. Its rows have the numbers of the messages.
    ///
    /// Beginnings of three to five letters have indexes of their own: the most frequent words are that short, and without
    /// the indexes a search for two of them reads most of the file.
    static let messageWords = """
        CREATE VIRTUAL TABLE message_words USING fts5(
            words, pairs, tokenize = 'ascii', prefix = '3 4 5', columnsize = 0);
        """

    /// The index of the conversations' titles. Its rows have the numbers of the conversations.
    static let conversationWords = """
        CREATE VIRTUAL TABLE conversation_words USING fts5(
            words, pairs, tokenize = 'ascii', prefix = '3', columnsize = 0);
        """

    /// The steps to the present schema. Dates are seconds since 2001, but for those of notes and habits: milliseconds since
    /// 1970.
    static let migrations = [
        Migration(
            1,
            """
            CREATE TABLE conversation(
                number INTEGER PRIMARY KEY,
                id TEXT NOT NULL UNIQUE,
                title TEXT NOT NULL,
                created REAL NOT NULL,
                changed REAL NOT NULL,
                messages INTEGER NOT NULL DEFAULT 0,  -- the number of messages of all branches
                leaf TEXT
            ) STRICT;
            CREATE INDEX conversation_changed ON conversation(changed);

            CREATE TABLE message(
                number INTEGER PRIMARY KEY,
                conversation INTEGER NOT NULL REFERENCES conversation(number) ON DELETE CASCADE,
                id TEXT NOT NULL,
                parent TEXT,
                role TEXT NOT NULL,
                date REAL NOT NULL,
                content TEXT NOT NULL,
                thinking TEXT NOT NULL,
                raw TEXT,
                extras TEXT,  -- JSON of cards, notices, facts and results; NULL without them
                pictures INTEGER NOT NULL DEFAULT 0,
                indexed INTEGER NOT NULL DEFAULT 0,  -- whether message_words has the present content
                UNIQUE(conversation, id)
            ) STRICT;
            CREATE INDEX message_to_index ON message(number) WHERE indexed = 0;
            \(messageWords)

            CREATE TABLE picture(
                number INTEGER PRIMARY KEY,
                digest TEXT NOT NULL UNIQUE,  -- SHA-256, hexadecimal
                bytes BLOB NOT NULL
            ) STRICT;
            CREATE TABLE message_picture(
                message INTEGER NOT NULL REFERENCES message(number) ON DELETE CASCADE,
                position INTEGER NOT NULL,
                picture INTEGER NOT NULL REFERENCES picture(number),
                PRIMARY KEY(message, position)
            ) STRICT, WITHOUT ROWID;
            CREATE INDEX picture_use ON message_picture(picture);

            CREATE TABLE note(
                number INTEGER PRIMARY KEY,
                id TEXT NOT NULL UNIQUE,
                title TEXT NOT NULL,
                body TEXT NOT NULL,
                created INTEGER NOT NULL,
                changed INTEGER NOT NULL
            ) STRICT;
            CREATE INDEX note_changed ON note(changed);
            CREATE VIRTUAL TABLE note_words USING fts5(title, body, pairs, tokenize = 'ascii', prefix = '3');

            CREATE TABLE habit(
                number INTEGER PRIMARY KEY,
                id TEXT NOT NULL UNIQUE,
                name TEXT NOT NULL,
                folded_name TEXT NOT NULL UNIQUE,  -- without case and accents
                frequency TEXT NOT NULL,
                created INTEGER NOT NULL
            ) STRICT;
            CREATE TABLE habit_day(
                habit INTEGER NOT NULL REFERENCES habit(number) ON DELETE CASCADE,
                day TEXT NOT NULL,  -- such as 2026-11-24
                amount REAL NOT NULL,
                PRIMARY KEY(habit, day)
            ) STRICT, WITHOUT ROWID;

            CREATE TABLE action_journal(
                key TEXT PRIMARY KEY,  -- the idempotency key
                conversation TEXT NOT NULL,
                message TEXT NOT NULL,
                tag TEXT NOT NULL,
                state TEXT NOT NULL,
                card TEXT NOT NULL,  -- JSON
                changes TEXT NOT NULL,  -- JSON of the record changes
                created REAL NOT NULL,
                changed REAL NOT NULL
            ) STRICT;
            CREATE INDEX action_created ON action_journal(created);
            CREATE INDEX action_state ON action_journal(state);
            """),
        // The source of texts that others wrote.
        Migration(2, "ALTER TABLE note ADD COLUMN source TEXT; ALTER TABLE habit ADD COLUMN source TEXT;"),
        // What has rung. Times are seconds since 1970.
        Migration(
            3,
            """
            CREATE TABLE ring(
                id TEXT PRIMARY KEY,  -- of the alarm: its record, its start or due time, and its moment
                moment INTEGER NOT NULL,
                late INTEGER NOT NULL,
                state TEXT NOT NULL,  -- open, snoozed, ended
                again INTEGER  -- the end of a snooze
            ) STRICT, WITHOUT ROWID;
            CREATE TABLE ring_look(
                one INTEGER PRIMARY KEY CHECK (one = 1),
                looked INTEGER NOT NULL  -- the time before which all alarms have rung
            ) STRICT;
            """),
        // The settings of a conversation, JSON; NULL without any.
        Migration(4, "ALTER TABLE conversation ADD COLUMN settings TEXT;"),
        // Pins, the archive and folders; the search over titles, and over all messages by conversation.
        Migration(
            5,
            """
            ALTER TABLE conversation ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0;
            ALTER TABLE conversation ADD COLUMN archived INTEGER NOT NULL DEFAULT 0;
            ALTER TABLE conversation ADD COLUMN folder TEXT;
            -- whether conversation_words has the present title
            ALTER TABLE conversation ADD COLUMN indexed INTEGER NOT NULL DEFAULT 0;
            CREATE INDEX conversation_list ON conversation(archived, pinned, changed, number);
            CREATE INDEX conversation_folder ON conversation(folder, archived) WHERE folder IS NOT NULL;
            CREATE INDEX conversation_to_index ON conversation(number) WHERE indexed = 0;
            CREATE TRIGGER conversation_title AFTER UPDATE OF title ON conversation WHEN old.title IS NOT new.title
            BEGIN UPDATE conversation SET indexed = 0 WHERE number = new.number; END;
            -- A search reads these columns without the texts.
            CREATE INDEX message_place ON message(number, conversation, date);
            \(conversationWords)
            """),
    ]
}
