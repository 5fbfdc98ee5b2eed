import Foundation
import HearthBase

extension VdirFolder {
    /// The bytes of a record's file; `nil` without one.
    package func contents(ofRecord id: String, in collection: String) throws -> Data? {
        guard let file = file(withID: id, in: collection) else { return nil }
        return try fileSystem.contents(
            ofFile: path.joined(collection).joined(file.name), limit: ContentParser.record.bytes)
    }

    /// Compares a record with a change. Call ``refresh()`` before.
    package func state(of change: RecordChange) throws -> RecordState {
        let current = try contents(ofRecord: change.id, in: change.collection)
        // A change that changes nothing has happened.
        if current == change.after { return .after }
        return current == change.before ? .before : .other
    }

    /// Applies a change if the record has its old content, or has its new content already.
    ///
    /// Writes a temporary file, synchronises it, compares the record once more, renames, and synchronises the folder.
    /// - Throws: `changed-elsewhere`; `FileError`.
    package mutating func apply(_ change: RecordChange) throws {
        guard let collection = PathComponent(change.collection), !change.collection.hasPrefix(".") else {
            throw AssistantError(.unusableRecord, "a collection cannot be named \(change.collection.quoted(limit: 40))")
        }
        try refresh()
        let folder = path.appending(collection)
        switch try state(of: change) {
        case .after: return
        case .other: throw changedElsewhere(change)
        case .before: break
        }
        let name = file(withID: change.id, in: change.collection)?.name
        guard let after = change.after else {
            if let name {
                try fileSystem.removeFile(folder.joined(name))
                try fileSystem.synchronizeFolder(folder)
            }
            try refresh()
            return
        }
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
                ? nil : fileSystem.contents(ofFile: target, limit: ContentParser.record.bytes)
            guard current == change.before else { throw changedElsewhere(change) }
            try fileSystem.rename(temporary, to: target)
        } catch {
            // The caller gets the first error; other programs skip the temporary file that may remain.
            try? fileSystem.removeFile(temporary)
            throw error
        }
        try fileSystem.synchronizeFolder(folder)
        try refresh()
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
    package func importing(_ id: String, _ data: Data, store: StoreKind, into target: String) throws -> RecordChange {
        let file = file(withID: id)
        return RecordChange(
            store: store, collection: file?.collection ?? target, id: id,
            before: try file == nil ? nil : onlyRecord(id), after: data)
    }

    /// The bytes of the file that holds one record and no other, which can be changed.
    /// - Throws: `no-such-record`; `unusable-record` if the file has other records, too.
    package func onlyRecord(_ id: String) throws -> Data {
        guard let file = file(withID: id) else { throw AssistantError.noRecord(id) }
        guard Set(file.ids).count == 1 else {
            throw AssistantError(
                .unusableRecord, "the file has several records",
                context: ErrorContext(
                    file: path.joined(file.collection).joined(file.name).string,
                    remedy: "Move the file out of the folder and import it, which writes one file for each record."))
        }
        return try contents(of: file)
    }
}

extension HearthError where Domain == AssistantErrorDomain {
    /// The error for a record that does not exist.
    package static func noRecord(_ id: String) -> Self {
        Self(.noSuchRecord, "there is no record \(id.quoted)")
    }
}
