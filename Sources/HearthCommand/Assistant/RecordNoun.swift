import Foundation
import HearthAssistant
import HearthBase

/// The records of one kind on the command line: their words, the options of their values, and how they are shown.
protocol RecordNoun: Sendable {
    associatedtype Record
    /// The form of a record for programs.
    associatedtype Listed: Encodable = Record
    /// The parameters that choose records of a listing.
    associatedtype Choice: ParameterGroup = NoParameters
    /// The options of a record's values.
    associatedtype Values: RecordOptions where Values.Record == Record
    /// The options of an export.
    associatedtype Form: ParameterGroup = NoParameters

    /// The name of the group of commands.
    static var name: String { get }
    static var help: RecordHelp { get }
    /// What identifies a record.
    static var id: Argument<String> { get }
    /// The argument, and the option, of a record's title or name.
    static var title: (name: String, meaning: String) { get }
    static func setTitle(_ title: String, of record: inout Record)
    static func book(_ records: Records) -> RecordBook<Record>
    static func find(_ word: String, _ records: Records) async throws -> Record
    static func chosen(_ choice: Choice, limit: Int, _ records: Records) async throws -> [Record]
    /// What a listing without rows says.
    static func empty(_ choice: Choice) -> String
    static func listed(_ record: Record, now: Date) -> Listed
    static func columns(id: @escaping (Record) -> String, now: Date) -> [Column<Record>]
    /// The names and values of a record, or its text in Markdown.
    static func facts(_ record: Record, now: Date) -> [(String, String?)]
    static func markdown(_ record: Record) -> String?
    static func exported(_ form: Form, _ records: Records) async throws -> Data
    /// The record as changed in the user's editor; `nil` where a record is not edited as text.
    static func edited(_ record: Record, in context: CommandContext) async throws -> Record?
}

/// Options that give a record values.
protocol RecordOptions: ParameterGroup {
    associatedtype Record: UserRecord
    /// Gives a record the values of the options that are there.
    func apply(to record: inout Record, isNew: Bool, in context: CommandContext) async throws
}

struct NoParameters: ParameterGroup {}

/// The words and optional words of a listing that searches.
struct SearchedWords: ParameterGroup {
    @Argument("WORDS", .word, arity: .optional, "Only those with these words, the best first.") var words: String?
}

extension RecordNoun {
    static var noun: String { Record.kind.noun }
    static var one: String { noun == "event" ? "an event" : "a \(noun)" }

    static var id: Argument<String> { .recordID }
    static var title: (name: String, meaning: String) { ("TITLE", "The title.") }
    static func empty(_ choice: Choice) -> String { "There are no \(noun)s." }
    static func markdown(_ record: Record) -> String? { nil }
    static func edited(_ record: Record, in context: CommandContext) async throws -> Record? { nil }

    static func find(_ word: String, _ records: Records) async throws -> Record {
        let book = book(records)
        if let exact = try await book.record(word) { return exact }
        return try RecordText.only(
            word, among: try await book.find(limit: .max), id: \.id, title: { $0.displayName }, kind: noun,
            listing: "hearth \(name) list")
    }
}

extension RecordNoun where Listed == Record {
    static func listed(_ record: Record, now: Date) -> Record { record }
}

extension RecordNoun where Form == NoParameters {
    static func exported(_ form: Form, _ records: Records) async throws -> Data { try await book(records).export() }
}

extension RecordNoun where Choice == SearchedWords {
    static func chosen(_ choice: SearchedWords, limit: Int, _ records: Records) async throws -> [Record] {
        try await book(records).find(choice.words ?? "", limit: limit)
    }

    static func empty(_ choice: SearchedWords) -> String {
        choice.words == nil ? "There are no \(noun)s." : "Nothing is found."
    }
}

/// The help of a noun's commands.
struct RecordHelp: Sendable {
    /// The summary of the listing.
    let list: String
    var listing = ""
    /// The members of the form for programs.
    let members: String
    /// The verb of the summary of an addition.
    var verb = "Add"
    var adding = ""
    /// The kind of an exported file, such as `iCalendar file`.
    let file: String
    /// The name of an exported file.
    let fileName: String
    var importing = ""
    let listExamples: String
    let addExamples: String
    /// How a record is changed without options, and how values are taken away.
    var editing = ""
    /// An id of the examples, and the options of a change.
    var example = "3f2a91c0"
    let change: String
    /// The names of options without which nothing is added.
    var requiredOptions: [String] = []
}
