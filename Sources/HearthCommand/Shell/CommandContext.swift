import Hearth
import HearthBase
import HearthHTTP
import HearthInference
import HearthRouting

/// The environment of a command: variables, console, input and paths.
struct CommandContext: Sendable {
    let environment: [String: String]
    var console: Console
    var input: any TextSource
    let interruptions: Interruptions
    let time: TimeSource
    /// The device with its memory for models. Blocks.
    var device: @Sendable () -> MemoryPlan.Device = MemoryPlanning.device
    /// The memory available to models, without asking a GPU. Blocks.
    var usableMemory: @Sendable () -> UInt64 = { DeviceMemory.read().usable }
    /// The bytes read from memory in a second; `nil` disregards speed. Blocks.
    var bandwidth: @Sendable () -> Double? = { MemoryBandwidth.measured }
    /// The engines by model format.
    var engines: EngineRegistry = .standard
    /// The monitor of this device's network.
    var network: @Sendable () -> any NetworkMonitor = { SystemNetwork.monitor() }
    /// The cloud model of settings and environment. Blocks.
    var clouds: CloudModel.Finder = { try CloudModel.find($0, environment: $1) }
    /// The user's terminal, `nil` if the input or the output is not a terminal.
    var terminal: (any ScreenTerminal)?
    /// The cost of a guess of the passphrase of a new key.
    var passphraseCost = SealedSecret.Cost.default

    /// The home folder of models.
    /// - Throws: `ConfigurationError` with `no-home`.
    var home: Path {
        get throws { try HearthHome.path(environment: environment) }
    }

    /// The configuration of the home; empty if the file does not exist.
    /// - Throws: `ConfigurationError`, `FileError`
    var configuration: Configuration {
        get async throws {
            let home = try home
            return try await blocking { try Configuration.load(home: home) }
        }
    }

    /// The cloud model of the settings.
    func cloud(_ configuration: Configuration) async throws -> CloudModel? {
        try await blocking { [clouds, environment] in try clouds(configuration, environment) }
    }

    /// The folder of the credits and the last decisions.
    var routingFolder: Path { get throws { try home.appending("routing") } }

    /// A copy of this context with another console.
    func speaking(on console: Console) -> CommandContext {
        var context = self
        context.console = console
        return context
    }
}
