import Foundation

/// A program of the system that gets bytes on its standard input and answers on its standard output. Only systems of
/// computers run other programs.
package struct AnsweringProgram: Sendable {
    /// The reason why a program gave no answer.
    package enum Failure: Error, Sendable, Hashable {
        /// The program is not on this machine, or could not be started.
        case notStarted
        /// The program took longer than the limit, or wrote more than it may, and was ended.
        case noAnswer
    }

    /// The end of a program.
    package struct Answer: Sendable, Hashable {
        package let output: [UInt8]
        /// The exit status; 0 for success, 127 for a program that is not on this machine.
        package let status: Int32
    }

    /// The program, looked for in `PATH`, and its arguments.
    package var words: [String]
    package var environment: [String: String]
    /// The longest wait for the answer.
    package var limit: Duration
    /// The most bytes of the answer.
    package var maximumOutput: Int
    /// Whether the program's standard error is that of this process.
    package var showsMessages = true

    package init(_ words: [String], environment: [String: String], limit: Duration, maximumOutput: Int) {
        (self.words, self.environment, self.limit, self.maximumOutput) = (words, environment, limit, maximumOutput)
    }

    /// Runs the program. Blocks.
    /// - Parameter flag: ends the program when it is set.
    /// - Throws: ``Failure``; `CancellationError`.
    package func answer(to message: Data, flag: StopFlag? = nil) throws -> Answer {
        #if os(Linux) || os(macOS)
        let process = Process()
        let (input, output) = (Pipe(), Pipe())
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = words
        process.environment = environment
        process.standardInput = input
        process.standardOutput = output
        if !showsMessages { process.standardError = FileHandle.nullDevice }
        do { try process.run() } catch { throw Failure.notStarted }
        // On a thread, since a program that does not read would block this one beyond the limit. A program that ends
        // without reading its input fails by its status or its output.
        let writing = dup(input.fileHandleForWriting.fileDescriptor)
        try input.fileHandleForWriting.close()
        Thread.detachNewThread {
            Self.send(message, to: writing)
            close(writing)
        }
        let end = ContinuousClock.now + limit
        var received = receive(from: output.fileHandleForReading.fileDescriptor, until: end, flag)
        // A program may close its output and go on.
        while received != nil, process.isRunning, ContinuousClock.now < end, flag?.isRaised != true { usleep(2000) }
        if process.isRunning {
            received = nil
            kill(process.processIdentifier, SIGKILL)
            // Its own children may live on: they are not waited for.
            try? output.fileHandleForReading.close()
        } else {
            process.waitUntilExit()
        }
        try flag?.check()
        guard let received else { throw Failure.noAnswer }
        return Answer(output: received, status: process.terminationStatus)
        #else
        throw Failure.notStarted
        #endif
    }

    #if os(Linux) || os(macOS)
    /// Writes to a pipe. To be called on a thread that ends afterwards: it no longer takes SIGPIPE, by which a reader that is
    /// gone would end the whole process.
    private static func send(_ message: Data, to descriptor: Int32) {
        var broken = sigset_t()
        sigemptyset(&broken)
        sigaddset(&broken, SIGPIPE)
        pthread_sigmask(SIG_BLOCK, &broken, nil)
        message.withUnsafeBytes { bytes in
            var rest = bytes
            while !rest.isEmpty {
                let count = write(descriptor, rest.baseAddress, rest.count)
                if count < 0 && errno != EINTR { return }
                rest = UnsafeRawBufferPointer(rebasing: rest[max(0, count)...])
            }
        }
    }

    /// The output up to its end; `nil` after the time limit, if it is too long, or when the flag is set.
    private func receive(
        from descriptor: Int32, until end: ContinuousClock.Instant, _ flag: StopFlag?
    ) -> [UInt8]? {
        var bytes: [UInt8] = []
        while ContinuousClock.now < end, bytes.count <= maximumOutput, flag?.isRaised != true {
            var ready = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&ready, 1, 100) > 0 else { continue }
            var buffer = [UInt8](repeating: 0, count: 4096)
            let count = read(descriptor, &buffer, buffer.count)
            if count == 0 { return bytes }
            if count > 0 { bytes += buffer[..<count] }
            if count < 0, errno != EINTR { return nil }
        }
        return nil
    }
    #endif
}
