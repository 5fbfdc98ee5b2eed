import Foundation
import HearthBase

/// A home folder as a value: its layout, its disk, its clocks and its commit lock.
struct StoreHome: Sendable {
    /// How long a commit step waits for another process before `home-busy`.
    static let lockTimeout: Duration = .seconds(10)

    /// The places of all files.
    let layout: HomeLayout
    let fileSystem: any FileSystem
    let time: TimeSource
    /// The clocks for renewing marks during long work.
    let renewalTime: TimeSource
    /// The library that unpacks archives.
    let archives: ArchiveLibrary

    var directory: ReleaseDirectory { ReleaseDirectory(layout: layout, fileSystem: fileSystem) }

    /// Creates missing folders and the file with the layout's version. Marks the folders of models and transfers each time,
    /// because some operations remove the mark.
    nonisolated(nonsending) func layOut() async throws {
        try await makeFolders()
        for folder in [layout.models, layout.transfers] {
            do {
                try fileSystem.markFetchable(folder)
            } catch {
                Log.write(.warning, "store", "backups may contain \(folder): \(error)")
            }
        }
    }

    private nonisolated(nonsending) func makeFolders() async throws {
        guard try !isLaidOut() else { return }
        try fileSystem.makeFolders(layout.home)
        try await committing {
            guard try !isLaidOut() else { return }
            try fileSystem.makeFolders(layout.models)
            try fileSystem.makeFolders(layout.transfers)
            try fileSystem.replaceContents(of: layout.versionFile, with: Data("\(HomeLayout.version)\n".utf8))
        }
    }

    /// Whether the home folder is complete and its layout has the supported version.
    func isLaidOut() throws -> Bool {
        let path = layout.versionFile
        guard let status = try fileSystem.status(at: path, followLinks: false) else { return false }
        guard status.kind == .file, status.size <= 32 else { throw unusable(path, found: "no version") }
        let text = String(decoding: try fileSystem.contents(ofFile: path, limit: 32), as: UTF8.self)
        let trimmed = text.trimmingCharacters(in: .whitespacesAndNewlines)
        guard let version = UInt(trimmed), version > 0 else { throw unusable(path, found: "no version") }
        guard version <= HomeLayout.version else {
            throw StoreError(
                .homeTooNew, "the home folder \(layout.home) was laid out by a newer version of Hearth",
                context: ErrorContext(
                    file: path.string, expected: "layout \(HomeLayout.version)", found: "layout \(version)",
                    remedy: "Use that version, or another home folder."))
        }
        guard version == HomeLayout.version else {
            throw StoreError(
                .homeTooOld, "the home folder \(layout.home) was laid out by an older version of Hearth",
                context: ErrorContext(
                    file: path.string, expected: "layout \(HomeLayout.version)", found: "layout \(version)",
                    remedy: "Move it away, or use another home folder."))
        }
        return try [layout.models, layout.transfers].allSatisfy { folder in
            guard let status = try fileSystem.status(at: folder) else { return false }
            guard status.kind == .folder else { throw FileError(errno: ENOTDIR, doing: "use", path: folder) }
            return true
        }
    }

    private func unusable(_ path: Path, found: String) -> StoreError {
        StoreError(
            .homeUnusable, "\(path) does not say which layout the home folder has",
            context: ErrorContext(
                file: path.string, expected: "\(HomeLayout.version)", found: found,
                remedy: "If this is a home folder of Hearth, write \(HomeLayout.version) into that file."))
    }

    /// Runs a commit step on the caller's executor while no other process or store can. The body never suspends.
    nonisolated(nonsending) func committing<Result>(_ body: () throws -> Result) async throws -> Result {
        let waited = time.stopwatch()
        while true {
            try Task.checkCancellation()
            if let lock = try FileLock.tryAcquire(layout.lock) {
                defer { lock.release() }
                return try body()
            }
            guard waited.elapsed < Self.lockTimeout else {
                throw StoreError(
                    .homeBusy, "another process is changing the home folder \(layout.home)",
                    context: ErrorContext(file: layout.lock.string, remedy: "Try again in a moment."),
                    disposition: .tryLater)
            }
            try await time.sleep(for: .milliseconds(20))
        }
    }

    /// The bytes of all files below a folder, 0 if it does not exist.
    func bytes(below folder: Path) throws -> UInt64 {
        guard try directory.isFolder(folder) else { return 0 }
        return try fileSystem.files(below: folder).map { name in
            try fileSystem.status(at: folder.joined(name), followLinks: false)?.size ?? 0
        }.saturatedSum
    }
}
