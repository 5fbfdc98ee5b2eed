import CProcess
import Foundation
import HearthBase

/// A worker: a process of this or another program with one socket to this process, and no other access to it.
///
/// ```swift
/// let (process, channel) = try await blocking {
///     try WorkerProcess.spawn(arguments: ["worker"], limits: WorkerLimits(dataBytes: 1 << 30))
/// }
/// let exit = await process.wait()
/// ```
/// The worker runs in a session of its own, so that Ctrl-C in a terminal does not reach it. It ends when this process
/// ends, or when the channel is shut down. Releasing the last reference ends it too.
package final class WorkerProcess: Sendable {
    /// The process identifier. After the end the system may give it to another process.
    package var pid: Int32 { watch.pid }
    private let watch: WorkerWatch

    /// The file of the running program.
    package static var thisProgram: Path {
        #if os(Linux)
        return Path("/proc/self/exe")
        #else
        return Path(Bundle.main.executablePath ?? CommandLine.arguments[0])
        #endif
    }

    /// The descriptor of the worker's side of the channel, in the worker.
    package static let channelDescriptor: Int32 = 3

    /// Starts a worker. Blocks until the program has been loaded.
    /// - Parameters:
    ///   - arguments: the words of the command line after the program's name; those of the limits follow them.
    ///   - descriptors: files that the worker gets open, as 4, 5 and so on. They stay the caller's.
    ///   - environment: variables beside the time zone, and those that keep a crash from starting a debugger.
    /// - Throws: ``FileError`` if the program cannot be started.
    package static func spawn(
        executable: Path = thisProgram, arguments: [String], descriptors: [Int32] = [], limits: WorkerLimits,
        environment: [String: String] = [:]
    ) throws -> (WorkerProcess, FrameChannel) {
        // A crash ends at once: neither ggml nor Swift starts a program that writes the worker's memory out.
        var variables = ["GGML_NO_BACKTRACE": "1", "SWIFT_BACKTRACE": "enable=no"]
        variables["TZ"] = ProcessInfo.processInfo.environment["TZ"]
        variables.merge(environment) { $1 }
        let name = executable == thisProgram ? CommandLine.arguments.first ?? executable.string : executable.string
        let words = [name] + arguments + limits.arguments
        let assignments = variables.map { "\($0)=\($1)" }.sorted()
        func refusal(_ number: Int32) -> FileError { FileError(errno: number, doing: "start", path: executable) }
        guard !(words + assignments).contains(where: { $0.utf8.contains(0) }) else { throw refusal(EINVAL) }
        do {
            let (near, far) = try FrameChannel.descriptorPair()
            let channel = FrameChannel(descriptor: near)
            defer { close(far) }
            let errors = try ErrorPipe()
            defer { errors.closeWriting() }
            let watch = try WorkerWatch.start(errors: errors, memoryKills: MemoryKills.count()) {
                start(executable, words, assignments, [far] + descriptors, errors: errors.writing)
            }
            return (WorkerProcess(watch), channel)
        } catch FrameError.system(let number) {
            throw refusal(number)
        }
    }

    private static func start(
        _ executable: Path, _ words: [String], _ assignments: [String], _ descriptors: [Int32], errors: Int32
    ) -> Result<Int32, FrameError> {
        var process: pid_t = 0
        let error = withStrings(words) { words in
            withStrings(assignments) { assignments in
                descriptors.withUnsafeBufferPointer { descriptors in
                    executable.string.withCString { path in
                        var program = hearth_program(
                            path: path, arguments: words.baseAddress, environment: assignments.baseAddress,
                            descriptors: descriptors.baseAddress, descriptor_count: descriptors.count,
                            error_descriptor: errors)
                        return hearth_process_start(&program, &process)
                    }
                }
            }
        }
        return error == 0 ? .success(process) : .failure(.system(error))
    }

    private init(_ watch: WorkerWatch) { self.watch = watch }

    deinit { watch.kill() }

    /// Ends the worker at once (`SIGKILL`). Does nothing after its end.
    package func kill() { watch.kill() }

    /// Ends what is left of a worker that closed its channel.
    package func reap() { watch.kill(isDecided: false) }

    /// Waits for the worker's end. Any number of tasks may wait; cancellation does not shorten the wait.
    package func wait() async -> WorkerExit { await watch.wait() }

    /// The processor time that all threads of the worker have used, in seconds; `nil` after its end, and where the
    /// system does not report it.
    package var processorTime: Double? { watch.processorTime }
}
