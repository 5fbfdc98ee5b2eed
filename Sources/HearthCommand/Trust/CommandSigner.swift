import Foundation
import HearthBase
import HearthCatalog

/// Signs with a key that a program holds, such as one on a hardware token.
///
/// The program gets the bytes to sign on its standard input and prints the signature in hexadecimal digits; its messages
/// go to the terminal, where it may ask for a PIN. It has two minutes.
struct CommandSigner: MetadataSigner {
    let key: MetadataKey
    /// The program, looked for in `PATH`, and its arguments.
    let words: [String]
    let environment: [String: String]

    /// The longest wait, in milliseconds.
    private static let limit: Int32 = 120_000

    func signature(of message: Data) throws(TrustError) -> [UInt8] {
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
        var input: [Int32] = [0, 0]
        var output: [Int32] = [0, 0]
        guard pipe2(&input, O_CLOEXEC) == 0 else { throw FileError(errno: errno, doing: "open", path: Path("a pipe")) }
        defer { for end in input where end >= 0 { close(end) } }
        guard pipe2(&output, O_CLOEXEC) == 0 else { throw FileError(errno: errno, doing: "open", path: Path("a pipe")) }
        defer { for end in output where end >= 0 { close(end) } }
        let process = try start(input: input[0], output: output[1])
        close(input[0])
        close(output[1])
        (input[0], output[1]) = (-1, -1)
        // At most a few hundred kilobytes: the program has to read them before it can print, so no pipe fills up.
        let sent = message.withUnsafeBytes { Self.send($0, to: input[1]) }
        close(input[1])
        input[1] = -1
        let received = Self.receive(from: output[0])
        if received == nil { kill(process, SIGKILL) }
        var status: Int32 = 0
        while waitpid(process, &status, 0) == -1, errno == EINTR {}
        guard let received else { throw failure("gave no signature within \(Self.limit / 1000) seconds") }
        guard status == 0 else { throw failure("failed, with the status \(status >> 8 & 0xFF)") }
        guard sent else { throw failure("did not read the bytes to sign") }
        return received
    }

    /// Starts the program with two ends of pipes as its input and output.
    private func start(input: Int32, output: Int32) throws -> pid_t {
        let arguments = words.map { strdup($0) } + [nil]
        let variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for text in arguments + variables { free(text) } }
        #if canImport(Darwin)
            var actions: posix_spawn_file_actions_t?
        #else
            var actions = posix_spawn_file_actions_t()
        #endif
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
        posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
        var process: pid_t = 0
        let number = posix_spawnp(&process, words[0], &actions, nil, arguments, variables)
        guard number == 0 else { throw FileError(errno: number, doing: "start", path: Path(words[0])) }
        return process
    }

    private static func send(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Bool {
        var rest = bytes
        while !rest.isEmpty {
            let count = write(descriptor, rest.baseAddress, rest.count)
            if count < 0 {
                if errno == EINTR { continue }
                return false
            }
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        }
        return true
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
