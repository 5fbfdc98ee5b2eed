import Foundation
import HearthBase
import HearthServer

/// Starts the resident process beside this one, and waits until it answers.
struct DetachedServer: Sendable {
    /// The longest wait: reading the settings and recovering a home are quick, models are loaded later.
    private static let limit = Duration.seconds(30)
    private static let interval = Duration.milliseconds(50)
    /// The largest log that is continued.
    private static let logLimit: UInt64 = 8 << 20

    let context: CommandContext
    /// Whether the address for other machines is printed.
    let isOnNetwork: Bool

    /// Starts `hearth` with these words in a session of its own.
    func start(_ words: [String]) async throws {
        let place = ResidentPlace(home: try context.home, environment: context.environment)
        let client = ResidentClient(place)
        if await client.isServing() {
            context.console.say("A process serves this home already.")
            return try await printAddress(client)
        }
        let environment = context.environment.filter { !ServiceManager.variables.contains($0.key) }
        let process = try await blocking {
            try place.prepare()
            try Self.rotate(place.log)
            return try Self.spawn(words, environment: environment, log: place.log)
        }
        let watch = context.time.stopwatch()
        while !(await client.isServing()) {
            var status: Int32 = 0
            if waitpid(process, &status, WNOHANG) == process {
                throw ServerError(
                    .cannotListen, "the process ended at once: \(try await Self.lastLine(of: place.log))",
                    context: ErrorContext(file: place.log.string, remedy: "The log has more."))
            }
            guard watch.elapsed < Self.limit else {
                throw ServerError(
                    .noAnswer, "process \(process) does not answer yet",
                    context: ErrorContext(file: place.log.string, remedy: "Look at its log."),
                    disposition: .tryLater)
            }
            try await context.time.sleep(for: Self.interval)
        }
        context.console.say("Process \(process) serves this home. Its log is \(place.log).")
        try await printAddress(client)
    }

    private func printAddress(_ client: ResidentClient) async throws {
        guard let address = try await client.object("GET", "/hearth/v1/status")?["address"]?.string else {
            return
        }
        let opened = try await client.object("POST", "/hearth/v1/open")
        if isOnNetwork {
            if let url = opened?["url"]?.string { return try context.console.showAddress(url, QRCode(url)) }
            context.console.complain(
                "It listens on this machine only. End it with hearth stop, then start it with --lan.")
        }
        try context.console.print(address)
        if let path = opened?["path"]?.string {
            context.console.say("Open once in a browser: \(address)\(path)")
        }
    }

    // MARK: The process

    private static func rotate(_ log: Path) throws {
        let fileSystem = LocalFileSystem()
        guard let status = try fileSystem.status(at: log), status.size > logLimit else { return }
        try fileSystem.rename(log, to: log.withSuffix(".old"))
    }

    /// A new process, never a fork: this one has threads.
    private static func spawn(_ words: [String], environment: [String: String], log: Path) throws -> pid_t {
        #if canImport(Darwin)
        var actions: posix_spawn_file_actions_t?
        var attributes: posix_spawnattr_t?
        #else
        var actions = posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        #endif
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(
            &actions, STDOUT_FILENO, log.string, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO)
        #if os(Linux)
        // Descriptors that this process inherited would stay open as long as the new one runs.
        for name in try LocalFileSystem().contents(of: Path("/proc/self/fd")) {
            if let descriptor = Int32(name), descriptor > 2 { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        }
        #endif
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // A session of its own: the end of this terminal does not reach it.
        #if canImport(Darwin)
        let ownSession = Int16(POSIX_SPAWN_SETSID | POSIX_SPAWN_CLOEXEC_DEFAULT)
        #else
        let ownSession: Int16 = 0x80  // POSIX_SPAWN_SETSID, which only GNU's mode of the header has
        #endif
        posix_spawnattr_setflags(&attributes, ownSession)
        let program = try ProgramFile.path()
        let arguments = ([program] + words).map { strdup($0) } + [nil]
        let variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for text in arguments + variables { free(text) } }
        var process: pid_t = 0
        let failure = posix_spawn(&process, program, &actions, &attributes, arguments, variables)
        guard failure == 0 else {
            throw FileError(errno: failure, doing: "start", path: Path(program))
        }
        return process
    }

    private static func lastLine(of log: Path) async throws -> String {
        try await blocking {
            let file = try LocalFileSystem().open(log, .read)
            let size = try LocalFileSystem().status(of: file).size
            var bytes = [UInt8](repeating: 0, count: 4096)
            let start = size > 4096 ? size - 4096 : 0
            let count = try bytes.withUnsafeMutableBytes { try LocalFileSystem().read(file, into: $0, at: start) }
            let lines = String(decoding: bytes.prefix(count), as: UTF8.self).split(separator: "\n")
            let failure = lines.last { $0.hasPrefix("hearth: ") } ?? lines.last ?? "without a word"
            return failure.hasPrefix("hearth: ") ? String(failure.dropFirst("hearth: ".count)) : String(failure)
        }
    }
}
