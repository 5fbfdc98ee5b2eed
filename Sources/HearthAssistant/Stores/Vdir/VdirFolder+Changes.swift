import Foundation
import HearthBase

extension VdirFolder {
    /// Compares a record with a change. Call ``refresh()`` before.
    package func state(of change: RecordChange) throws -> RecordState {
        if change.collection == Self.keptCollection { return change.state(of: try keptData(change.id)) }
        let file = file(withID: change.id, in: change.collection)
        return change.state(of: try file.map { try contents(of: $0) })
    }

    /// Applies a change if the record has its old content, or has its new content already.
    ///
    /// Writes a temporary file, synchronises it, compares the record once more, renames, and synchronises the folder.
    /// - Throws: `changed-elsewhere`; `FileError`.
    package mutating func apply(_ change: RecordChange) throws {
        try refresh()
        let folder = try write(change)
        if let folder { try fileSystem.synchronizeFolder(folder) }
        try refresh()
    }

    /// Applies changes of different records until one fails, and reads the folder once before and once after them.
    package mutating func apply(all changes: [RecordChange]) -> (count: Int, error: (any Error)?) {
        var count = 0
        var failure: (any Error)?
        var folders: Set<Path> = []
        do {
            try refresh()
            for change in changes {
                if let folder = try write(change) { folders.insert(folder) }
                count += 1
            }
        } catch {
            failure = error
        }
        do {
            for folder in folders { try fileSystem.synchronizeFolder(folder) }
            try refresh()
        } catch {
            failure = failure ?? error
        }
        return (count, failure)
    }

    /// Writes a change. Call ``refresh()`` before and after.
    /// - Returns: the folder that has to be synchronized; `nil` if nothing was written.
    private func write(_ change: RecordChange) throws -> Path? {
        let isKept = change.collection == Self.keptCollection
        guard let collection = PathComponent(change.collection), isKept || !change.collection.hasPrefix("."),
            !isKept || PathComponent(change.id) != nil && change.id.hasSuffix(suffix)
        else {
            throw AssistantError(.unusableRecord, "a collection cannot be named \(change.collection.quoted(limit: 40))")
        }
        let folder = path.appending(collection)
        switch try state(of: change) {
        case .after: return nil
        case .other: throw changedElsewhere(change)
        case .before: break
        }
        let name = isKept ? change.id : file(withID: change.id, in: change.collection)?.name
        guard let after = change.after else {
            guard let name else { return nil }
            try fileSystem.removeFile(folder.joined(name))
            return folder
        }
        let limit = isKept ? ContentParser.collection.bytes : ContentParser.record.bytes
        try fileSystem.makeFolders(folder, permissions: 0o700)
        let target = try name.map { folder.joined($0) } ?? unusedPath(ofRecord: change.id, in: folder)
        let temporary = folder.joined(VdirFileName.temporary(besides: target.lastComponent))
        do {
            let file = try fileSystem.open(temporary, .createNew, permissions: 0o600)
            try after.withUnsafeBytes { try fileSystem.write(file, $0, at: 0) }
            try fileSystem.synchronize(file)
            // Another program may have written since the comparison.
            let current =
                try fileSystem.status(at: target, followLinks: false) == nil
                ? nil : fileSystem.contents(ofFile: target, limit: limit)
            guard current == change.before else { throw changedElsewhere(change) }
            try fileSystem.rename(temporary, to: target)
        } catch {
            // The caller gets the first error; other programs skip the temporary file that may remain.
            try? fileSystem.removeFile(temporary)
            throw error
        }
        return folder
    }

    /// The path of a new record. A file of another record can have its name.
    private func unusedPath(ofRecord id: String, in folder: Path) throws -> Path {
        for name in [
            VdirFileName.name(ofRecord: id, suffix: suffix), VdirFileName.digestName(ofRecord: id, suffix: suffix),
        ]
        where try fileSystem.status(at: folder.joined(name), followLinks: false) == nil { return folder.joined(name) }
        throw AssistantError(
            .changedElsewhere, "another file has the name of the new record",
            context: ErrorContext(file: folder.string, remedy: "Rename the file that is in its place."))
    }

    private func changedElsewhere(_ change: RecordChange) -> AssistantError {
        AssistantError(
            .changedElsewhere, "another program has changed the record since it was read",
            context: ErrorContext(file: path.joined(change.collection).string, remedy: "Look at it and try again."))
    }
}

extension VdirFolder {
    /// The bytes of a file.
    package func contents(of file: File) throws -> Data {
        try fileSystem.contents(
            ofFile: path.joined(file.collection).joined(file.name), limit: ContentParser.record.bytes)
    }

    /// The change that writes a record of an imported file, in the place of the record that it has now.
    package func importing(_ id: String, _ data: Data, store: StoreKind) throws -> RecordChange {
        guard file(withID: id) != nil else {
            return RecordChange(store: store, collection: target(), id: id, before: nil, after: data)
        }
        let (collection, before) = try onlyRecord(id)
        return RecordChange(store: store, collection: collection, id: id, before: before, after: data)
    }

    /// The change that removes a record.
    /// - Throws: `no-such-record`; `unusable-record` if its file has other records, too.
    package mutating func removal(of id: String, in store: StoreKind) throws -> RecordChange {
        try refresh()
        let (collection, before) = try onlyRecord(id)
        return RecordChange(store: store, collection: collection, id: id, before: before, after: nil)
    }

    /// The file that holds one record and no other, which can be changed.
    /// - Throws: `no-such-record`; `unusable-record` if the file has other records, too.
    package func onlyRecord(_ id: String) throws -> (collection: String, data: Data) {
        guard let file = file(withID: id) else { throw AssistantError.noRecord(id) }
        guard Set(file.records.map(\.id)).count == 1 else {
            throw AssistantError(
                .unusableRecord, "the file has several records",
                context: ErrorContext(
                    file: path.joined(file.collection).joined(file.name).string,
                    remedy: "Move the file out of the folder and import it, which writes one file for each record."))
        }
        return (file.collection, try contents(of: file))
    }

    /// The record with an id, and its collection.
    func find(_ id: String) -> (collection: String, record: Record)? {
        guard let file = file(withID: id), let record = file.records.first(where: { $0.id == id }) else { return nil }
        return (file.collection, record)
    }
}

/// A store of the files of a folder.
package protocol VdirStore: ByteStore, Actor {
    associatedtype FileRecord: Identifiable & Sendable where FileRecord.ID == String

    var folder: VdirFolder<FileRecord> { get set }

    /// Whether two files hold the same record.
    func isSame(_ first: Data, _ second: Data) -> Bool
}

extension VdirStore {
    package func isSame(_ first: Data, _ second: Data) -> Bool { first == second }

    package func unreadableFiles() async throws -> [String] { try folder.unreadableFiles() }

    package func unreadableCount() async throws -> Int {
        try folder.unreadableFiles().count + folder.keptNames().count
    }

    package func apply(_ change: RecordChange) async throws { try folder.apply(change) }

    package func apply(all changes: [RecordChange]) async -> (count: Int, error: (any Error)?) {
        folder.apply(all: changes)
    }

    package func marked(_ change: RecordChange, from source: String) async throws -> RecordChange {
        guard let after = change.after else { return change }
        var change = change
        change.after = try SourceLine.marking(after, before: change.before, from: source)
        if let before = change.before, let after = change.after, isSame(before, after) { change.after = before }
        return change
    }

    package func state(of change: RecordChange) async throws -> RecordState {
        try folder.refresh()
        return try folder.state(of: change)
    }
}

extension HearthError where Domain == AssistantStores {
    /// The error for a record that does not exist.
    package static func noRecord(_ id: String) -> Self {
        Self(.noSuchRecord, "there is no record \(id.quoted)")
    }
}
