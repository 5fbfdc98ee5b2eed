import Foundation
import HearthBase

/// An origin in a folder of this machine, which any web server can serve.
///
/// Files appear by a rename, after their bytes are on the disk. `.publish.lock` is held while a publisher runs.
struct FolderTarget: PublishTarget {
    let folder: Path
    let fileSystem: any FileSystem

    var name: String { folder.string }
    var manifestURL: URL { folder.appending("models.json").url }

    func shown(_ place: RelativePath) -> String { path(place).string }

    private func path(_ place: RelativePath) -> Path {
        place.components.reduce(folder) { $0.appending($1) }
    }

    func begin() async throws -> any Sendable {
        try await blocking {
            try fileSystem.makeFolders(folder.appending("models"))
            guard let lock = try FileLock.tryAcquire(folder.appending(".publish.lock")) else {
                throw PublishingError(
                    .publisherBusy, "another process publishes to \(folder) now",
                    context: ErrorContext(file: folder.string, remedy: "Try again when it is done."),
                    disposition: .tryLater)
            }
            return lock
        }
    }

    func contents(of place: RelativePath, limit: Int) async throws -> StoredBytes? {
        try await blocking {
            guard try fileSystem.status(at: path(place)) != nil else { return nil }
            return StoredBytes(data: try fileSystem.contents(ofFile: path(place), limit: limit), tag: nil)
        }
    }

    func holds(_ place: RelativePath, size: UInt64, digest: SHA256Digest?) async throws -> Bool {
        try await StopFlag.blocking { flag in
            let status = try fileSystem.status(at: path(place), followLinks: false)
            guard status?.kind == .file, status?.size == size else { return false }
            return try digest == nil || FilePump(fileSystem: fileSystem, flag: flag).digest(of: path(place)) == digest
        }
    }

    func perform(_ step: PublishStep, progress: @escaping @Sendable (UInt64) -> Void) async throws {
        try await StopFlag.blocking { flag in
            let target = path(step.place)
            try fileSystem.makeFolders(target.parent)
            switch step.content {
            case .data(let data): try fileSystem.replaceContents(of: target, with: data)
            case .file(let source, _):
                try FileCopier(fileSystem: fileSystem, flag: flag).copy(
                    source, size: step.size, digest: step.digest, to: target, progress: progress)
            }
        }
    }

    func withdraw(_ places: Set<RelativePath>, sparing: Set<FileIdentity>) async {
        for place in places where PlannedFile.isModelFile(place) {
            do {
                try await blocking {
                    // The source may be at this path, under another spelling.
                    let status = try fileSystem.status(at: path(place), followLinks: false)
                    if let status, !sparing.contains(status.identity) { try fileSystem.removeFile(path(place)) }
                }
            } catch {
                // The catalog no longer names the file, and pruning removes it.
                Log.write(.warning, "a replaced file stays: \(error)")
            }
        }
    }

    func list() async throws -> [StoredFile] {
        try await blocking {
            guard try fileSystem.status(at: folder) != nil else { return [] }
            return try fileSystem.files(below: folder).compactMap { text in
                guard let place = RelativePath(text),
                    let status = try fileSystem.status(at: path(place), followLinks: false), status.kind == .file
                else { return nil }
                return StoredFile(place: place, size: status.size, modified: status.modified)
            }
        }
    }

    func remove(_ place: RelativePath) async throws {
        try await blocking {
            guard try fileSystem.status(at: path(place), followLinks: false) != nil else { return }
            try fileSystem.removeFile(path(place))
        }
    }

    /// Removes the temporary files of publishers that were killed.
    func abandonUploads(before date: Date) async throws -> Int {
        let left = try await list().filter { file in
            file.place.last.name.contains(Path.temporaryMark) && file.modified < date
        }
        for file in left { try await remove(file.place) }
        return left.count
    }

    /// The lock does.
    var refusesOverwriting: Bool? { true }
}
