import Foundation
import HearthHTTP

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// The stand-in for the vendors' servers, with which the vendors' own clients have spoken: `scripts/cloud/stand_in.py`.
///
/// It stops with its last reference.
final class CloudStandIn: Sendable {
    /// Python, where it is installed.
    static let python = ["/usr/bin/python3", "/usr/local/bin/python3", "/opt/homebrew/bin/python3"]
        .first { FileManager.default.isExecutableFile(atPath: $0) }

    let url: URL
    private let process: Process
    /// The program would end when this is closed, if no other child had a copy of it.
    private let input = Pipe()

    /// Starts it on a free port. Blocks for a moment.
    init() throws {
        guard let python = Self.python else { throw CocoaError(.executableNotLoadable) }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: python)
        process.arguments = [Self.root.appending(path: "scripts/cloud/stand_in.py").path]
        process.environment = ["PYTHONDONTWRITEBYTECODE": "1"]
        process.standardInput = input
        process.standardError = FileHandle.nullDevice
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        guard let url = URL(string: line.trimmingCharacters(in: .whitespacesAndNewlines)), url.port != nil else {
            kill(process.processIdentifier, SIGKILL)
            throw CocoaError(.executableNotLoadable)
        }
        self.url = url
        self.process = process
    }

    // As with other servers of tests: a polite signal may be blocked in the child.
    deinit { kill(process.processIdentifier, SIGKILL) }

    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
}
