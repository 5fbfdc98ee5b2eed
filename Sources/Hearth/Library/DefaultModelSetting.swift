import HearthBase

/// Storage for the model to use at the next start.
public struct DefaultModelSetting: Sendable {
    /// Reads the setting, `nil` if it has no value.
    public var load: @Sendable () async throws -> String?
    /// Writes the setting; `nil` removes it.
    public var save: @Sendable (String?) async throws -> Void

    /// A setting stored by the given closures.
    public init(
        load: @escaping @Sendable () async throws -> String?, save: @escaping @Sendable (String?) async throws -> Void
    ) {
        self.load = load
        self.save = save
    }

    /// The setting `defaultModel` in a home's `config.json`, which `hearth chat` reads too.
    public static func configuration(home: Path, fileSystem: any FileSystem = LocalFileSystem()) -> Self {
        Self {
            try await blocking { try Configuration.load(home: home, fileSystem: fileSystem).defaultModel }
        } save: { text in
            try await blocking {
                // Another program may have changed other settings.
                var configuration = try Configuration.load(home: home, fileSystem: fileSystem)
                try configuration.set("defaultModel", to: text)
                try configuration.save(home: home, fileSystem: fileSystem)
            }
        }
    }
}
