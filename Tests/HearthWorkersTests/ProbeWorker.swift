import Foundation
import HearthBase
import HearthTestSupport

@testable import HearthWorkers

/// A started `HearthWorkerProbe`.
struct ProbeWorker {
    /// The built program, beside the test's own executable.
    static let program: Path = {
        let tests = Bundle.main.executableURL ?? URL(fileURLWithPath: CommandLine.arguments[0])
        return Path(tests.resolvingSymlinksInPath().deletingLastPathComponent().path + "/HearthWorkerProbe")
    }()

    /// The behavior of a sanitizer that the tests were built with. Confined processes cannot search for leaks.
    private static let sanitizer: [String: String] = {
        var variables = ProcessInfo.processInfo.environment.filter { $0.key.hasSuffix("SAN_OPTIONS") }
        variables["LSAN_OPTIONS"] = "detect_leaks=0"
        return variables
    }()

    let process: WorkerProcess
    let channel: FrameChannel
    let held: Confinement.Held

    /// Starts one, and waits until it has confined itself.
    static func start(
        _ arguments: [String] = ["free"], descriptors: [Int32] = [], limits: WorkerLimits = WorkerLimits(),
        environment: [String: String] = [:]
    ) async throws -> ProbeWorker {
        let variables = sanitizer.merging(environment) { $1 }
        return try await blocking {
            let (process, channel) = try WorkerProcess.spawn(
                executable: program, arguments: arguments, descriptors: descriptors, limits: limits,
                environment: variables)
            let text = try channel.receive().map { String(decoding: $0, as: UTF8.self) } ?? ""
            return ProbeWorker(process: process, channel: channel, held: .init(rawValue: Int32(text) ?? -1))
        }
    }

    /// Has it perform a deed.
    /// - Returns: its answer; `nil` if it ended instead.
    func perform(_ words: String...) async throws -> String? { try await perform(words) }

    func perform(_ words: [String]) async throws -> String? {
        try await blocking {
            try channel.send(Array(words.joined(separator: "\n").utf8))
            return try channel.receive().map { String(decoding: $0, as: UTF8.self) }
        }
    }
}
