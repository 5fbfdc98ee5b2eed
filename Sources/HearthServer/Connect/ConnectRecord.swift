import Foundation
import HearthBase

/// What an app's files were before they were changed, so that the change can be undone.
///
/// ```
/// <home>/connect/codex/record.json      the changes
/// <home>/connect/codex/1-config.toml    the first of the files as it was
/// ```
struct ConnectRecord: DiskRecord, Sendable {
    struct File: Codable, Sendable {
        /// The file behind links.
        var path: String
        var form: ConfigurationForm
        /// The name of the copy; `nil` if the file did not exist.
        var original: String?
        /// The digests of the file before and after.
        var before: SHA256Digest?
        var after: SHA256Digest
        /// The folders that were made, the innermost first.
        var folders: [String] = []
        var edits: [Edit]
    }

    struct Edit: Codable, Sendable {
        var path: [ConfigurationStep]
        /// The values as JSON; `nil` for none.
        var value: String?
        var before: String?
        /// The steps to the outermost object that was made.
        var made: Int
    }

    var format = 1
    var app: ConnectedApp
    var files: [File]

    static func folder(_ home: Path, _ app: ConnectedApp) -> Path {
        home.appending("connect").joined(app.rawValue)
    }

    static func path(_ home: Path, _ app: ConnectedApp) -> Path { folder(home, app).appending("record.json") }

    /// Reads the record of an app; `nil` if the app is not connected. Blocks.
    /// - Throws: ``ConnectError`` with `app-record-damaged`, `FileError`.
    static func load(_ home: Path, _ app: ConnectedApp) throws -> ConnectRecord? {
        let path = path(home, app)
        let data: Data
        do {
            data = try LocalFileSystem().contents(ofFile: path, limit: 64 << 20)
        } catch let error as FileError where error.code == .notFound {
            return nil
        }
        do {
            let record = try ConnectRecord(data: data)
            guard record.format == 1, record.app == app else { throw DecodingError.damaged }
            return record
        } catch let error as DecodingError {
            throw ConnectError(
                .recordDamaged, "the record in \(path) cannot be read",
                context: ErrorContext(
                    file: path.string, remedy: "Move its folder away; it has the app's files as they were."),
                underlying: error)
        }
    }
}

extension DecodingError {
    fileprivate static let damaged = DecodingError.dataCorrupted(
        Context(codingPath: [], debugDescription: "another record"))
}

extension ConnectRecord.File {
    /// A file without the recorded changes.
    struct Undone {
        /// `nil` if the file is to be removed.
        var bytes: [UInt8]?
        /// Whether these are the bytes of before.
        var isOriginal = true
        /// Changes that were changed again since, and stay.
        var left: [String] = []
    }

    /// The file without the changes: the original where nothing else was changed since, else the present text without what
    /// still has the values that were set. Blocks.
    /// - Throws: ``ConfigurationTextError``, `FileError`.
    func undone(_ present: [UInt8]?, in folder: Path) throws -> Undone {
        guard let present else { return Undone(bytes: nil) }
        let digest = SHA256Digest(hashing: present)
        if digest == before { return Undone(bytes: present) }
        if digest == after {
            guard let original, let name = PathComponent(original) else { return Undone(bytes: nil) }
            let data = try LocalFileSystem().contents(
                ofFile: folder.appending(name), limit: ConfigurationForm.maximumBytes)
            if SHA256Digest(hashing: data) == before { return Undone(bytes: Array(data)) }
            // A copy that was changed is not what the file was.
        }
        var undone = Undone(bytes: present, isOriginal: false)
        var text = present
        for edit in edits.reversed() {
            let value = try form.value(of: text)
            func parsed(_ text: String?) -> JSONValue? { text.flatMap { try? JSONValue(parsing: $0) } }
            guard value.at(edit.path) == parsed(edit.value) else {
                undone.left.append(edit.path.shown)
                continue
            }
            text = try form.applying([ConfigurationEdit(edit.path, parsed(edit.before))], to: text)
            guard edit.before == nil else { continue }
            // Objects that were made for the value go with it.
            var length = edit.path.count - 1
            while length >= edit.made {
                let outer = Array(edit.path.prefix(length))
                guard try form.value(of: text).at(outer)?.isEmptyContainer == true else { break }
                text = try form.applying([ConfigurationEdit(outer, nil)], to: text)
                length -= 1
            }
        }
        // A file that was made, and holds nothing now.
        let isEmpty = try form.value(of: text).isEmptyContainer
        undone.bytes = original == nil && isEmpty ? nil : text
        return undone
    }
}

extension JSONValue {
    fileprivate var isEmptyContainer: Bool {
        self == .null || members?.isEmpty == true || items?.isEmpty == true
    }
}

extension [ConfigurationEdit] {
    /// The changes of a value with what was there before.
    func recorded(on value: JSONValue) -> [ConnectRecord.Edit] {
        var current = value
        var recorded: [ConnectRecord.Edit] = []
        for edit in self {
            let before = current.at(edit.path)
            guard before != edit.value, let next = current.replacing(edit.path, with: edit.value) else { continue }
            let made = (1...edit.path.count).first { current.at(edit.path.prefix($0)) == nil } ?? edit.path.count
            recorded.append(
                ConnectRecord.Edit(path: edit.path, value: edit.value?.line, before: before?.line, made: made))
            current = next
        }
        return recorded
    }
}
