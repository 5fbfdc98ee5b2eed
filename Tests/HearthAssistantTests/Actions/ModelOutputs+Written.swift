@testable import HearthAssistant

extension ModelOutput {
    private static let note = #"[NOTE_ACTION:{"action":"create","title":"a","body":"b"}]"#
    private static let remind = #"[REMINDER_ACTION:{"action":"create","title":"a"}]"#

    /// Broken and hostile answers, and blocks in unusual places.
    static let written: [ModelOutput] = [
        ModelOutput("empty", "", visible: ""),
        ModelOutput("white space alone", " \n\t\n", visible: " \n\t\n"),
        ModelOutput("plain text", "a [b](c) [d] [[e]] x[0]", visible: "a [b](c) [d] [[e]] x[0]"),
        ModelOutput("an opening alone", "[NOTE_ACTION:", visible: "[NOTE_ACTION:"),
        ModelOutput("an opening with text", "[NOTE_ACTION: later]", visible: "[NOTE_ACTION: later]"),
        ModelOutput("half an opening", "see [NOTE_ACT", visible: "see [NOTE_ACT"),
        ModelOutput("an opening after brackets", "[[NOTE_ACTION:{}]", visible: "[", tags: [.note], malformed: 1),
        ModelOutput(
            "half an opening, then a block", "[NOTE_[NOTE_ACTION:{}]", visible: "[NOTE_", tags: [.note], malformed: 1),
        ModelOutput("lower case", "[note_action:{}]", visible: "[note_action:{}]"),
        ModelOutput("an unknown tag", #"[MAIL_ACTION:{"to":"a"}]"#, visible: #"[MAIL_ACTION:{"to":"a"}]"#),
        ModelOutput("a longer tag", "[NOTE_ACTIONS:{}]", visible: "[NOTE_ACTIONS:{}]"),
        ModelOutput("a space before the colon", "[NOTE_ACTION :{}]", visible: "[NOTE_ACTION :{}]"),
        ModelOutput("a list as payload", "[NOTE_ACTION:[1]]", visible: "[NOTE_ACTION:[1]]"),
        ModelOutput(
            "white space in the block", "[NOTE_ACTION: \n {\"action\" : \"create\",\n \"title\":\"a\"}\n ]x",
            visible: "x",
            tags: [.note], cards: [.done], effects: [.notes: 1]),
        ModelOutput(
            "no closing bracket", note.dropLast() + "\n\nBye", visible: "Bye", tags: [.note], cards: [.done],
            effects: [.notes: 1]),
        ModelOutput(
            "a brace too many", note.dropLast() + "}] Bye", visible: "Bye", tags: [.note], cards: [.done],
            effects: [.notes: 1]),
        ModelOutput(
            "no closing brace", #"A [NOTE_ACTION:{"action":"create","title":"a"] B"#, visible: "A B", tags: [.note],
            malformed: 1),
        ModelOutput(
            "an open list", #"[NOTE_ACTION:{"action":"create","title":["a"}] B"#, visible: "B", tags: [.note],
            malformed: 1),
        ModelOutput("an open string", #"A [NOTE_ACTION:{"title":"a}] B"#, visible: "A", tags: [.note], malformed: 1),
        ModelOutput("no JSON", "[NOTE_ACTION:{title: a}] B", visible: "B", tags: [.note], malformed: 1),
        ModelOutput("single quotes", "[NOTE_ACTION:{'action':'create'}]", visible: "", tags: [.note], malformed: 1),
        ModelOutput("an empty object", "[NOTE_ACTION:{}]", visible: "", tags: [.note], malformed: 1),
        ModelOutput(
            "an unknown action", #"[NOTE_ACTION:{"action":"erase"}]"#, visible: "", tags: [.note], malformed: 1),
        ModelOutput(
            "a field twice", #"[NOTE_ACTION:{"action":"create","title":"a","title":"b"}]"#, visible: "", tags: [.note],
            malformed: 1),
        ModelOutput(
            "a comma too many", #"[NOTE_ACTION:{"action":"create","title":"a",}]"#, visible: "", tags: [.note],
            cards: [.done], effects: [.notes: 1]),
        ModelOutput(
            "a number as text", #"[NOTE_ACTION:{"action":"create","title":2026}]"#, visible: "", tags: [.note],
            cards: [.done], effects: [.notes: 1]),
        ModelOutput(
            "text as a number",
            #"[REMINDER_ACTION:{"action":"create","title":"a","due":"2026-11-25","alarmMinutes":"15"}]"#,
            visible: "", tags: [.reminder], cards: [.done], effects: [.reminders: 1]),
        ModelOutput(
            "a wrong type", #"[NOTE_ACTION:{"action":"create","title":{"a":1}}]"#, visible: "", tags: [.note],
            malformed: 1),
        ModelOutput(
            "a day that does not exist", #"[REMINDER_ACTION:{"action":"create","title":"a","due":"2026-02-30"}]"#,
            visible: "", tags: [.reminder], malformed: 1),
        ModelOutput(
            "a zone that does not exist",
            #"[CALENDAR_ACTION:{"action":"create","title":"a","start":"2026-11-25T10:00","timeZone":"Moon/Base"}]"#,
            visible: "", tags: [.calendar], malformed: 1),
        ModelOutput(
            "an end before the start",
            #"[CALENDAR_ACTION:{"action":"create","title":"a","start":"2026-11-25T10:00","end":"2026-11-25T09:00"}]"#,
            visible: "", tags: [.calendar], malformed: 1),
        ModelOutput(
            "a raw line break in a string", "[NOTE_ACTION:{\"action\":\"create\",\"title\":\"a\",\"body\":\"b\nc\"}]",
            visible: "", tags: [.note], cards: [.done], effects: [.notes: 1]),
        ModelOutput(
            "a block in a string",
            #"[NOTE_ACTION:{"action":"create","title":"[REMINDER_ACTION:{\"action\":\"list\"}]"}]x"#, visible: "x",
            tags: [.note], cards: [.done], effects: [.notes: 1]),
        ModelOutput(
            "escapes in a string", #"[NOTE_ACTION:{"action":"create","title":"a\\","body":"\"}]\u005d"}]x"#,
            visible: "x",
            tags: [.note], cards: [.done], effects: [.notes: 1]),
        ModelOutput(
            "unknown fields", #"[NOTE_ACTION:{"action":"create","title":"a","color":{"r":[1]}}]"#, visible: "",
            tags: [.note], cards: [.done], effects: [.notes: 1]),
        ModelOutput(
            "twice the same", "\(note)\n\(note)", visible: "", tags: [.note, .note], cards: [.done],
            effects: [.notes: 1]),
        ModelOutput(
            "the order of tags", "A\n\(remind)\n\(note)\nB", visible: "A\nB", tags: [.reminder, .note],
            cards: [.done, .done], effects: [.notes: 1, .reminders: 1]),
        ModelOutput(
            "a habit defined and logged in reverse",
            #"[HABIT_ACTION:{"action":"define","name":"run"}][HABIT_ACTION:{"action":"log","name":"run"}]"#,
            visible: "",
            tags: [.habit, .habit], cards: [.done, .done], effects: [.habits: 2]),
        ModelOutput(
            "a habit without definition", #"[HABIT_ACTION:{"action":"log","name":"run"}]"#, visible: "", tags: [.habit],
            cards: [.failed]),
        ModelOutput(
            "good and broken", "\(note) [REMINDER_ACTION:{}] x", visible: "x", tags: [.note, .reminder], cards: [.done],
            malformed: 1, effects: [.notes: 1]),
        ModelOutput(
            "punctuation after a block", "Done \(note).", visible: "Done.", tags: [.note], cards: [.done],
            effects: [.notes: 1]),
        ModelOutput(
            "no space around a block", "a\(note)b", visible: "ab", tags: [.note], cards: [.done], effects: [.notes: 1]),
        ModelOutput(
            "a list item after a block", "\(note)\n\n- a\n  - b", visible: "- a\n  - b", tags: [.note], cards: [.done],
            effects: [.notes: 1]),
        ModelOutput(
            "indentation after a block", "- a\n\(note)\n  - b", visible: "- a\n  - b", tags: [.note], cards: [.done],
            effects: [.notes: 1]),
        ModelOutput(
            "many blank lines", "a\n\n\n\n\(note)\n\n\n\nb", visible: "a\n\nb", tags: [.note], cards: [.done],
            effects: [.notes: 1]),
        ModelOutput("blank lines without a block", "a\n\n\n\nb \n", visible: "a\n\n\n\nb \n"),
        ModelOutput("a fence of tildes", "~~~\n\(note)\n~~~", visible: "~~~\n\(note)\n~~~"),
        ModelOutput("a fence without end", "```json\n\(note)\n", visible: "```json\n\(note)\n"),
        ModelOutput(
            "a fence before a block", "```\nx\n```\n\(note)", visible: "```\nx\n```", tags: [.note], cards: [.done],
            effects: [.notes: 1]),
        ModelOutput(
            "inline code is no fence", "`a` \(note)", visible: "`a`", tags: [.note], cards: [.done],
            effects: [.notes: 1]),
        ModelOutput(
            "terminal escapes", #"[NOTE_ACTION:{"action":"create","title":"\u001b[2Ja\u202eb\u200bc"}]"#, visible: "",
            tags: [.note], cards: [.done], effects: [.notes: 1]),
        ModelOutput(
            "deep nesting",
            "[NOTE_ACTION:{\"a\":" + String(repeating: "[", count: 500) + String(repeating: "]", count: 500)
                + "}] x", visible: "x", tags: [.note], malformed: 1),
        ModelOutput(
            "a payload that is too large",
            "[NOTE_ACTION:{\"action\":\"create\",\"title\":\"" + String(repeating: "x", count: 70_000) + "\"}]y",
            visible: "y", tags: [.note], malformed: 1),
        ModelOutput(
            "a title that is too long",
            "[NOTE_ACTION:{\"action\":\"create\",\"title\":\"" + String(repeating: "x", count: 400) + "\"}]",
            visible: "",
            tags: [.note], malformed: 1),
    ]
}
