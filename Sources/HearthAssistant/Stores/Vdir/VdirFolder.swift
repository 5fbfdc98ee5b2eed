import Foundation
import HearthBase

/// A folder of collections of records in files, as vdirsyncer, khal, todoman and khard use it:
///
/// ```
/// calendar/                     the folder
///     personal/                 a collection
///         1f0c….ics             one record: an event with its overrides
///         .1f0c….ics-k3.tmp     a file that is being written
///     work/
/// ```
///
/// Reads a file again when its time, size or inode has changed, so changes of other programs are noticed at the next
/// ``refresh()``. Follows no symbolic link out of the folder. A file that cannot be read is skipped and counted.
package struct VdirFolder<Record: Identifiable & Sendable>: Sendable where Record.ID == String {
    /// A file with its records.
    package struct File: Sendable {
        package let collection: String
        package let name: String
        package let records: [Record]
    }

    private struct Entry {
        let status: FileStatus
        /// Whether a later write would have another modification time.
        let isSettled: Bool
        let digest: SHA256Digest?
        let content: Result<File, ContentParser.Failure>
    }

    /// The folder of the collections.
    package let path: Path
    /// The end of the names, such as `.ics`.
    package let suffix: String
    /// The collections of the user's own records, to which new records go.
    let own: OwnCollections
    let fileSystem = LocalFileSystem()
    private let time: TimeSource
    /// The records of a file's bytes.
    private let parse: @Sendable (Data) throws -> [Record]
    /// By collection, then by the file's name.
    private var entries: [String: [String: Entry]] = [:]
    private var places: [String: [(collection: String, name: String)]] = [:]
    /// The files that are not read, with the reason.
    private var unreadable: [(collection: String, name: String, reason: String)] = []

    /// The most collections, and the most files of all collections, that are read.
    static var limits: (collections: Int, files: Int) { (1_000, 200_000) }

    package init(
        path: Path, suffix: String, own: OwnCollections = OwnCollections([]), time: TimeSource,
        parse: @escaping @Sendable (Data) throws -> [Record]
    ) {
        self.path = path
        self.suffix = suffix
        self.own = own
        self.time = time
        self.parse = parse
    }

    /// The names of the collections in order.
    package var collections: [String] { entries.keys.sorted() }

    /// The collection of a new record: the named one if it exists, otherwise the first of the user's own. Without own ones
    /// it is `personal`, or the first one of a folder that has no `personal`.
    package func target(_ named: String = "") -> String {
        if entries[named] != nil { return named }
        let own = own.names
        if let first = own.first { return own.first { entries[$0] != nil } ?? first }
        let standard = "personal"
        return entries[standard] == nil ? collections.first ?? standard : standard
    }

    /// The files that are not read, with the reason.
    package mutating func unreadableFiles() throws -> [String] {
        try refresh()
        return unreadable.map { "\($0.collection)/\($0.name): \($0.reason)" }
    }

    /// The same as problems. Call ``refresh()`` before.
    func unreadableProblems() -> [RecordProblem] {
        unreadable.map { RecordProblem(.unreadableFile, id: "", $0.reason, file: place($0.collection, $0.name)) }
    }

    /// The files that are read, by collection and name.
    package var files: [File] {
        unorderedFiles.sorted { ($0.collection, $0.name) < ($1.collection, $1.name) }
    }

    /// The files that are read, in no order.
    package var unorderedFiles: [File] {
        var files: [File] = []
        for entry in entries.values.lazy.flatMap(\.values) {
            if case .success(let file) = entry.content { files.append(file) }
        }
        return files
    }

    /// The first file with a record, in a collection or in any.
    package func file(withID id: String, in collection: String? = nil) -> File? {
        let place = places[id]?.first { collection == nil || $0.collection == collection }
        guard let place, case .success(let file) = entries[place.collection]?[place.name]?.content else { return nil }
        return file
    }

    /// Reads the files that other programs have added or changed, and forgets those that they have removed.
    /// - Throws: `FileError` if the folder cannot be listed; a missing folder is empty.
    package mutating func refresh() throws {
        let now = time.now
        var found: [String: [String: Entry]] = [:]
        var hasChanged = false
        var count = 0
        for collection in try collectionsOnDisk() {
            let known = entries[collection] ?? [:]
            var files: [String: Entry] = [:]
            for name in try names(in: collection) where name.hasSuffix(suffix) && !name.hasPrefix(".") {
                count += 1
                guard count <= Self.limits.files else {
                    Log.write(
                        .warning, "the calendar folders have too many files", [.count("limit", Self.limits.files)])
                    break
                }
                let file = path.joined(collection).joined(name)
                guard let status = try fileSystem.status(at: file, followLinks: false), status.kind == .file else {
                    continue
                }
                if let old = known[name], old.isSettled, old.status == status {
                    files[name] = old
                    continue
                }
                guard let entry = read(file, collection, name, status, known[name], now) else { continue }
                if known[name]?.digest != entry.digest || entry.digest == nil { hasChanged = true }
                files[name] = entry
            }
            if files.count != known.count { hasChanged = true }
            found[collection] = files
        }
        hasChanged = hasChanged || found.count != entries.count
        entries = found
        if hasChanged { index() }
    }

    private func collectionsOnDisk() throws -> [String] {
        guard try fileSystem.status(at: path)?.kind == .folder else { return [] }
        let names = try fileSystem.contents(of: path).filter { name in
            // A name with a point at its beginning is hidden from the programs that share the folder.
            try !name.hasPrefix(".")
                && fileSystem.status(at: path.joined(name), followLinks: false)?.kind == .folder
        }
        return Array(names.prefix(Self.limits.collections))
    }

    private func names(in collection: String) throws -> [String] {
        do {
            return try fileSystem.contents(of: path.joined(collection))
        } catch let error as FileError where [.notFound, .notADirectory, .permissionDenied].contains(error.code) {
            Log.write(.warning, "a collection cannot be listed", [.error(error)])
            return []
        }
    }

    /// Reads a file; `nil` if it has gone.
    private func read(
        _ file: Path, _ collection: String, _ name: String, _ status: FileStatus, _ old: Entry?, _ now: Date
    ) -> Entry? {
        // A write in the same tick of the file system's clock would leave the time as it is.
        let isSettled = status.modified < now.addingTimeInterval(-2)
        func failed(_ reason: String, _ digest: SHA256Digest?) -> Entry {
            let failure = ContentParser.Failure(reason: reason)
            if case .failure(failure) = old?.content, old?.digest == digest {
            } else {
                Log.write(.warning, "a record is skipped: \(reason)", [.path(file)])
            }
            return Entry(status: status, isSettled: isSettled, digest: digest, content: .failure(failure))
        }
        let limit = ContentParser.record.bytes
        guard status.size <= UInt64(limit) else { return failed("it has more than \(limit) bytes", nil) }
        let data: Data
        do {
            data = try fileSystem.contents(ofFile: file, limit: limit)
        } catch let error as FileError where error.code == .notFound {
            return nil
        } catch {
            return failed("it cannot be read", nil)
        }
        let digest = SHA256Digest(hashing: data)
        if let old, old.digest == digest {
            return Entry(status: status, isSettled: isSettled, digest: digest, content: old.content)
        }
        do {
            let file = File(collection: collection, name: name, records: try parse(data))
            return Entry(status: status, isSettled: isSettled, digest: digest, content: .success(file))
        } catch {
            return failed((error as? ContentParser.Failure)?.reason ?? "it is not of its format", digest)
        }
    }

    private mutating func index() {
        places = [:]
        unreadable = []
        for (collection, files) in entries.sorted(by: { $0.key < $1.key }) {
            for (name, entry) in files.sorted(by: { $0.key < $1.key }) {
                switch entry.content {
                case .success(let file):
                    for id in Set(file.records.map(\.id)) { places[id, default: []].append((collection, name)) }
                case .failure(let failure): unreadable.append((collection, name, failure.reason))
                }
            }
        }
    }
}
