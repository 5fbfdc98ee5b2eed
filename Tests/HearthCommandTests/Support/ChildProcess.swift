import Foundation
import HearthBase
import HearthTestSupport

/// A program run beside the test, with its output read while it runs.
final class ChildProcess: Sendable {
    /// How it ended and what it said.
    struct Result: Sendable {
        /// The exit status, 128 and the signal's number for a death by signal.
        let status: Int32
        let output: String
        let errors: String
    }

    /// One start at a time: Foundation looks at the process's descriptors while it starts a child.
    static let starting = Locked(0)

    /// The built `hearth`, beside the test's own executable.
    static let hearth: Path = {
        let tests = Bundle.main.executableURL ?? URL(fileURLWithPath: CommandLine.arguments[0])
        return Path(tests.resolvingSymlinksInPath().deletingLastPathComponent().path + "/hearth")
    }()

    let identifier: Int32
    private let output: StreamReader
    private let errors: StreamReader
    private let ending: AsyncStream<Int32>
    private let hasEnded = Locked(false)

    /// How a sanitizer that these tests were built with is to behave; the programs they start have the same one.
    static let sanitizer = ProcessInfo.processInfo.environment.filter {
        ["ASAN_OPTIONS", "TSAN_OPTIONS"].contains($0.key)
    }

    /// Starts `hearth`, or another program, with an empty environment but for `environment`.
    init(
        _ words: [String], program: Path = ChildProcess.hearth, environment: [String: String] = [:], input: String = "",
        outputIsClosed: Bool = false
    ) throws {
        let process = Process()
        process.executableURL = program.url
        process.arguments = words
        process.environment = environment.merging(Self.sanitizer) { given, _ in given }
        let outputPipe = Pipe()
        let errorPipe = Pipe()
        let inputPipe = Pipe()
        process.standardOutput = outputPipe
        process.standardError = errorPipe
        process.standardInput = inputPipe
        let (ending, source) = AsyncStream<Int32>.makeStream()
        self.ending = ending
        process.terminationHandler = { [hasEnded] process in
            hasEnded.withLock { $0 = true }
            let isSignal = process.terminationReason == .uncaughtSignal
            source.yield(process.terminationStatus + (isSignal ? 128 : 0))
            source.finish()
        }
        if outputIsClosed { try outputPipe.fileHandleForReading.close() }
        try Self.starting.withLock { started in
            try process.run()
            started += 1
        }
        identifier = process.processIdentifier
        try inputPipe.fileHandleForWriting.write(contentsOf: Data(input.utf8))
        try inputPipe.fileHandleForWriting.close()
        output = StreamReader(outputIsClosed ? nil : outputPipe.fileHandleForReading)
        errors = StreamReader(errorPipe.fileHandleForReading)
        // Foundation holds on to a process that has ended and so to its pipes, and with a thousand open descriptors it reads past
        // the end of their list when it starts the next one.
        if !outputIsClosed { try outputPipe.fileHandleForReading.close() }
        try errorPipe.fileHandleForReading.close()
    }

    // What a test that failed has left waiting would wait for ever.
    deinit { if !hasEnded.withLock({ $0 }) { send(SIGKILL) } }

    /// The lines of its output as they come; to be iterated once.
    var outputLines: AsyncStream<String> { output.lines }
    /// The lines of its talk as they come; to be iterated once.
    var errorLines: AsyncStream<String> { errors.lines }
    /// What it said on stderr until now.
    var errorsUntilNow: String { errors.text }

    /// Sends it a signal.
    func send(_ signal: Int32) { kill(identifier, signal) }

    /// Returns when it has ended and everything it said was read.
    func result() async -> Result {
        var status: Int32 = -1
        for await value in ending { status = value }
        await output.finished()
        await errors.finished()
        return Result(status: status, output: output.text, errors: errors.text)
    }

    /// Runs to the end.
    static func run(
        _ words: [String], program: Path = ChildProcess.hearth, environment: [String: String] = [:], input: String = ""
    ) async throws -> Result {
        try await ChildProcess(words, program: program, environment: environment, input: input).result()
    }
}

/// Reads a pipe on a thread of its own.
private final class StreamReader: Sendable {
    let lines: AsyncStream<String>
    private let data = Locked(Data())
    private let end: AsyncStream<Never>

    init(_ handle: FileHandle?) {
        let (lines, lineSource) = AsyncStream<String>.makeStream()
        let (end, endSource) = AsyncStream<Never>.makeStream()
        self.lines = lines
        self.end = end
        guard let handle else {
            lineSource.finish()
            endSource.finish()
            return
        }
        let descriptor = dup(handle.fileDescriptor)
        let data = data
        Thread.detachNewThread {
            var pending: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 65536)
            while true {
                let count = read(descriptor, &buffer, buffer.count)
                if count <= 0 { break }
                data.withLock { $0.append(contentsOf: buffer[..<count]) }
                for byte in buffer[..<count] {
                    if byte == UInt8(ascii: "\n") {
                        lineSource.yield(String(decoding: pending, as: UTF8.self))
                        pending = []
                    } else {
                        pending.append(byte)
                    }
                }
            }
            close(descriptor)
            lineSource.finish()
            endSource.finish()
        }
    }

    var text: String { String(decoding: data.withLock { $0 }, as: UTF8.self) }

    func finished() async { for await _ in end {} }
}

/// A home, an origin and a host, all of a test's own.
final class HearthLab: Sendable {
    let folder: TemporaryFolder
    private let host = Locked<ChildProcess?>(nil)
    private let address = Locked("")

    init() throws { folder = try TemporaryFolder() }

    deinit { host.withLock { $0 }?.send(SIGKILL) }

    var environment: [String: String] {
        ["HEARTH_HOME": folder.path("home").string, "HEARTH_ORIGIN": manifest, "HOME": folder.path.string]
    }
    var origin: String { folder.path("origin").string }
    /// The address of the manifest that is served.
    var manifest: String { address.withLock { $0 } }
    /// The replies of the host until now.
    var log: [Substring] {
        (host.withLock { $0 }?.errorsUntilNow ?? "").split(separator: "\n").filter {
            $0.hasPrefix("GET ") || $0.hasPrefix("HEAD ")
        }
    }
    /// Those with bytes of models.
    var modelReplies: [Substring] { log.filter { $0.contains(" /models/") } }

    func run(_ words: String..., input: String = "") async throws -> ChildProcess.Result {
        try await ChildProcess.run(words, environment: environment, input: input)
    }

    /// Publishes a file and serves the origin.
    func serve(_ file: Path, _ words: String...) async throws -> ChildProcess.Result {
        let published = try await ChildProcess.run(
            ["publish", file.string, "--to", origin] + words, environment: environment)
        let host = try ChildProcess(["host", origin, "--access-log"], environment: environment)
        self.host.withLock { $0 = host }
        for await line in host.outputLines {
            address.withLock { $0 = line }
            break
        }
        return published
    }

    /// Sends the host a signal.
    func signalHost(_ signal: Int32) { host.withLock { $0 }?.send(signal) }

    /// Ends the host as Ctrl-C would.
    func endHost() async -> ChildProcess.Result? {
        guard let host = host.withLock({ $0 }) else { return nil }
        host.send(SIGINT)
        return await host.result()
    }
}
