import Foundation

/// A small file that several processes change. Each change holds a lock, which is a file of its own beside it.
///
/// Readers need no lock: they see the old bytes or the new ones. A symbolic link stays one: its target is replaced.
package struct LockedFile: Sendable {
    private let path: Path
    private let folderPermissions: UInt32
    private let fileSystem: any FileSystem
    private let time: TimeSource
    private let timeout: Duration

    /// The longest wait for another writer.
    package static let timeout: Duration = .seconds(10)

    /// A file, which need not exist.
    /// - Parameter folderPermissions: those of its folder, if the first change creates it.
    package init(
        _ path: Path, folderPermissions: UInt32 = 0o700, fileSystem: any FileSystem = LocalFileSystem(),
        time: TimeSource = .system, timeout: Duration = Self.timeout
    ) {
        self.path = path
        self.folderPermissions = folderPermissions
        self.fileSystem = fileSystem
        self.time = time
        self.timeout = timeout
    }

    /// Reads, changes and replaces the file. The lock is held for the work on the disk alone.
    /// - Parameter body: reads the file; returns its new bytes, or `nil` to leave it as it is, and a result. Blocks.
    /// - Throws: ``FileError``, with `settings-busy` if other writers hold the lock for longer than the timeout; errors
    ///   of `body`; `CancellationError` before the change.
    @discardableResult
    package func change<Result: Sendable>(
        _ body: @escaping @Sendable () throws -> (data: Data?, result: Result)
    ) async throws -> Result {
        let waited = time.stopwatch()
        try await blocking { try fileSystem.makeFolders(target().parent, permissions: folderPermissions) }
        while true {
            if let result = try await blocking({ try changeIfFree(body) }) { return result }
            guard waited.elapsed < timeout else {
                throw FileError(
                    .settingsBusy, "another process is changing \(path)",
                    context: ErrorContext(file: path.string, remedy: "Try again in a moment."),
                    disposition: .tryLater)
            }
            try await time.sleep(for: .milliseconds(5))
        }
    }

    /// Changes the file unless another writer holds the lock. Blocks.
    private func changeIfFree<Result>(_ body: () throws -> (data: Data?, result: Result)) throws -> Result? {
        let target = try target()
        let lock: FileLock?
        switch try FileLock.attempt(target.withSuffix(".lock")) {
        case .taken(let taken): lock = taken
        case .heldByAnother: return nil
        // Without locks, single writers still work.
        case .unsupported: lock = nil
        }
        defer { lock?.release() }
        let (data, result) = try body()
        guard let data else { return result }
        // Left by writers that were killed: the holder of the lock is the only one that writes.
        let mark = ".\(target.lastComponent)\(Path.temporaryMark)"
        for name in try fileSystem.contents(of: target.parent) where name.hasPrefix(mark) {
            try fileSystem.removeFile(target.parent.joined(name))
        }
        try fileSystem.replaceContents(of: target, with: data, permissions: 0o600)
        return result
    }

    /// The file behind symbolic links.
    private func target() throws -> Path {
        var target = path
        for _ in 0..<32 {
            guard try fileSystem.status(at: target, followLinks: false)?.kind == .symbolicLink else { return target }
            let link = try fileSystem.readLink(target)
            target = link.hasPrefix("/") ? Path(link) : target.parent.joined(link)
        }
        throw FileError(errno: ELOOP, doing: "change", path: path)
    }
}
