import HearthBase

/// The settings of a home: read, changed under a lock, and followed.
package struct SettingsFile: Sendable {
    private let home: Path
    private let time: TimeSource

    /// The time between two looks at the file.
    private static let interval: Duration = .seconds(1)

    package init(home: Path, time: TimeSource = .system) {
        self.home = home
        self.time = time
    }

    package func read() async throws -> Configuration {
        try await blocking { [home] in try Configuration.load(home: home) }
    }

    /// Reads the settings, changes and writes them, while no other process does.
    /// - Throws: errors of `body`; ``ConfigurationError``; `FileError`, with `settings-busy` too.
    @discardableResult
    package func change(_ body: @escaping @Sendable (inout Configuration) throws -> Void) async throws -> Configuration
    {
        // A refused change creates no folder, and one without effect writes no file.
        let present = try await read()
        var wanted = present
        try body(&wanted)
        guard wanted != present else { return present }
        let file = LockedFile(Configuration.path(home: home), folderPermissions: 0o755, time: time)
        return try await file.change { [home] in
            var configuration = try Configuration.load(home: home)
            try body(&configuration)
            return (configuration.json(), configuration)
        }
    }

    /// Calls `changed` within two seconds of each change of the file, until the task is cancelled. It does not matter which
    /// program writes the file, nor whether it writes or replaces it.
    /// The first call may be for a file that was read before.
    package func follow(_ changed: @Sendable () async -> Void) async {
        var known: FileStatus?
        do {
            while true {
                try await time.sleep(for: Self.interval)
                let status = await status()
                guard status != known else { continue }
                known = status
                await changed()
            }
        } catch {
            // The task is cancelled.
        }
    }

    /// The identity, length and date of the file, which any change changes; `nil` without a readable one.
    private func status() async -> FileStatus? {
        // A file that cannot be looked at now is looked at again.
        try? await blocking { [home] in try LocalFileSystem().status(at: Configuration.path(home: home)) }
    }
}
