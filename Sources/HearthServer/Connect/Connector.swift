import Foundation
import HearthBase

/// Connects apps with this server, and takes that back.
package struct Connector: Sendable {
    /// What happened to a file, or would happen.
    package struct Change: Sendable {
        package enum Kind: String, Sendable {
            case made, changed, unchanged, restored, removed
        }

        package var path: Path
        package var kind: Kind
        /// The values that were set, `nil` for removed ones.
        package var edits: [ConfigurationEdit] = []
        /// Values that were changed since, and stay.
        package var left: [String] = []
    }

    let places: ConnectPlaces
    let time: TimeSource
    private var home: Path { places.home }

    package init(_ places: ConnectPlaces, time: TimeSource = .system) { (self.places, self.time) = (places, time) }

    /// The apps on this machine. Blocks.
    package func found() -> [ConnectedApp] { ConnectedApp.allCases.filter { $0.isFound(in: places) } }

    /// The apps that are connected. Blocks.
    package func connected() throws -> [ConnectedApp] {
        try ConnectedApp.allCases.filter { app in
            try LocalFileSystem().status(at: ConnectRecord.path(home, app)) != nil
                || ConnectKey.load(home, app) != nil
        }
    }

    // MARK: Connecting

    /// Connects an app: changes its files, after copies of them are kept. Connecting again replaces what was set.
    /// - Parameter isDry: whether nothing is written.
    /// - Throws: ``ConnectError``, `ServerError`, `FileError`; then nothing is changed.
    package func connect(
        _ app: ConnectedApp, _ target: ConnectTarget, isDry: Bool = false
    ) async throws -> (plan: ConnectPlan, changes: [Change]) {
        var target = target
        var isNew = false
        if target.needsKey, target.key == nil {
            if isDry {
                target.key = "KEY"
            } else {
                let made = try await ConnectKey.make(app, home: home, time: time)
                (target.key, isNew) = (made.key.text, made.isNew)
            }
        }
        let plan = await blocking { [target] in app.plan(target, in: places) }
        if isDry {
            return (
                plan, try await blocking { try prepared(plan, try ConnectRecord.load(home, app), app).map(\.change) }
            )
        }
        do {
            return (plan, try await locked(app) { try apply(plan, app) })
        } catch {
            // The caller gets the first error.
            if isNew { _ = try? await ConnectKey.end(app, home: home, time: time) }
            throw error
        }
    }

    /// A file that is ready to be written.
    private struct Prepared {
        var file: ConnectFile
        var base: [UInt8]?
        var text: [UInt8]
        var record: ConnectRecord.File
        var change: Change
    }

    /// The new texts of all files; nothing is written. Blocks.
    private func prepared(_ plan: ConnectPlan, _ old: ConnectRecord?, _ app: ConnectedApp) throws -> [Prepared] {
        try plan.files.enumerated().map { index, wanted in
            let file = try ConnectFile(wanted.path)
            do {
                let known = old?.files.first { $0.path == file.path.string }
                let undone = try known?.undone(file.bytes, in: ConnectRecord.folder(home, app))
                let base = undone == nil ? file.bytes : undone?.bytes
                let isBlank = base?.allSatisfy { $0 == 32 || (9...13).contains($0) } ?? true
                let beginning = isBlank ? (base ?? []) + Array(wanted.beginning.utf8) : base ?? []
                let text = try wanted.form.applying(wanted.edits, to: beginning)
                var record = ConnectRecord.File(
                    path: file.path.string, form: wanted.form,
                    original: base == nil ? nil : "\(index + 1)-\(file.path.lastComponent)",
                    before: base.map { SHA256Digest(hashing: $0) }, after: SHA256Digest(hashing: text),
                    edits: wanted.edits.recorded(on: try wanted.form.value(of: beginning)))
                record.folders = known?.folders ?? []
                var change = Change(path: wanted.path, kind: .unchanged)
                change.edits = record.edits.map { edit in
                    ConfigurationEdit(edit.path, edit.value.flatMap { try? JSONValue(parsing: $0) })
                }
                if text != file.bytes {
                    change.kind = file.bytes == nil ? .made : .changed
                    try file.requireWritable()
                }
                return Prepared(file: file, base: base, text: text, record: record, change: change)
            } catch let error as ConfigurationTextError {
                throw ConnectError.refused(error, file: file.path)
            }
        }
    }

    /// Keeps the files as they were, then the record, then writes the files. Blocks.
    private func apply(_ plan: ConnectPlan, _ app: ConnectedApp) throws -> [Change] {
        let old = try ConnectRecord.load(home, app)
        var prepared = try prepared(plan, old, app)
        guard !prepared.isEmpty else { return [] }
        // Files that an earlier connection changed, and this one does not.
        let paths = Set(prepared.map(\.record.path))
        let others = old?.files.filter { !paths.contains($0.path) } ?? []
        let system = LocalFileSystem()
        let folder = ConnectRecord.folder(home, app)
        for item in prepared {
            guard let base = item.base, let name = item.record.original else { continue }
            try system.replaceContents(of: folder.joined(name), with: Data(base), permissions: 0o600)
        }
        func keep() throws {
            let record = ConnectRecord(app: app, files: prepared.map(\.record) + others)
            try system.replaceContents(
                of: ConnectRecord.path(home, app), with: try record.data(), permissions: 0o600)
        }
        try keep()
        for index in prepared.indices where prepared[index].change.kind != .unchanged {
            do {
                let made = try prepared[index].file.write(prepared[index].text)
                if !made.isEmpty { prepared[index].record.folders = made.map(\.string) }
            } catch {
                // The files that were written before this one become what they were.
                for item in prepared[..<index] where item.change.kind != .unchanged {
                    if let bytes = item.file.bytes {
                        _ = try? item.file.write(bytes)
                    } else {
                        try? item.file.remove(folders: item.record.folders.map { Path($0) })
                    }
                }
                // So does the record; the caller gets the first error.
                if let old {
                    try? system.replaceContents(
                        of: ConnectRecord.path(home, app), with: old.data(), permissions: 0o600)
                } else {
                    try? system.removeFile(ConnectRecord.path(home, app))
                }
                throw error
            }
        }
        try keep()
        return prepared.map(\.change)
    }

    // MARK: Undoing

    /// Takes the connection of an app back. Files that nothing else has changed since become what they were, to the byte;
    /// from others, only what still has the values that were set is removed. The key that was made ends.
    /// - Returns: `nil` if the app is not connected.
    /// - Throws: ``ConnectError``, `ServerError`, `FileError`.
    package func undo(_ app: ConnectedApp, isDry: Bool = false) async throws -> [Change]? {
        guard let record = try await blocking({ try ConnectRecord.load(home, app) }) else {
            guard !isDry else { return nil }
            return try await ConnectKey.end(app, home: home, time: time) ? [] : nil
        }
        if isDry { return try await blocking { try undone(record, writes: false) } }
        let changes = try await locked(app) { () -> [Change] in
            guard let record = try ConnectRecord.load(home, app) else { return [] }
            let changes = try undone(record, writes: true)
            try LocalFileSystem().removeFile(ConnectRecord.path(home, app))
            for file in record.files {
                guard let name = file.original.flatMap({ PathComponent($0) }) else { continue }
                try LocalFileSystem().removeFile(ConnectRecord.folder(home, app).appending(name))
            }
            return changes
        }
        try await ConnectKey.end(app, home: home, time: time)
        return changes
    }

    private func undone(_ record: ConnectRecord, writes: Bool) throws -> [Change] {
        // All texts are known before the first file is written.
        let steps = try record.files.map { recorded in
            let file = try ConnectFile(Path(recorded.path))
            do {
                let undone = try recorded.undone(file.bytes, in: ConnectRecord.folder(home, record.app))
                if undone.bytes != file.bytes { try file.requireWritable() }
                return (recorded, file, undone)
            } catch let error as ConfigurationTextError {
                throw ConnectError.refused(error, file: file.path)
            }
        }
        return try steps.map { recorded, file, undone in
            var change = Change(path: file.path, kind: .unchanged, left: undone.left)
            guard undone.bytes != file.bytes else { return change }
            change.kind = undone.bytes == nil ? .removed : undone.isOriginal ? .restored : .changed
            guard writes else { return change }
            if let bytes = undone.bytes {
                try file.write(bytes)
            } else {
                try file.remove(folders: recorded.folders.map { Path($0) })
            }
            return change
        }
    }

    /// Does work that no other process does at the same time for the app.
    private func locked<Result: Sendable>(
        _ app: ConnectedApp, _ work: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        try await LockedFile(ConnectRecord.path(home, app), time: time).change { (nil, try work()) }
    }
}
