import Foundation
import HearthBase

/// Where the program reads from.
protocol TextSource: Sendable {
    /// Whether a person types.
    var isTerminal: Bool { get }
    /// The lines as they come, without their ends; the sequence ends with the input or with the task.
    func lines() -> AsyncStream<String>
    /// Everything up to the end.
    /// - Throws: ``UsageError`` above `limit` bytes, ``FileError``.
    func all(limit: Int) async throws -> String
}

/// A source whose lines several ask for, one after the other: what one leaves the next one gets. Of a descriptor each begins to
/// read anew, and the line that the one before still waits for is lost.
struct ContinuedSource: TextSource {
    private let source: any TextSource
    private let rest: AsyncStream<String>

    /// Begins to read.
    init(_ source: any TextSource) {
        self.source = source
        rest = source.lines()
    }

    var isTerminal: Bool { source.isTerminal }
    func lines() -> AsyncStream<String> { rest }
    func all(limit: Int) async throws -> String { try await source.all(limit: limit) }
}

/// A stream of the process, or any open descriptor.
struct DescriptorSource: TextSource {
    let descriptor: Int32

    var isTerminal: Bool { isatty(descriptor) == 1 }

    func lines() -> AsyncStream<String> {
        AsyncStream { continuation in
            readOnThread { next in
                var line: [UInt8] = []
                while let chunk = next() {
                    for byte in chunk {
                        if byte == UInt8(ascii: "\n") {
                            continuation.yield(String(decoding: line, as: UTF8.self))
                            line = []
                        } else {
                            line.append(byte)
                        }
                    }
                }
                if !line.isEmpty { continuation.yield(String(decoding: line, as: UTF8.self)) }
                continuation.finish()
            }
        }
    }

    /// Runs `body` on a thread of its own with a function that gives the next bytes, `nil` at the end.
    func readOnThread(_ body: @escaping @Sendable (_ next: () -> [UInt8]?) -> Void) {
        // A read cannot be interrupted: the thread is left to the process's end, holding nothing.
        let thread = Thread {
            body {
                // An input that cannot be read any more has ended: a closed terminal says so with an error, and what was read
                // before it is still a line.
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
            return String(decoding: bytes, as: UTF8.self)
        }
    }

    /// The next bytes, none at the end.
    private func read(upTo limit: Int) throws -> [UInt8] {
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
