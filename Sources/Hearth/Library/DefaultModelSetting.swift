import HearthBase

/// Where the library keeps the model to use at the next start.
public struct DefaultModelSetting: Sendable {
    /// Reads the setting, `nil` when it has no value.
    public var load: @Sendable () async throws -> String?
    /// Writes it; `nil` takes it away.
    public var save: @Sendable (String?) async throws -> Void

    /// A setting that is kept by the given closures.
    public init(
        load: @escaping @Sendable () async throws -> String?, save: @escaping @Sendable (String?) async throws -> Void
    ) {
        self.load = load
        self.save = save
    }

    /// The setting `defaultModel` of a home's `config.json`, which `hearth chat` reads too.
    public static func configuration(home: Path, fileSystem: any FileSystem = LocalFileSystem()) -> Self {
        Self {
            try await blocking { try Configuration.load(home: home, fileSystem: fileSystem).defaultModel }
        } save: { text in
            try await blocking {
                // Read again: another program may have changed another setting meanwhile.
                var configuration = try Configuration.load(home: home, fileSystem: fileSystem)
                try configuration.set("defaultModel", to: text)
                try configuration.save(home: home, fileSystem: fileSystem)
            }
        }
    }
}
