import HearthBase

/// A release to publish, with the digests and chunk indexes of its files.
struct HashedSource: Sendable {
    let source: PublishSource
    /// As ``PublishSource/parts``.
    let found: [FileCopier.Result]

    /// Reads every file of the release. Blocks.
    init(
        _ source: PublishSource, _ copier: FileCopier, _ progress: @Sendable (PublishProgress) -> Void
    ) throws {
        self.source = source
        found = try source.parts.map { part in
            try copier.hash(part) { completed in
                progress(
                    PublishProgress(
                        file: part.path, phase: .reading, completedBytes: completed, totalBytes: part.status.size))
            }
        }
    }

    /// Reads every file of several releases.
    static func list(
        _ sources: [PublishSource], fileSystem: any FileSystem,
        _ progress: @escaping @Sendable (PublishProgress) -> Void
    ) async throws -> [HashedSource] {
        var hashed: [HashedSource] = []
        for source in sources {
            hashed.append(
                try await StopFlag.blocking { flag in
                    try HashedSource(source, FileCopier(fileSystem: fileSystem, flag: flag), progress)
                })
        }
        return hashed
    }
}
