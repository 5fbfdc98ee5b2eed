import HearthBase
import HearthCatalog

/// Recipe of an artifact: how an engine makes one file from the weights of a release.
///
/// The engine, its version and the settings decide the result; the other fields describe it.
package struct Recipe: Sendable, Hashable, Codable {
    /// The engine, such as `llama.cpp`.
    package var engine: String
    /// The version of the engine: another version may read or write another format.
    package var engineVersion: String
    /// The other settings that the result depends on, such as `q4_k_m`.
    package var settings: String
    /// The name of the file, with an extension that the engine knows.
    package var fileName: String
    /// The estimated length in bytes, compared with the free space before a build.
    package var expectedSize: UInt64
    /// The kind of artifact and the reason, for people: `Q4_K_M, since F16 does not fit the memory of this device`.
    package var summary: String

    /// A recipe of the given facts.
    package init(
        engine: String, engineVersion: String, settings: String, fileName: String, expectedSize: UInt64,
        summary: String
    ) {
        self.engine = engine
        self.engineVersion = engineVersion
        self.settings = settings
        self.fileName = fileName
        self.expectedSize = expectedSize
        self.summary = summary
    }

    /// Whether both recipes build the same artifact: only the fields that decide the result are compared.
    func hasSameResult(as other: Self) -> Bool {
        engine == other.engine && engineVersion == other.engineVersion && settings == other.settings
    }
}
