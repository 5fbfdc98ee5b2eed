import Foundation
import HearthBase
import HearthCatalog

/// Signs with a key that a program holds, such as one on a hardware token.
///
/// The program gets the bytes to sign on its standard input and prints the signature in hexadecimal digits; its messages
/// go to the terminal, where it may ask for a PIN. It has two minutes.
package struct CommandSigner: MetadataSigner {
    package let key: MetadataKey
    /// The program, looked for in `PATH`, and its arguments.
    let words: [String]
    let environment: [String: String]

    package init(key: MetadataKey, words: [String], environment: [String: String]) {
        (self.key, self.words, self.environment) = (key, words, environment)
    }

    /// The longest wait, in milliseconds.
    private static let limit: Int32 = 120_000

    package func signature(of message: Data) throws(TrustError) -> [UInt8] {
        let output: [UInt8]
        do {
            output = try run(message)
        } catch let error as TrustError {
            throw error
        } catch {
            throw failure("cannot be run", underlying: error)
        }
        let text = String(decoding: output, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        guard let bytes = [UInt8](hexadecimal: text), !bytes.isEmpty else {
            throw failure("printed no signature in hexadecimal digits")
        }
        return bytes
    }

    private func run(_ message: Data) throws -> [UInt8] {
        let process = Process()
        let (input, output) = (Pipe(), Pipe())
        // Looks for the program in `PATH`.
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = words
        process.environment = environment
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        // On a thread, since a program that does not read would block this one beyond the limit. A program that ends
        // without reading its input fails by its status or its output.
        let writing = dup(input.fileHandleForWriting.fileDescriptor)
        try input.fileHandleForWriting.close()
        Thread.detachNewThread {
            Self.send(message, to: writing)
            close(writing)
        }
        let received = Self.receive(from: output.fileHandleForReading.fileDescriptor)
        if received == nil { kill(process.processIdentifier, SIGKILL) }
        process.waitUntilExit()
        guard let received else {
            throw failure("gave no signature within \(Self.limit / 1000) seconds")
        }
        guard process.terminationStatus == 0 else {
            throw failure("failed, with the status \(process.terminationStatus)")
        }
        return received
    }

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

    /// The output up to its end; `nil` after the time limit, or if it is longer than a signature.
    private static func receive(from descriptor: Int32) -> [UInt8]? {
        var bytes: [UInt8] = []
        let end = ContinuousClock.now + .milliseconds(Int(limit))
        while ContinuousClock.now < end, bytes.count <= 4 * SignatureScheme.maximumSignatureLength {
            var ready = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&ready, 1, 1000) > 0 else { continue }
            var buffer = [UInt8](repeating: 0, count: 1024)
            let count = read(descriptor, &buffer, buffer.count)
            if count == 0 { return bytes }
            if count > 0 { bytes += buffer[..<count] }
            if count < 0, errno != EINTR { return nil }
        }
        return nil
    }

    private func failure(_ problem: String, underlying: (any Error)? = nil) -> TrustError {
        TrustError(
            .badKey, "the signing command \(words[0].quoted) \(problem)",
            context: ErrorContext(
                found: key.id,
                remedy: "It gets the bytes to sign on its input, and prints the signature in hexadecimal digits."),
            underlying: underlying)
    }
}
