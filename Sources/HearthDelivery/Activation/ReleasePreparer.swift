import HearthBase

/// Makes of a release what its engine runs best on this device: a compiled Core ML model, a smaller quantisation.
///
/// Delivery knows no engine: the umbrella module gives one to `ModelManager`. What is made is cached for each release
/// below `prepared/`, and made again when it is missing, damaged, or was made by another engine or other settings.
/// Whatever fails here is no obstacle: the release is used as it came.
public protocol ReleasePreparer: Sendable {
    /// What is to be made of a release, `nil` where it is best used as it is. Cheap: at most a look at a file's head.
    func recipe(for release: InstalledRelease) async throws -> PreparationRecipe?

    /// Writes the file a recipe tells of. The caller brings it to the disk, checks it and moves it to its place.
    /// - Parameters:
    ///   - recipe: what ``recipe(for:)`` said.
    ///   - release: its files are read and never changed.
    ///   - target: the file to write; nothing is there.
    ///   - progress: 0...1, on any thread.
    func build(
        _ recipe: PreparationRecipe, of release: InstalledRelease, at target: Path,
        progress: @escaping @Sendable (Double) -> Void
    ) async throws
}

/// What an engine wants to make of a release. Two that are equal make the same.
public struct PreparationRecipe: Sendable, Hashable, Codable {
    /// The engine, such as `llama.cpp`.
    public var engine: String
    /// Its version: another one may read or write another format.
    public var engineVersion: String
    /// Everything else that the result depends on, such as `q4_k_m`.
    public var settings: String
    /// The name of the file that is made, with the extension its engine knows.
    public var fileName: String
    /// The bytes it is going to take, for the look at the free space; a guess.
    public var expectedSize: UInt64
    /// What it is and why, for people: `Q4_K_M, because F16 does not fit into the memory`.
    public var summary: String

    /// A recipe of the given facts.
    public init(
        engine: String, engineVersion: String, settings: String, fileName: String, expectedSize: UInt64, summary: String
    ) {
        self.engine = engine
        self.engineVersion = engineVersion
        self.settings = settings
        self.fileName = fileName
        self.expectedSize = expectedSize
        self.summary = summary
    }
}

/// What was made of a release, whole as far as its name and size tell.
public struct PreparedRelease: Sendable, Hashable {
    public let release: ReleaseIdentity
    /// The file an engine opens in place of the release's weights.
    public let path: Path
    public let recipe: PreparationRecipe
    /// The length in bytes.
    public let size: UInt64
    /// What its bytes hash to.
    public let digest: SHA256Digest
}
