import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthAssistant

@Suite struct NoteFileTests {
    private static let date = Date(timeIntervalSince1970: 1_800_000_000.25)

    private static func note(_ title: String, _ body: String = "text", id: String = "id") -> Note {
        Note(id: id, title: title, body: body, created: date, changed: date.addingTimeInterval(3600))
    }

    private static let hostile = [
        note("Plain"), note("", ""), note("---", "---\n---\n"), note("a\nb: c\"\\", "\r\n\r\nx\r\n"),
        note("Emoji 👩‍👩‍👧", "\u{FEFF}mark"), note("NUL\u{0}", "a\u{0}b"), note("../../etc/passwd", "", id: "../x\n---"),
        note("CON", "no newline"), note(String(repeating: "é", count: 500)), note("日本語", "\n\n---\ntitle: no\n---\n"),
        note("same", "1", id: "1"), note("Same", "2", id: "2"), note("SAME", "3", id: "3"),
    ]

    @Test(arguments: hostile) func aFileGivesTheSameNote(_ note: Note) {
        let read = NoteFile.note(from: NoteFile.text(of: note), path: "x.md", modified: .distantPast)
        #expect(read == note)
    }

    @Test func aFolderGivesTheSameNotes() async throws {
        let folder = try TemporaryFolder()
        let notes = Self.hostile.enumerated().map { index, note in
            var note = note
            note.id += "-\(index)"
            return note
        }
        let names = try await NoteFolder.write(notes, to: folder.path("notes"))
        #expect(Set(names.map { $0.lowercased() }).count == notes.count)
        #expect(names.allSatisfy { PathComponent($0) != nil && !$0.hasPrefix(".") })
        let read = try await NoteFolder.read(folder.path("notes"))
        #expect(read.unreadable == [])
        #expect(Set(read.notes) == Set(notes))
        // Writing again replaces the files.
        #expect(try await NoteFolder.write(notes, to: folder.path("notes")) == names)
        #expect(try LocalFileSystem().contents(of: folder.path("notes")).count == notes.count)
    }

    @Test(arguments: [
        ("Plain", "Plain"), ("a/b\\c:d", "a b c d"), ("../..", "note"), ("", "note"), ("con", "note con"),
        (".hidden", "hidden"), ("trailing. ", "trailing"), ("tab\tnew\nline", "tab new line"), ("~a-", "a"),
        ("\u{202E}gnp.exe", "gnp.exe"), ("Größe 日本", "Größe 日本"),
    ])
    func namesAreSafe(_ title: String, _ name: String) { #expect(NoteFile.name(of: Self.note(title)) == name) }

    @Test func otherProgramsNotesAreRead() async throws {
        let folder = try TemporaryFolder()
        try folder.write("work/plan.md", Data("# The plan\n\nDo it.\n".utf8))
        try folder.write("bare.MD", Data("no heading".utf8))
        try folder.write(
            "obsidian.md",
            Data("---\r\ntitle: 'It''s here'\r\ntags: [a, b]\r\ncreated: 2026-01-02T03:04:05+01:00\r\n---\r\nBody".utf8)
        )
        try folder.write("unfinished.md", Data("---\ntitle: x\n".utf8))
        try folder.write("latin1.md", Data([0x66, 0xFC, 0x72]))
        try folder.write(".obsidian/hidden.md", Data("hidden".utf8))
        try folder.write("picture.png", Data([1]))
        let read = try await NoteFolder.read(folder.path)
        let byTitle = Dictionary(uniqueKeysWithValues: read.notes.map { ($0.title, $0) })
        #expect(Set(byTitle.keys) == ["The plan", "bare", "It's here", "unfinished"])
        #expect(byTitle["It's here"]?.body == "Body")
        #expect(byTitle["It's here"]?.created == Timestamp("2026-01-02T02:04:05Z")?.date)
        #expect(byTitle["unfinished"]?.body == "---\ntitle: x\n")
        #expect(read.unreadable == ["latin1.md"])
        // The same files are the same notes.
        #expect(try await Set(NoteFolder.read(folder.path).notes.map(\.id)) == Set(read.notes.map(\.id)))
    }

    @Test(arguments: [
        (0, "1970-01-01T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.999Z"),
        (951_782_400_000, "2000-02-29T00:00:00.000Z"),
        (253_402_300_799_999, "9999-12-31T23:59:59.999Z"), (-62_135_596_800_000, "0001-01-01T00:00:00.000Z"),
    ])
    func timesAreWrittenAndRead(_ milliseconds: Int64, _ text: String) {
        #expect(Timestamp(milliseconds: milliseconds).description == text)
        #expect(Timestamp(text)?.milliseconds == milliseconds)
        #expect(Timestamp(Timestamp(milliseconds: milliseconds).date).milliseconds == milliseconds)
    }

    @Test(arguments: ["", "2026-02-30T00:00:00Z", "2026-01-01", "2026-01-01T24:00:00Z", "2026-01-01T00:00:00", "x"])
    func otherTimesAreRefused(_ text: String) { #expect(Timestamp(text) == nil) }
}
