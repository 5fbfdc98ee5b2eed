import Dispatch
import Foundation
import HearthBase
import HearthWorkers

/// Workers of this worker.
enum Rounds {
    private static let kept = Locked<WorkerProcess?>(nil)
    private static let channel = Locked<FrameChannel?>(nil)

    /// Starts a worker that lives as long as this one.
    /// - Returns: its process identifier.
    static func keepChild() -> String {
        do {
            let (process, frames) = try WorkerProcess.spawn(arguments: ["free"], limits: WorkerLimits())
            kept.withLock { $0 = process }
            channel.withLock { $0 = frames }
            _ = try frames.receive()
            return "\(process.pid)"
        } catch { return "\(error)" }
    }

    /// Starts and ends workers: by a signal, by the end of the stream, and by releasing them.
    /// - Returns: the number of descriptors that stayed open. Does not return while a child stays.
    static func run(_ count: Int) -> String {
        let result = Locked("")
        let done = DispatchSemaphore(value: 0)
        Task {
            do {
                let text = try await rounds(count)
                result.withLock { $0 = text }
            } catch { result.withLock { $0 = "\(error)" } }
            done.signal()
        }
        done.wait()
        return result.withLock { $0 }
    }

    private static func rounds(_ count: Int) async throws -> String {
        // The first round opens what the libraries keep, and may still hold its own files.
        try await round(0)
        let before = openDescriptors
        for index in 0..<count { try await round(index) }
        // The threads of released workers collect them, then close their files.
        while hasChildren {}
        for _ in 0..<1000 where openDescriptors > before { sched_yield() }
        return "\(max(0, openDescriptors - before))"
    }

    private static func round(_ index: Int) async throws {
        // A small program that ends with the stream.
        let (process, channel) = try WorkerProcess.spawn(
            executable: Path("/bin/sh"), arguments: ["-c", "exec cat <&3"], limits: WorkerLimits())
        switch index % 3 {
        case 0:
            process.kill()
            _ = await process.wait()
        case 1:
            channel.shutdown()
            _ = await process.wait()
        default: break
        }
    }

    private static var hasChildren: Bool {
        var facts = siginfo_t()
        return waitid(P_ALL, 0, &facts, WEXITED | WNOHANG | WNOWAIT) == 0
    }

    private static var openDescriptors: Int { (0..<1024).count { fcntl(Int32($0), F_GETFD) >= 0 } }
}
