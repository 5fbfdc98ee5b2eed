import Foundation
import Hearth
import HearthBase
import HearthCatalog
import HearthInference
import HearthTestSupport

@testable import HearthCommand

/// Whether this build runs GGUF files: some commands name other reasons without an engine.
let hasEngine = EngineRegistry.standard.formats.contains(.gguf)

/// Remembers what was written; can behave like a terminal, or like a pipe nobody reads.
final class CaptureSink: TextSink {
    let isTerminal: Bool
    let width: Int?
    private let isClosed: Bool
    private let text = Locked("")
    private let written: @Sendable (String) -> Void

    init(width: Int? = nil, isClosed: Bool = false, written: @escaping @Sendable (String) -> Void = { _ in }) {
        self.written = written
        isTerminal = width != nil
        self.width = width
        self.isClosed = isClosed
    }

    var contents: String { text.withLock { $0 } }

    func write(_ more: String) throws {
        if isClosed { throw OutputClosed() }
        text.withLock { $0 += more }
        written(more)
    }
}

/// Input from a text.
struct FixedSource: TextSource {
    var text = ""
    var isTerminal = false

    func lines() -> AsyncStream<String> {
        AsyncStream { continuation in
            for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
                continuation.yield(String(line))
            }
            continuation.finish()
        }
    }

    func all(limit: Int) async throws -> String { text }
}

/// Runs a command line inside the test's process.
struct CommandProbe {
    let output: CaptureSink
    let errors: CaptureSink
    let environment: [String: String]
    let interruptions: Interruptions
    let time: TimeSource
    /// What there is for models.
    var device: @Sendable () -> MemoryPlan.Device = MemoryPlanning.device
    /// What a model may count on, `nil` for what it may here.
    var usableMemory: UInt64?
    /// The engines by model format.
    var engines: EngineRegistry = .standard
    /// The cloud model of the settings, and the network.
    var cloud: CloudModel?
    var network: ScriptedNetworkMonitor = ScriptedNetworkMonitor()
    /// The terminal somebody sits at.
    var terminal: (any ScreenTerminal)?

    init(
        home: Path, environment: [String: String] = [:], output: CaptureSink = CaptureSink(),
        errors: CaptureSink = CaptureSink(), interruptions: Interruptions = .timeless,
        time: TimeSource = .system
    ) {
        self.time = time
        self.interruptions = interruptions
        self.output = output
        self.errors = errors
        self.environment = environment.merging(["HEARTH_HOME": home.string]) { $1 }
    }

    /// The exit status of `hearth` with these words.
    func run(_ words: String..., input: FixedSource = FixedSource()) async -> Int32 {
        await run(words, input: input)
    }

    func run(_ words: [String], input: FixedSource = FixedSource()) async -> Int32 {
        var context = CommandContext(
            environment: environment,
            console: Console(output: output, errors: errors, environment: environment), input: input,
            interruptions: interruptions, time: time, device: device, engines: engines, terminal: terminal,
            passphraseCost: .none)
        context.network = { [network] in network }
        if let cloud { context.clouds = { _, _ in cloud } }
        if let usableMemory { context.usableMemory = { usableMemory } }
        return await HearthCommand.run(words, in: context)
    }
}

extension Interruptions {
    /// For which no time passes: a signal that comes again, however late on a slow machine, would end the test's own process.
    static var timeless: Interruptions { Interruptions(time: ManualClock().time) }
}

extension CommandProbe {
    /// Runs command lines in one home until one fails, and returns status, output and errors of the last one.
    static func run(
        _ lines: [[String]], input: String = "", _ folder: TemporaryFolder
    ) async -> (Int32, String, String) {
        var result: (Int32, String, String) = (0, "", "")
        for words in lines {
            let probe = CommandProbe(home: folder.path("home"))
            let status = await probe.run(words, input: FixedSource(text: input))
            result = (status, probe.output.contents, probe.errors.contents)
            if status != 0 { break }
        }
        return result
    }
}
