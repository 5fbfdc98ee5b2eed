import Hearth
import HearthBase
import HearthInference

/// What a command is given: who called it, where to speak, and where the models are.
struct CommandContext: Sendable {
    let environment: [String: String]
    let console: Console
    var input: any TextSource
    let interruptions: Interruptions
    let time: TimeSource
    /// What there is for models. Blocks.
    var device: @Sendable () -> MemoryPlan.Device = MemoryPlanning.device
    /// The bytes a model may count on, without a look at a GPU. Blocks.
    var usableMemory: @Sendable () -> UInt64 = { DeviceMemory.read().usable }
    /// The terminal somebody sits at, `nil` where the input or the output is none.
    var terminal: (any ScreenTerminal)?

    /// The home folder of models.
    /// - Throws: ``ConfigurationError`` with `no-home`.
    var home: Path {
        get throws { try HearthHome.path(environment: environment) }
    }

    /// The configuration of that home; an empty one when there is none yet.
    /// - Throws: ``ConfigurationError``, ``FileError``
    var configuration: Configuration {
        get async throws {
            let home = try home
            return try await blocking { try Configuration.load(home: home) }
        }
    }
}
