import HearthBase

/// Makes of a release what its engine runs best on this device: a compiled Core ML model, a smaller quantisation.
///
/// Delivery knows no engine: the umbrella module gives one to `ModelManager`. What is made is cached for each release
/// below `prepared/`, and made again when it is missing, damaged, or was made by another engine or other settings.
/// Whatever fails here is no obstacle: the release is used as it came.
public protocol ReleasePreparer: Sendable {
    /// What is to be made of a release, `nil` where it is best used as it is. Cheap: at most a look at a file's head.
    func recipe(for release: InstalledRelease) async throws -> PreparationRecipe?

    /// Whether what an engine opens in place of a release's own files is made here and nowhere else on this device: then what there
    /// is of that engine's, and ``recipe(for:)`` does not ask for, is opened by nobody any more.
    /// - Parameter engine: as in ``PreparationRecipe/engine``.
    func speaks(for engine: String) -> Bool

    /// Whether a release that is still elsewhere needs more memory than this device has as it comes, and fits as it is going to be
    /// prepared. Told by its catalog's entry, before anything is fetched; `false` where that says too little.
    func makesFit(_ release: Release) -> Bool

    /// What of all that speaks against making it is known without reading what it is made from; asked before that is read.
    /// - Throws: why it cannot be made.
    func check(_ recipe: PreparationRecipe, of release: InstalledRelease) async throws

    /// Makes the file or the folder a recipe tells of. The caller brings it to the disk, checks it and moves it to its place.
    /// - Parameters:
    ///   - recipe: what ``recipe(for:)`` said.
    ///   - release: its files are read and never changed.
    ///   - target: what to make; nothing is there. In a folder there may be files and folders, and nothing else.
    ///   - progress: 0...1, on a thread that may wait: between 0 and 1 each hundredth is noted on the disk, by which an end of the
    ///     process at this very place is told from any other.
    func build(
        _ recipe: PreparationRecipe, of release: InstalledRelease, at target: Path,
        progress: @escaping @Sendable (Double) -> Void
    ) async throws
}

extension ReleasePreparer {
    /// Somebody else may open what there is.
    public func speaks(for engine: String) -> Bool { false }

    /// Nothing is known before.
    public func check(_ recipe: PreparationRecipe, of release: InstalledRelease) async throws {}

    /// What is made is no smaller, or nobody can tell before.
    public func makesFit(_ release: Release) -> Bool { false }
}

/// What an engine wants to make of a release. Two that are equal make the same.
public struct PreparationRecipe: Sendable, Hashable {
    /// What an engine opens in place of the weights.
    public enum Product: String, Sendable, Hashable, Codable { case file, folder }

    /// What of a release it is made from: other bytes there make something else.
    public enum Source: Sendable, Hashable {
        /// The file of the weights.
        case weights
        /// Every file in a folder of the release and in those below it, such as `Leaf.mlpackage`.
        case folder(RelativePath)
    }

    /// The engine, such as `llama.cpp`.
    public var engine: String
    /// Its version: another one may read or write another format.
    public var engineVersion: String
    /// Everything else that the result depends on, such as `q4_k_m`.
    public var settings: String
    /// The name of the file or folder that is made, with the extension its engine knows.
    public var fileName: String
    /// The bytes it is going to take, for the look at the free space; a guess.
    public var expectedSize: UInt64
    /// What it is and why, for people: `Q4_K_M, because F16 does not fit into the memory`.
    public var summary: String
    /// Whether that is a file or a folder.
    public var product: Product
    /// What it is made from.
    public var source: Source

    /// A recipe of the given facts.
    public init(
        engine: String, engineVersion: String, settings: String, fileName: String, expectedSize: UInt64,
        summary: String, product: Product = .file, source: Source = .weights
    ) {
        self.engine = engine
        self.engineVersion = engineVersion
        self.settings = settings
        self.fileName = fileName
        self.expectedSize = expectedSize
        self.summary = summary
        self.product = product
        self.source = source
    }

    /// What of a release it is made from, and stands in place of; none for a release that holds no such thing.
    func sourceFiles(in release: InstalledRelease) -> [Receipt.File] {
        let files = release.receipt.files
        switch source {
        case .weights: return files.first { $0.role == .weights }.map { [$0] } ?? []
        case .folder(let folder): return files.filter { $0.name.folders.contains(folder) }
        }
    }

    /// The digest of what it is made from, `nil` for a release that holds no such thing.
    func sourceDigest(in release: InstalledRelease) -> SHA256Digest? {
        let files = sourceFiles(in: release)
        switch source {
        case .weights: return files.first?.digest
        case .folder: return files.isEmpty ? nil : SHA256Digest(listing: files.map { ($0.name, $0.size, $0.digest) })
        }
    }
}

/// A file that is made of the weights, which is what the first recipes were all about, says nothing of either.
extension PreparationRecipe: Codable {
    private enum Key: String, CodingKey {
        case engine, engineVersion, settings, fileName, expectedSize, summary, product, sourceFolder
    }

    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        self.init(
            engine: try values.decode(String.self, forKey: .engine),
            engineVersion: try values.decode(String.self, forKey: .engineVersion),
            settings: try values.decode(String.self, forKey: .settings),
            fileName: try values.decode(String.self, forKey: .fileName),
            expectedSize: try values.decode(UInt64.self, forKey: .expectedSize),
            summary: try values.decode(String.self, forKey: .summary),
            product: try values.decodeIfPresent(Product.self, forKey: .product) ?? .file,
            source: try values.decodeIfPresent(RelativePath.self, forKey: .sourceFolder).map(Source.folder) ?? .weights)
    }

    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Key.self)
        try values.encode(engine, forKey: .engine)
        try values.encode(engineVersion, forKey: .engineVersion)
        try values.encode(settings, forKey: .settings)
        try values.encode(fileName, forKey: .fileName)
        try values.encode(expectedSize, forKey: .expectedSize)
        try values.encode(summary, forKey: .summary)
        if product != .file { try values.encode(product, forKey: .product) }
        if case .folder(let folder) = source { try values.encode(folder, forKey: .sourceFolder) }
    }
}

/// What was made of a release, whole as far as names and sizes tell.
public struct PreparedRelease: Sendable, Hashable {
    public let release: ReleaseIdentity
    /// The file or folder an engine opens in place of the release's weights.
    public let path: Path
    public let recipe: PreparationRecipe
    /// The length in bytes; of a folder, of all files in it.
    public let size: UInt64
    /// What its bytes hash to; of a folder, the names, lengths and bytes of all that is in it.
    public let digest: SHA256Digest
}
