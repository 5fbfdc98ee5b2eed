import Foundation
import HearthAssistant
import HearthBase

/// What an import did, as ``ConversationImport/Report`` counts it.
struct ImportBody: Codable, Sendable, Hashable {
    /// New conversations.
    var imported: Int
    /// Conversations that were here and got messages.
    var updated: Int
    /// Conversations that were here with all messages.
    var skipped: Int
    var refused: Int
    /// The first refused ones, at most 100.
    var refusals: [ImportRefusalBody]
}

struct ImportRefusalBody: Codable, Sendable, Hashable {
    /// The place in the file, from 1.
    var number: Int
    var code: String
    var message: String
}

extension ChatDesk {
    /// Imports the conversations of a body, which is written to a file first. One import runs at a time.
    func importChats(_ body: RequestBody) async throws -> ImportBody {
        guard body.declaredLength ?? 0 <= ConversationImport.maximumSize else { throw Self.tooLarge }
        guard !isImporting else { throw Self.importing }
        isImporting = true
        defer { isImporting = false }
        let folder = home.path.appending("import")
        // A process that ended in an import left its files.
        try await blocking { try Self.empty(folder) }
        let result: Result<ImportBody, any Error>
        do {
            result = .success(try await importChats(body, in: folder))
        } catch let error as FileError where error.code == .diskFull {
            result = .failure(
                NativeFailure(507, error.codeText, error.message, remedy: "Free some space, and try again."))
        } catch {
            result = .failure(error)
        }
        try await blocking { Self.removeFiles(folder) }
        return try result.get()
    }

    private func importChats(_ body: RequestBody, in folder: Path) async throws -> ImportBody {
        let file = folder.appending("upload")
        let open = try await blocking { try LocalFileSystem().open(file, .createNew, permissions: 0o600) }
        var size: UInt64 = 0
        for try await chunk in body {
            let place = size
            size += UInt64(chunk.count)
            guard size <= ConversationImport.maximumSize else { throw Self.tooLarge }
            try await blocking {
                try chunk.withUnsafeBytes { try LocalFileSystem().write(open, $0, at: place) }
            }
        }
        let work = ConversationImport(into: assistant.conversations, now: home.time.now) { [self] id in
            await isBusy(id)
        }
        let report = try await work.run(file, scratch: folder)
        reopen(report.changed)
        if !report.changed.isEmpty { log.add("reset", ["reason": "imported"]) }
        return ImportBody(
            imported: report.imported, updated: report.updated, skipped: report.skipped, refused: report.refused,
            refusals: report.refusals.map {
                ImportRefusalBody(number: $0.number, code: $0.code, message: $0.message)
            })
    }

    private static let importing = NativeFailure(
        409, "busy", "another file is being imported", remedy: "Import this one afterwards.")

    private static let tooLarge = NativeFailure(
        413, "import-too-large", "the file is larger than \(ConversationImport.maximumSize >> 20) MiB",
        remedy: "Import it in parts.")

    private static func empty(_ folder: Path) throws {
        removeFiles(folder)
        try LocalFileSystem().makeFolders(folder, permissions: 0o700)
    }

    private static func removeFiles(_ folder: Path) {
        do {
            try LocalFileSystem().removeTree(folder)
        } catch {
            Log.write(.warning, "native", "the files of an import stay in \(folder)", [.error(error)])
        }
    }
}
