import Foundation
import HearthBase
import HearthCatalog
import HearthClassification
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
        let program = executable.map { Path($0.path) } ?? WorkerProcess.thisProgram
        engines.workerProgram = program
        EngineOpening.driverProgram.withLock { $0 = program }
        for format in engines.formats {
            engines.move(format) { request in
                try await WorkerEngine.open(
                    try await blocking { try WorkerLoad.launch(request, program) }, progress: request.progress)
            }
        }
        return engines
    }

    /// What the system lets a worker be denied, in words.
    package static var confinement: [String] {
        let means = Confinement.available()
        return [
            means.landlockVersion.map { "files limited (Landlock \($0))" } ?? "files not limited (no Landlock)",
            means.filtersCalls ? "system calls filtered (seccomp)" : "system calls not filtered (no seccomp)",
        ]
    }

    /// Serves an engine to the process that started this one as a worker, and returns when that is done. Call it first in
    /// `main`, before any other thread and task.
    /// - Parameter arguments: of the process.
    /// - Returns: the status to exit with; `nil` for a process that was not started as a worker.
    public static func serveWorker(arguments: [String] = CommandLine.arguments) -> Int32? {
        guard arguments.dropFirst().first == WorkerStart.command else { return nil }
        var words = Array(arguments.dropFirst(2))
        guard let limits = WorkerLimits(takenFrom: &words), let start = WorkerStart(words: words) else {
            return ErrorDisposition.usage.exitStatus
        }
        let channel = FrameChannel(descriptor: WorkerProcess.channelDescriptor)
        do {
            try limits.apply()
            let networks = start.classifies ? ClassifierSupport.readable + Confinement.libraryFolders : []
            let drivers = start.drivesGPUs ? Confinement.driverFiles + Confinement.libraryFolders : []
            _ = confine(
                readable: start.readable + networks + drivers, writable: start.writable,
                devices: start.drivesGPUs ? Confinement.gpuDevices : [])
            try endWithParent(channel)
        } catch {
            return ErrorDisposition.failed.exitStatus
        }
        let classifier = HostedClassifier()
        EngineService(channel, logLevel: start.logLevel) { content, progress in
            try await JSON.value(WorkerLoad.self, Data(content)).open(progress)
        } work: { content, progress in
            if start.classifies { return try await classifier.answer(content) }
            return try await JSON.value(WorkerJob.self, Data(content)).run(progress)
        }.run()
        return 0
    }
}

/// The start of a worker: the program, and the files that it may use.
struct WorkerStart: Sendable {
    static let command = "worker"

    var program = WorkerProcess.thisProgram
    var readable: [Path] = []
    var writable: [Path] = []
    /// Whether it classifies, and reads the libraries for that.
    var classifies = false
    /// Whether it uses the drivers of GPUs and their devices.
    var drivesGPUs = false
    /// The lowest level of the entries of its log that this process hears.
    var logLevel = Log.lowestLevel
    var limits = WorkerLimits()

    init(
        _ program: Path = WorkerProcess.thisProgram, readable: [Path] = [], writable: [Path] = [],
        classifies: Bool = false
    ) {
        (self.program, self.readable, self.writable, self.classifies) = (program, readable, writable, classifies)
    }

    /// Reads the words of a command line; `nil` if they name no start.
    fileprivate init?(words: [String]) {
        for word in words {
            let parts = word.split(separator: "=", maxSplits: 1).map(String.init)
            switch (parts.first, parts.dropFirst().first) {
            case ("classify", nil): classifies = true
            case ("gpu", nil): drivesGPUs = true
            case ("log", let level?): logLevel = Log.Level(rawValue: level)
            case ("read", let path?): readable.append(Path(path))
            case ("write", let path?): writable.append(Path(path))
            default: return nil
            }
        }
    }

    /// Starts the process. Blocks.
    func start() throws -> any WorkerHandle {
        let (process, channel) = try WorkerProcess.spawn(
            executable: program,
            arguments: [Self.command] + (classifies ? ["classify"] : []) + (drivesGPUs ? ["gpu"] : [])
                + (logLevel.map { ["log=\($0.rawValue)"] } ?? []) + readable.map { "read=\($0.string)" }
                + writable.map { "write=\($0.string)" }, limits: limits)
        return StartedWorker(worker: process, channel: channel)
    }
}

/// What the worker of an engine opens.
private struct WorkerLoad: Codable {
    let weights: String
    let projector: String?
    /// The settings of the engine, as `config.json` has them.
    let settings: String
    let instructionFolder: String?
    let deviceMemory: UInt64
    let occupied: UInt64
    let checksWeights: Bool
    /// Whether MLX runs the folder of the weights.
    let isNative: Bool

    init(_ request: EngineRegistry.Request, _ instructionFolder: Path?) {
        let given = request.configuration
        var settings = Configuration()
        settings.contextLength = given.contextLength
        settings.cacheType = given.cacheType
        settings.flashAttention = given.flashAttention
        settings.threads = given.threads
        (settings.imageMinTokens, settings.imageMaxTokens) = (given.imageMinTokens, given.imageMaxTokens)
        settings.stateFolder = request.stateFolder
        settings.ignoresMemory = given.ignoresMemory
        (settings.server.slots, settings.server.cells) = (given.server.slots, given.server.cells)
        (weights, projector) = (request.weights.string, request.projector?.string)
        self.instructionFolder = instructionFolder?.string
        self.settings = String(decoding: settings.json(), as: UTF8.self)
        (deviceMemory, occupied) = (request.deviceMemory, request.occupied)
        checksWeights = request.checksWeights
        isNative = request.files.format == .mlx
    }

    /// Loads the engine in this process.
    func open(_ progress: @escaping @Sendable (Float) -> Void) async throws -> any InferenceEngine {
        let configuration = try Configuration(json: Data(settings.utf8))
        #if MLX
        if isNative {
            var request = EngineRegistry.Request(
                files: ReleaseFiles(weights: Path(weights), format: .mlx), configuration: configuration,
                deviceMemory: deviceMemory)
            (request.occupied, request.progress) = (occupied, progress)
            return try await NativeMLX.open(request)
        }
        #endif
        return try await EngineOpening.open(
            Path(weights), projector: projector.map { Path($0) }, configuration: configuration,
            instructionFolder: instructionFolder.map { Path($0) }, deviceMemory: deviceMemory, occupied: occupied,
            checksWeights: checksWeights, progress: progress)
    }

    /// How its worker is started. Blocks.
    static func launch(_ request: EngineRegistry.Request, _ program: Path) throws -> WorkerEngine.Launch {
        let configuration = request.configuration
        if let folder = request.stateFolder { try KeptStates.prepare(folder, limit: KeptStates.conversationLimit) }
        let instructions = KeptStates.instructionFolder(of: request)
        var start = WorkerStart(
            program, readable: request.weights.shards + [request.projector].compactMap(\.self),
            writable: [request.stateFolder, instructions].compactMap(\.self))
        start.drivesGPUs = EngineOpening.drivesGPUs
        #if MLX
        if request.files.format == .mlx {
            try NativeMLX.confine(&start, for: request)
            return WorkerEngine.Launch(
                model: request.weights.parent.lastComponent,
                content: Array(try JSON.data(WorkerLoad(request, instructions)))
            ) { [start] in try start.start() }
        }
        #endif
        // Drivers reserve addresses for the memory of their cards; how many was not measured.
        start.limits.dataBytes = configuration.ignoresMemory || start.drivesGPUs ? nil : try request.dataLimit
        return WorkerEngine.Launch(
            model: request.weights.lastComponent, content: Array(try JSON.data(WorkerLoad(request, instructions)))
        ) { [start] in try start.start() }
    }
}

extension EngineRegistry.Request {
    /// The folder for states of this model alone; `nil` without the setting.
    fileprivate var stateFolder: Path? { configuration.stateFolder.map { KeptStates.folder(of: weights, in: $0) } }

    /// The private memory of a worker in bytes. Without a plan, which the load refuses to make too, that of the file and
    /// some more. Beyond the plan it has room for kept
    /// states and pictures, a context for vectors, and the stacks and static data that the system counts too. The weights
    /// are mapped and do not count, but a back end can copy them into an order of its own, so they are in it.
    fileprivate var dataLimit: UInt64? {
        get throws {
            guard
                let plan = try MemoryPlanning.plan(
                    file: weights, projector: projector, configuration: configuration, deviceMemory: deviceMemory,
                    occupied: occupied)
            else {
                let size = weights.shards.map { (try? LocalFileSystem().status(at: $0)?.size) ?? 0 }.saturatedSum
                return min(deviceMemory, size.addingSaturating(1 << 30))
            }
            for compromise in plan.compromises {
                Log.write(.warning, "memory", "\(weights.lastComponent): \(compromise)")
            }
            // States up to a thirty-second of the memory and 1 GiB, pictures up to half of that and 256 MiB.
            let kept = min(1280 << 20, deviceMemory / 16)
            return plan.estimate.total.addingSaturating(plan.estimate.compute).addingSaturating(kept)
                .addingSaturating(256 << 20)
        }
    }
}

extension Path {
    /// The file with all parts of a split model.
    fileprivate var shards: [Path] {
        guard let name = RelativePath(lastComponent).flatMap({ ShardName($0) }) else { return [self] }
        return name.paths(beside: self)
    }
}

/// The workers of this process that live.
package enum LivingWorkers {
    private struct Entry {
        weak var worker: WorkerProcess?
    }

    private static let workers = Locked<[ObjectIdentifier: Entry]>([:])
    private static var living: [WorkerProcess] { workers.withLock { $0.values.compactMap(\.worker) } }

    /// The numbers of their processes.
    package static var all: Set<Int32> { Set(living.map(\.pid)) }

    /// Ends all of them at once.
    package static func end() { for worker in living { worker.kill() } }

    fileprivate static func add(_ worker: WorkerProcess) {
        workers.withLock { $0[ObjectIdentifier(worker)] = Entry(worker: worker) }
    }

    fileprivate static func remove(_ worker: WorkerProcess) {
        workers.withLock { $0[ObjectIdentifier(worker)] = nil }
    }
}

private struct StartedWorker: WorkerHandle {
    let worker: WorkerProcess
    let channel: FrameChannel

    init(worker: WorkerProcess, channel: FrameChannel) {
        (self.worker, self.channel) = (worker, channel)
        LivingWorkers.add(worker)
    }

    var process: Int32 { worker.pid }

    func kill() { worker.kill() }

    func reap() { worker.reap() }

    func ending() async -> WorkerEnding {
        let exit = await worker.wait()
        LivingWorkers.remove(worker)
        return WorkerEnding(
            reason: exit.reason.words, lastWords: exit.errorText.boundedLine(maximumBytes: 512),
            isOutOfMemory: exit.isOutOfMemory, isOwnDoing: exit.isOwnDoing)
    }
}

extension WorkerExit.Reason {
    fileprivate var words: String {
        switch self {
        case .status(let status): "it left with status \(status)"
        case .signal(let signal): "it crashed (signal \(signal))"
        case .unknown: "for an unknown reason"
        }
    }
}
