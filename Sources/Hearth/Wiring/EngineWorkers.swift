import Foundation
import HearthBase
import HearthCatalog
import HearthInference
import HearthWorkers

extension EngineRegistry {
    /// The engines of this build, each in a process of its own: what a model file does to its engine ends that process
    /// and nothing else.
    ///
    /// A worker has limits of memory and time, reads the model's files and no others, and opens no connection, as far as
    /// the system can enforce it. After its end the next request starts another one.
    /// - Parameter executable: a program whose `main` begins with ``serveWorker(arguments:)``, such as `hearth`; `nil`
    ///   for the running one.
    public static func workers(executable: URL? = nil) -> EngineRegistry {
        var engines = EngineRegistry.standard
        engines.areWorkers = true
        let program = executable.map { Path($0.path) } ?? WorkerProcess.thisProgram
        for format in engines.formats {
            engines.move(format) { request in
                try await WorkerEngine.open(WorkerOrder.launch(request, program), progress: request.progress)
            }
        }
        return engines
    }

    /// Serves an engine to the process that started this one as a worker, and returns when that is done. Call it first in
    /// `main`, before any other thread and task.
    /// - Parameter arguments: of the process.
    /// - Returns: the status to exit with; `nil` for a process that was not started as a worker.
    public static func serveWorker(arguments: [String] = CommandLine.arguments) -> Int32? {
        guard arguments.dropFirst().first == WorkerOrder.command else { return nil }
        var words = Array(arguments.dropFirst(2))
        guard let limits = WorkerLimits(takenFrom: &words) else { return ErrorDisposition.usage.exitStatus }
        do {
            try limits.apply()
        } catch {
            return ErrorDisposition.failed.exitStatus
        }
        let channel = FrameChannel(descriptor: WorkerProcess.channelDescriptor)
        EngineService(channel) { content, progress in
            try await WorkerOrder(content).open(progress)
        }.run()
        return 0
    }
}

/// What a worker opens.
private struct WorkerOrder: Codable {
    static let command = "worker"

    let weights: String
    let projector: String?
    /// The settings of the engine, as `config.json` has them.
    let settings: String
    let deviceMemory: UInt64
    let occupied: UInt64

    init(_ request: EngineRegistry.Request) {
        let given = request.configuration
        var settings = Configuration()
        settings.contextLength = given.contextLength
        settings.cacheType = given.cacheType
        settings.flashAttention = given.flashAttention
        settings.threads = given.threads
        (settings.imageMinTokens, settings.imageMaxTokens) = (given.imageMinTokens, given.imageMaxTokens)
        settings.stateFolder = given.stateFolder
        settings.ignoresMemory = given.ignoresMemory
        (settings.server.slots, settings.server.cells) = (given.server.slots, given.server.cells)
        (weights, projector) = (request.weights.string, request.projector?.string)
        self.settings = String(decoding: settings.json(), as: UTF8.self)
        (deviceMemory, occupied) = (request.deviceMemory, request.occupied)
    }

    init(_ content: [UInt8]) throws { self = try JSON.value(WorkerOrder.self, Data(content)) }

    /// Loads the engine in this process.
    func open(_ progress: @escaping @Sendable (Float) -> Void) async throws -> any InferenceEngine {
        try await EngineOpening.open(
            Path(weights), projector: projector.map { Path($0) },
            configuration: Configuration(json: Data(settings.utf8)), deviceMemory: deviceMemory, occupied: occupied,
            progress: progress)
    }

    static func launch(_ request: EngineRegistry.Request, _ program: Path) throws -> WorkerEngine.Launch {
        let content = Array(try JSON.data(WorkerOrder(request)))
        return WorkerEngine.Launch(model: request.weights.lastComponent, content: content) {
            let (process, channel) = try WorkerProcess.spawn(
                executable: program, arguments: [command], limits: WorkerLimits())
            return StartedWorker(worker: process, channel: channel)
        }
    }
}

private struct StartedWorker: WorkerHandle {
    let worker: WorkerProcess
    let channel: FrameChannel

    var process: Int32 { worker.pid }

    func kill() { worker.kill() }

    func ending() async -> WorkerEnding {
        let exit = await worker.wait()
        return WorkerEnding(
            reason: exit.reason.words, lastWords: exit.errorText, isOutOfMemory: exit.isOutOfMemory)
    }
}

extension WorkerExit.Reason {
    fileprivate var words: String {
        switch self {
        case .status(let status): "it left with status \(status)"
        case .signal(let signal): "signal \(signal)"
        case .unknown: "for an unknown reason"
        }
    }
}
