import Foundation
import HearthAssistant
import HearthBase

extension Option where Value == String? {
    /// The file that an export is written to.
    static var exportFile: Self {
        Option("to", "FILE", .word, default: "the standard output", "Write to this new file.")
    }
}

extension Option where Value == Int {
    /// The most rows of a listing.
    static var limit: Self {
        Option(wrappedValue: 100, "limit", "N", .integer(1...100_000), "Show at most so many.")
    }
}

extension Argument where Value == String {
    /// A record's id.
    static var recordID: Self {
        Argument("ID", .word, "The id, or its beginning, as the listing shows it; or the title.")
    }
    static var importFile: Self { Argument("FILE", .word, "The file, or - for the standard input.") }
}

/// A value of a record on the command line, or that the record has none.
enum Clearable<Value: Sendable>: Sendable {
    case value(Value)
    case nothing

    /// The value; `nil` for none.
    var value: Value? { if case .value(let value) = self { value } else { nil } }
}

extension ValueKind {
    /// Words of another kind, and `none`.
    static func orNone<Given>(_ kind: ValueKind<Given>) -> Self where Value == Clearable<Given> {
        Self("\(kind.expectation), or none") { word in
            try word == "none" ? .nothing : kind.parse(word).map { .value($0) }
        }
    }
}

extension CommandContext {
    /// Writes an export to a new file, or to the standard output.
    /// - Throws: `FileError` with `file-exists` if the file exists.
    func export(_ data: Data, to name: String?) async throws {
        guard let name else { return try console.write(String(decoding: data, as: UTF8.self)) }
        let path = Path(name).absolute
        try await blocking {
            let files = LocalFileSystem()
            // An export never replaces a file.
            let file = try files.open(path, .createNew, permissions: 0o600)
            try data.withUnsafeBytes { try files.write(file, $0, at: 0) }
            try files.synchronize(file)
        }
        console.say("Written to \(path).")
    }

    /// Reads a file to import, or the standard input.
    /// - Throws: `FileError`; ``UsageError`` for too long an input.
    func importedFile(_ name: String) async throws -> Data {
        let limit = 64 << 20
        if name == "-" { return Data(try await input.all(limit: limit).utf8) }
        let path = Path(name).absolute
        return try await blocking { try LocalFileSystem().contents(ofFile: path, limit: limit) }
    }

    /// Prints one record: an object for programs, names and values for people.
    func show<Entry: Encodable>(_ entry: Entry, _ format: ListingFormat, _ facts: [(String, String?)]) throws {
        switch format {
        case .json: try console.print(JSON.pretty(entry))
        case .table:
            try console.print(facts.compactMap { fact in fact.1.flatMap { $0.isEmpty ? nil : (fact.0, $0) } })
        }
    }

    /// Prints a change and its action: alone for programs, in a sentence on stderr for people.
    func report(_ edit: RecordEdit, _ sentence: String, _ format: ListingFormat) throws {
        switch format {
        case .json: try console.print(JSON.text(edit))
        case .table: console.say("\(sentence) (\(edit.id.prefix(8))). `hearth undo` takes it back.")
        }
    }

    /// Says which files of a store are not read, and how many records imports have kept that cannot be read.
    func complain<Noun: RecordNoun>(about noun: Noun.Type, _ records: Records) async throws {
        let store = try noun.book(records).store
        let files = try await store.unreadableFiles()
        for file in files { console.complain("not read: \(TerminalText.singleLine(file))") }
        let kept = try await store.unreadableCount() - files.count
        if kept > 0 {
            console.say(
                "\(kept) imported \(kept == 1 ? "record" : "records") cannot be read: `hearth \(noun.name) problems` lists them."
            )
        }
    }

    /// Opens the user's records as plain calls, and closes them after `body`.
    func withRecords<Result: Sendable>(_ body: (Records) async throws -> Result) async throws -> Result {
        try await withAssistantHome { try await body($0.records) }
    }
}
