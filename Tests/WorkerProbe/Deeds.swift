import Dispatch
import Foundation
import HearthBase
import HearthWorkers

/// The deeds of the worker. Each answers with a text; most with the value of `errno`, 0 for success.
enum Deeds {
    static func perform(_ words: [String]) -> String {
        let rest = Array(words.dropFirst())
        switch words.first {
        case "call": return "\(SystemCall.perform(rest))"
        case "result": return "\(SystemCall.result(rest))"
        case "allocate": return allocate(Int(rest[0]) ?? 0)
        case "thread": return thread()
        case "read": return read(rest[0])
        case "replace": return replace(rest[0])
        case "spawn": return spawn(rest[0])
        case "alone": return alone()
        case "environment":
            return ProcessInfo.processInfo.environment.map { "\($0)=\($1)" }.sorted().joined(separator: " ")
        case "descriptors": return descriptors()
        case "rounds": return Rounds.run(Int(rest[0]) ?? 0)
        case "parent": return Rounds.keepChild()
        case "say":
            say(rest.joined(separator: " "))
            return "0"
        case "abort": abort()
        case "crash":
            UnsafeMutablePointer<Int>(bitPattern: rest.count + 8)?.pointee = 1
            return "alive"
        case "exit": _exit(Int32(rest[0]) ?? 0)
        case "spin": while true {}
        default: return "unknown"
        }
    }

    static func say(_ text: String) {
        _ = Array(text.utf8).withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }

    private static func allocate(_ bytes: Int) -> String {
        guard let memory = malloc(bytes) else { return "\(errno)" }
        memset(memory, 1, bytes)
        free(memory)
        return "0"
    }

    private static func thread() -> String {
        let done = DispatchSemaphore(value: 0)
        let name = Locked("")
        Thread {
            ThreadName.current = "test.thread"
            name.withLock { $0 = ThreadName.current }
            done.signal()
        }.start()
        done.wait()
        return name.withLock { $0 }
    }

    private static func read(_ path: String) -> String {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return "\(errno)" }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 100)
        let count = Foundation.read(descriptor, &bytes, bytes.count)
        return count < 0 ? "\(errno)" : String(decoding: bytes[..<count], as: UTF8.self)
    }

    /// Replaces a file as the engine does with its states.
    private static func replace(_ path: String) -> String {
        do {
            try LocalFileSystem().replaceContents(of: Path(path), with: Data("state".utf8))
            return "0"
        } catch {
            return "\((error as? FileError)?.context.systemError ?? -1)"
        }
    }

    private static func spawn(_ program: String) -> String {
        var process: pid_t = 0
        var arguments: [UnsafeMutablePointer<CChar>?] = [strdup(program), nil]
        return "\(posix_spawn(&process, program, nil, nil, &arguments, nil))"
    }

    /// Whether the process leads a session and blocks no signal.
    private static func alone() -> String {
        var blocked = sigset_t()
        sigprocmask(SIG_BLOCK, nil, &blocked)
        let isFree = (1...31).allSatisfy { sigismember(&blocked, $0) == 0 }
        return "\(getsid(0) == getpid() && isFree)"
    }

    private static func descriptors() -> String {
        let open = (0..<1024).filter { fcntl(Int32($0), F_GETFD) >= 0 }
        return open.map { "\($0)" }.joined(separator: " ")
    }
}
