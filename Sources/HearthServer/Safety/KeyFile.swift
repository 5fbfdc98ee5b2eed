import HearthBase

/// The keys of a home as its file has them now: a new key counts at once, and a revoked one no longer.
package final class KeyFile: Sendable {
    private let home: Path
    private let state: Locked<(keys: AccessKeys, status: FileStatus?)>

    /// Reads the keys. Blocks.
    /// - Throws: ``ServerError`` with `keys-unreadable`; `FileError`.
    package init(home: Path) throws {
        self.home = home
        // A change after the first line is found by the next look.
        let status = try LocalFileSystem().status(at: AccessKeys.path(home: home))
        state = Locked((try AccessKeys.load(home: home), status))
    }

    /// The keys. Looks at the file, and reads it if it has changed; a damaged one leaves the keys before. Blocks for
    /// microseconds.
    package var current: AccessKeys {
        let (known, seen) = state.withLock { $0 }
        var status = seen
        do {
            status = try LocalFileSystem().status(at: AccessKeys.path(home: home))
            guard status != seen else { return known }
            let keys = try AccessKeys.load(home: home)
            // Both at once: another request finds new keys wherever it finds the new status.
            state.withLock { [status] in $0 = (keys, status) }
            return keys
        } catch {
            // A file that cannot be opened now is read at the next look; a damaged one when it has changed.
            if error is ServerError { state.withLock { [status] in $0.status = status } }
            Log.write(.warning, "server", "the keys before stay", [.error(error)])
            return known
        }
    }
}
