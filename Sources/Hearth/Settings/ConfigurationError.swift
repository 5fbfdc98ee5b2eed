import HearthBase
import HearthCatalog

extension Configuration: ErrorDomain {}

/// An error in the settings.
public typealias ConfigurationError = HearthError<Configuration>

extension ErrorCode<Configuration> {
    /// Neither `HEARTH_HOME` nor the user's home folder is known.
    public static var noHome: Self { "no-home" }
    /// The configuration file is invalid, or a setting in it has an invalid value.
    public static var invalid: Self { "invalid-configuration" }
    /// The setting does not exist.
    public static var unknownKey: Self { "unknown-setting" }
    /// The setting has no value.
    public static var notSet: Self { "setting-not-set" }
}

extension HearthError where Domain == Configuration {
    static var noHome: Self {
        Self(
            .noHome, "there is no folder to keep models in",
            context: ErrorContext(remedy: "Give a home folder."))
    }

    static func invalid(_ field: String, _ expectation: String, found: String) -> Self {
        let shown = found.count > 80 ? found.prefix(80) + "…" : found[...]
        return Self(
            .invalid, "the setting \(field) must be \(expectation), not '\(shown)'",
            context: ErrorContext(field: field, expected: expectation, found: String(shown)))
    }

    static func unknownKey(_ key: String) -> Self {
        let shown = key.count > 80 ? key.prefix(80) + "…" : key[...]
        let near = NearNames.of(Setting.keys, to: String(shown)) { $0.lowercased() }.prefix(3)
        let remedy =
            near.isEmpty
            ? "Look at the list of settings."
            : "The nearest \(near.count == 1 ? "is" : "are") \(near.joined(separator: ", "))."
        return Self(
            .unknownKey, "there is no setting '\(shown)'",
            context: ErrorContext(field: String(shown), remedy: remedy))
    }
}
