import Foundation

/// A program of the system that runs apart from this process, with limits of its own: 2 GiB of address space, 60 s of processor
/// time, nothing on its standard input, and no variable of the environment but the search path. Only systems of computers run
/// other programs.
package struct LimitedProgram: Sendable, Hashable {
    /// The reason why a program gave no result.
    package enum Failure: Error, Sendable, Hashable {
        /// The program is not on this machine.
        case missing
        /// The program could not be started.
        case notStarted
        /// The program wrote more than the limit, and was ended.
        case outputTooLarge
        /// The program failed; the text is the beginning of what it wrote to its standard error.
        case failed(String)
    }

    /// The program's name and its arguments.
    package var words: [String]
    /// The most bytes that it writes.
    package var maximumOutput: Int

    package init(_ words: [String], maximumOutput: Int) {
        self.words = words
        self.maximumOutput = maximumOutput
    }

    /// The limits of address space in KiB and of processor time in seconds.
    private static let limits = "ulimit -v 2097152; ulimit -t 60; exec \"$@\""
    private static let maximumErrors = 4096

    /// Runs the program, and returns what it wrote. Blocks.
    package func run() throws(Failure) -> Data {
        #if os(Linux) || os(macOS)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", Self.limits, "sh"] + words
        process.environment = [
            "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin", "LC_ALL": "C",
        ]
        let (output, errors) = (Pipe(), Pipe())
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = errors
        do { try process.run() } catch { throw .notStarted }
        // A program that fills one pipe while the other is read would wait forever.
        let report = Locked(Data())
        let read = DispatchSemaphore(value: 0)
        let reader = Thread {
            ThreadName.current = "hearth.program"
            while true {
                let piece = errors.fileHandleForReading.availableData
                if piece.isEmpty { break }
                report.withLock { $0 += piece.prefix(max(0, Self.maximumErrors - $0.count)) }
            }
            read.signal()
        }
        reader.start()
        var data = Data()
        var isTooLarge = false
        while true {
            let piece = output.fileHandleForReading.availableData
            if piece.isEmpty { break }
            guard data.count + piece.count <= maximumOutput else {
                isTooLarge = true
                // A program that was started from a thread of a queue has the other signals blocked, as the thread has.
                kill(process.processIdentifier, SIGKILL)
                break
            }
            data += piece
        }
        process.waitUntilExit()
        read.wait()
        if isTooLarge { throw .outputTooLarge }
        switch process.terminationStatus {
        case 0: return data
        case 127: throw .missing
        default: throw .failed(report.withLock { String(decoding: $0, as: UTF8.self) })
        }
        #else
        throw .notStarted
        #endif
    }
}
