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
    /// Imports the conversations of a body, which is written to a file first. One import runs at a time, and goes on when
    /// the client that sent the file leaves.
    func importChats(_ body: RequestBody) async throws -> ImportBody {
        guard body.declaredLength ?? 0 <= ConversationImport.maximumSize else { throw Self.tooLarge }
        guard !isImporting else { throw Self.importing }
        isImporting = true
        let folder = home.path.appending("import")
        let file = folder.appending("upload")
        do {
            // A process that ended in an import left its files.
            try await blocking { try Self.empty(folder) }
            try await receive(body, in: file)
        } catch {
            await endImport(folder)
            throw Self.shown(error)
        }
        let work = Task {
            let result: Result<ImportBody, any Error>
            do {
                result = .success(try await importFile(file, scratch: folder))
            } catch {
                result = .failure(Self.shown(error))
            }
            await endImport(folder)
            return try result.get()
        }
        importWork = work
        return try await work.value
    }

    private func endImport(_ folder: Path) async {
        await blocking { Self.removeFiles(folder) }
        importWork = nil
        isImporting = false
    }

    private static func shown(_ error: any Error) -> any Error {
        guard let error = error as? FileError, error.code == .diskFull else { return error }
        return NativeFailure(507, error.codeText, error.message, remedy: "Free some space, and try again.")
    }

    private func receive(_ body: RequestBody, in file: Path) async throws {
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
    }

    private func importFile(_ file: Path, scratch: Path) async throws -> ImportBody {
        let work = ConversationImport(into: assistant.conversations, now: home.time.now) { [self] id in
            await isBusy(id)
        }
        var report = ConversationImport.Report()
        let result: Result<Void, any Error>
        do {
            result = .success(try await work.run(file, scratch: scratch, &report))
        } catch {
            result = .failure(error)
        }
        // What was kept before an error is shown too.
        reopen(report.changed)
        if !report.changed.isEmpty { log.add("reset", ["reason": "imported"]) }
        try result.get()
        return ImportBody(
            imported: report.imported, updated: report.updated, skipped: report.skipped, refused: report.refused,
            refusals: report.refusals.map {
                ImportRefusalBody(number: $0.number, code: $0.code, message: $0.message)
            })
    }

    private static let importing = NativeFailure(
        409, "busy", "another file is being imported", remedy: "Import this one afterwards.")

    static let eraseLater = NativeFailure(
        409, "busy", "a file is being imported", remedy: "Remove the conversations afterwards.")

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
