import HearthBase

/// Storage for the model to use at the next start.
package struct DefaultModelSetting: Sendable {
    /// Reads the setting, `nil` if it has no value.
    package var load: @Sendable () async throws -> String?
    /// Writes the setting; `nil` removes it.
    package var save: @Sendable (String?) async throws -> Void

    /// A setting that nothing stores, for previews.
    package static let unsaved = Self {
        nil
    } save: { _ in
    }

    /// The setting `defaultModel` in a home's `config.json`, which `hearth chat` reads too.
    package static func configuration(home: Path) -> Self {
        Self {
            try await blocking { try Configuration.load(home: home).defaultModel }
        } save: { text in
            try await SettingsFile(home: home).change { try $0.set("defaultModel", to: text) }
        }
    }
}
