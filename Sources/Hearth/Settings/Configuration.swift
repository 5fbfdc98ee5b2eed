import Foundation
import HearthBase
import HearthCatalog
import HearthHTTP
import HearthInference

/// The settings of a home, stored in `config.json`, which only its owner can access.
///
/// ```json
/// { "origins": { "main": "https://models.example.org/models.json" },
///   "defaultModel": "smollm2-135m-instruct", "contextLength": 4096, "threads": 3, "network": { "metered": "deny" } }
/// ```
/// Members of other versions are preserved when the file is written, and so are invalid values: these stop only work that
/// needs them.
public struct Configuration: Sendable, Hashable {
    /// The origins: addresses of `models.json` files by a name that the user chooses.
    public var origins: [String: URL] = [:]
    /// The trusted roots of signed origins, by the names of the origins.
    package var roots: [String: TrustedRoot] = [:]
    /// The default model of `chat`: `family[@version][:variant]`.
    public var defaultModel: String?
    /// The model that answers questions with pictures, if the default one cannot see: `family[@version][:variant]`.
    public var visionModel: String?
    /// The context window in tokens; `nil` for the model's own, limited by the engine.
    public var contextLength: Int?
    /// The context windows of single models in tokens, by the name of their family.
    package var contexts: [String: Int] = [:]
    /// The type of keys and values in the cache; `nil` for `f16`, or `q8_0` if only that fits.
    package var cacheType: CacheType?
    /// Whether to use flash attention; `nil` lets llama.cpp decide.
    package var flashAttention: FlashAttention?
    /// Whether to load models that need more memory than the device has, without reducing them.
    public var ignoresMemory = false
    /// The minimum and maximum tokens of a picture; `nil` for the projector's own.
    public var imageMinTokens: Int?
    public var imageMaxTokens: Int?
    /// The folder for computed states of conversations, in files only their owner can access; they contain what was
    /// said. `nil` keeps some in memory while the model is loaded.
    public var stateFolder: Path?
    /// Where the command's engines run.
    package var isolation = EngineIsolation.worker
    /// What runs models of MLX.
    package var mlx = MLXChoice.imported
    /// The type of imported weights that were not quantized before.
    package var importQuantization = ImportQuantization.automatic
    /// The number of compute threads; `nil` lets the engine decide.
    public var threads: Int?
    /// The maximum tokens of an answer; `nil` for the package's default.
    public var maximumNewTokens: Int?
    /// The sampling temperature; `nil` for the package's default.
    public var temperature: Float?
    /// What to do on metered networks; `nil` asks if a user can be asked, and refuses otherwise.
    public var meteredUse: MeteredUse?
    /// The address of a cache of this site, asked for public files before their origin; `nil` for none.
    package var mirror: URL?
    /// Whether local models answer everything, also where a cloud is set up.
    public var forceLocal = false
    /// The tier that includes the cloud or not, if no app's purchases say: `free`, `starter` or `pro`.
    public var tier: String?
    /// The messages to the cloud in each month; `nil` if they are not counted.
    public var credits: Int?
    /// The cloud model.
    package var cloud = CloudConfiguration()
    /// The other servers whose models are served, by name.
    package var upstreams: [String: UpstreamConfiguration] = [:]
    /// The models that answer under another name, in the order in which they are tried.
    package var aliases: [String: [String]] = [:]
    /// The assistant.
    package var assistant = AssistantConfiguration()
    /// The lists of models.
    package var library = LibraryConfiguration()
    /// The models to begin with.
    package var catalog = CatalogConfiguration()
    /// The resident process.
    package var server = ServerConfiguration()
    /// The service that gives out addresses of files.
    package var gateway = GatewayConfiguration()

    /// Keys that were set to their default.
    var explicit: Set<String> = []
    /// The members of the file that are no valid settings: those of other versions, and ``invalid``.
    var rest: JSONMembers = [:]
    /// Invalid values of settings by their keys, and sections that are no objects by their names.
    var invalid: [String: InvalidSetting] = [:]

    /// The maximum size of a configuration file in bytes.
    public static let maximumFileSize = 1 << 20

    /// Settings with these origins only: the address of a `models.json` by name.
    public init(origins: [String: URL] = [:]) { self.origins = origins }
}

extension Configuration {
    /// The settings for the engine of one model; `nil` for a file of no family.
    package func engine(of family: Family?) -> Configuration {
        guard let length = family.flatMap({ contexts[$0.name] }) else { return self }
        var settings = self
        settings.contextLength = length
        return settings
    }
}

/// A value of the file that cannot be used.
struct InvalidSetting: Sendable, Hashable {
    let expectation: String
    let found: String

    func error(_ key: String) -> ConfigurationError {
        var error = ConfigurationError.invalid(key, expectation, found: found)
        error.context.remedy = "Correct it in config.json, or set or unset \(key)."
        return error
    }
}

/// What runs models of MLX.
package enum MLXChoice: String, Sendable, Hashable, CaseIterable {
    /// They are imported for llama.cpp.
    case imported = "import"
    /// MLX itself runs them, where its library is installed.
    case native
}

/// What becomes of weights in 16 bits that are imported.
package enum ImportQuantization: String, Sendable, Hashable, CaseIterable {
    /// As they are, or the best type of which the model fits this device.
    case automatic = "auto"
    /// As they are.
    case asStored = "as-stored"
    case q8_0, q6_k, q5_k_m, q4_k_m, q4_0
}

/// Where the engines of the command run.
package enum EngineIsolation: String, Sendable, Hashable, CaseIterable {
    /// Each in a process of its own.
    case worker
    /// In the process that uses them.
    case inline
}
