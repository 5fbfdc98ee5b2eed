import Foundation
import HearthBase

/// Imports conversations of a file: an export of this program, of ChatGPT or of Open WebUI.
///
/// Each conversation is kept whole or not at all. One that is here already gets only the messages that are missing, so a
/// second import changes nothing.
package struct ConversationImport: Sendable {
    /// A conversation that was not imported.
    package struct Refusal: Sendable, Hashable, Codable {
        /// The place in the file, from 1.
        package var number: Int
        package var code: String
        package var message: String
    }

    /// What an import did.
    package struct Report: Sendable, Hashable, Codable {
        /// The conversations that are new here.
        package var imported = 0
        /// Those that were here and got messages.
        package var updated = 0
        /// Those that were here with all messages.
        package var skipped = 0
        package var refused = 0
        /// The first refused ones, at most 100.
        package var refusals: [Refusal] = []
        /// The ids of new and updated conversations.
        package var changed: [String] = []

        package init() {}
    }

    /// The most bytes of a file.
    package static let maximumSize: UInt64 = 200 << 20

    private let store: any ConversationStore
    private let now: Date
    /// Whether a conversation cannot be changed now.
    private let isBusy: @Sendable (String) async -> Bool

    package init(
        into store: any ConversationStore, now: Date,
        isBusy: @escaping @Sendable (String) async -> Bool = { _ in false }
    ) {
        (self.store, self.now, self.isBusy) = (store, now, isBusy)
    }

    /// Imports a file.
    /// - Parameter scratch: an empty folder for unpacked parts.
    /// - Throws: ``AssistantError`` with a code that begins with `import-` if nothing of the file can be read; `FileError`,
    ///   `DatabaseError`, `CancellationError`.
    package func run(_ file: Path, scratch: Path) async throws -> Report {
        var report = Report()
        try await run(file, scratch: scratch, &report)
        return report
    }

    /// The same; `report` tells also what was done before an error.
    package func run(_ file: Path, scratch: Path, _ report: inout Report) async throws {
        let now = now
        let documents = try await blocking { try Self.documents(file, scratch: scratch) }
        var number = 0
        for document in documents {
            for place in document.places {
                try Task.checkCancellation()
                number += 1
                do {
                    let read = try await blocking { try ImportedConversation.read(document, place, now: now) }
                    try await add(read, &report)
                } catch let error as AssistantError {
                    report.refused += 1
                    guard report.refusals.count < 100 else { continue }
                    report.refusals.append(Refusal(number: number, code: error.codeText, message: error.message))
                }
            }
        }
    }

    private func add(_ document: ConversationExport, _ report: inout Report) async throws {
        let id = document.conversation.id
        guard await !isBusy(id) else {
            throw AssistantError(.importBusy, "the conversation is being answered", disposition: .tryLater)
        }
        switch try await store.add(document) {
        case .created:
            report.imported += 1
            report.changed.append(id)
        case .extended:
            report.updated += 1
            report.changed.append(id)
        case .unchanged: report.skipped += 1
        }
    }

    /// The parts of a file. Nothing of it is kept before all parts are found.
    private static func documents(_ file: Path, scratch: Path) throws -> [ImportDocument] {
        let size = try LocalFileSystem().status(of: try LocalFileSystem().open(file, .read)).size
        guard size <= maximumSize else {
            throw AssistantError(
                .importTooLarge, "the file is too large to import",
                context: ErrorContext(expected: "at most \(maximumSize) bytes", found: "\(size) bytes"))
        }
        let whole = try mapped(file)
        guard ImportArchive.isArchive(whole.prefix(4)) else { return [try ImportDocument(whole)] }
        return try ImportArchive(archive: file).unpack(into: scratch).map { try ImportDocument(try mapped($0)) }
    }

    private static func mapped(_ file: Path) throws -> Data {
        do {
            return try Data(contentsOf: file.url, options: .mappedIfSafe)
        } catch {
            throw AssistantError(.importUnreadable, "the file cannot be read", underlying: error)
        }
    }
}
