import Foundation
import HearthBase

/// An input that text is read from.
protocol TextSource: Sendable {
    /// Whether the input is a terminal.
    var isTerminal: Bool { get }
    /// The lines as they arrive, without line ends; ends with the input or with the task.
    func lines() -> AsyncStream<String>
    /// Reads the whole input.
    /// - Throws: ``UsageError`` above `limit` bytes, `FileError`.
    func all(limit: Int) async throws -> String
    /// Reads what is piped in beside other input; `nil` without a pipe or file, and if nothing comes soon.
    /// - Throws: ``UsageError`` above `limit` bytes, `FileError`.
    func piped(limit: Int) async throws -> String?
    /// Reads one line that a terminal does not show, such as a passphrase; `nil` at the end.
    /// - Parameter ask: shows the question, once the terminal hides what is typed.
    /// - Throws: `FileError`, `CancellationError`.
    func secretLine(_ ask: @escaping @Sendable () -> Void) async throws -> String?
}

extension TextSource {
    func piped(limit: Int) async throws -> String? { nil }
}

/// A source whose lines several readers consume one after the other. Each reader of a descriptor would start anew,
/// and lose the line that the previous one still waits for.
struct ContinuedSource: TextSource {
    private let source: any TextSource
    private let rest: AsyncStream<String>

    /// Starts reading.
    init(_ source: any TextSource) {
        self.source = source
        rest = source.lines()
    }

    var isTerminal: Bool { source.isTerminal }
    func lines() -> AsyncStream<String> { rest }
    func all(limit: Int) async throws -> String { try await source.all(limit: limit) }
}

/// Splits bytes into lines.
struct LineSplitter: Sendable {
    private var line: [UInt8] = []

    /// The lines that the next bytes complete, without line ends.
    mutating func append(_ bytes: [UInt8]) -> [String] {
        line += bytes
        var parts = line.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        line = Array(parts.removeLast())
        return parts.map { String(decoding: $0, as: UTF8.self) }
    }

    /// A last line without an end.
    var rest: String? { line.isEmpty ? nil : String(decoding: line, as: UTF8.self) }
}

/// An input stream of the process, or another descriptor.
struct DescriptorSource: TextSource {
    let descriptor: Int32

    var isTerminal: Bool { isatty(descriptor) == 1 }

    func lines() -> AsyncStream<String> {
        AsyncStream { continuation in
            readOnThread { next in
                var splitter = LineSplitter()
                while let chunk = next() {
                    for line in splitter.append(chunk) { continuation.yield(line) }
                }
                if let rest = splitter.rest { continuation.yield(rest) }
                continuation.finish()
            }
        }
    }

    /// Runs `body` on a new thread with a function that returns the next bytes, `nil` at the end.
    func readOnThread(_ body: @escaping @Sendable (_ next: () -> [UInt8]?) -> Void) {
        // A read cannot be interrupted, so the thread may live until the process ends; it holds no resources.
        let thread = Thread {
            body {
                // A read error, as of a closed terminal, ends the input; bytes read before still form a line.
                (try? read(upTo: 4096)).flatMap { $0.isEmpty ? nil : $0 }
            }
        }
        thread.name = "hearth.input"
        thread.start()
    }

    func all(limit: Int) async throws -> String {
        try await blocking {
            var bytes: [UInt8] = []
            while case let chunk = try read(upTo: 65536), !chunk.isEmpty {
                bytes += chunk
                guard bytes.count <= limit else {
                    throw UsageError("the input is longer than \(ByteCount(UInt64(limit)))", hint: nil)
                }
            }
            return try Self.text(bytes)
        }
    }

    /// The text of an input.
    /// - Throws: ``UsageError`` for what is no text.
    static func text(_ bytes: [UInt8]) throws -> String {
        guard !bytes.contains(0), let text = String(validating: bytes, as: UTF8.self) else {
            throw UsageError("the standard input is no text in UTF-8", hint: "Give a picture or a model by its path.")
        }
        return text
    }

    /// The longest wait for the first byte of a pipe, in milliseconds: a parent may leave one open and write nothing.
    private static let pipeLimit: Int32 = 3000

    func piped(limit: Int) async throws -> String? {
        let hasInput = await blocking {
            var status = stat()
            guard fstat(descriptor, &status) == 0 else { return false }
            switch status.st_mode & S_IFMT {
            case S_IFREG: return true
            case S_IFIFO:
                var ready = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                return poll(&ready, 1, Self.pipeLimit) > 0
            default: return false
            }
        }
        return hasInput ? try await all(limit: limit) : nil
    }

    /// Reads the next bytes, none at the end.
    func read(upTo limit: Int) throws -> [UInt8] {
        while true {
            var failure: Int32 = 0
            let bytes = [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
                #if canImport(Darwin)
                let result = Darwin.read(descriptor, buffer.baseAddress, limit)
                #else
                let result = Glibc.read(descriptor, buffer.baseAddress, limit)
                #endif
                if result < 0 { failure = errno }
                count = max(0, result)
            }
            if failure == 0 { return bytes }
            if failure == EAGAIN {
                var ready = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                _ = poll(&ready, 1, -1)
            } else if failure != EINTR {
                throw FileError(errno: failure, doing: "read", path: Path("standard input"))
            }
        }
    }
}
