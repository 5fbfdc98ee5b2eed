import CProcess
import Foundation
import HearthBase

/// Starts a worker on a thread of its own, waits there for its end, reads its standard error until then, and collects
/// its exit status, so that no zombie stays.
///
/// Linux ends a worker with the thread that started it, also a worker that is stopped. So that thread lives as long.
///
/// The identifier is used only under the lock and before the status is collected: until then the system gives it to no
/// other process.
final class WorkerWatch: Sendable {
    private struct State {
        var isKilled = false
        var isCollected = false
        var exit: WorkerExit?
        var waiting: [CheckedContinuation<WorkerExit, Never>] = []
    }

    let pid: Int32
    private let errors: ErrorPipe
    private let memoryKills: UInt64?
    private let state = Locked(State())

    private init(_ pid: Int32, errors: ErrorPipe, memoryKills: UInt64?) {
        self.pid = pid
        self.errors = errors
        self.memoryKills = memoryKills
    }

    /// Calls `start` on the thread that then waits for the process. Blocks until `start` has returned.
    static func start(
        errors: ErrorPipe, memoryKills: UInt64?, _ start: @escaping @Sendable () -> Result<Int32, FrameError>
    ) throws(FrameError) -> WorkerWatch {
        let result = Locked<Result<WorkerWatch, FrameError>?>(nil)
        let started = DispatchSemaphore(value: 0)
        let thread = Thread {
            ThreadName.current = "hearth.worker"
            let watch = start().map { WorkerWatch($0, errors: errors, memoryKills: memoryKills) }
            result.withLock { $0 = watch }
            started.signal()
            if case .success(let watch) = watch { watch.run() }
        }
        thread.stackSize = 256 << 10
        thread.start()
        started.wait()
        guard let result = result.withLock({ $0 }) else { throw .system(EAGAIN) }
        return try result.get()
    }

    /// - Parameter isDecided: whether this process decided the end, which may have come before otherwise.
    func kill(isDecided: Bool = true) {
        state.withLock { state in
            guard !state.isCollected else { return }
            if isDecided { state.isKilled = true }
            _ = Foundation.kill(pid, SIGKILL)
        }
    }

    func wait() async -> WorkerExit {
        await withCheckedContinuation { continuation in
            let exit = state.withLock { state in
                if state.exit == nil { state.waiting.append(continuation) }
                return state.exit
            }
            if let exit { continuation.resume(returning: exit) }
        }
    }

    var processorTime: Double? {
        state.withLock { state in
            state.isCollected ? nil : SystemClock.processor(ofProcess: pid).map { Double($0) * 1e-9 }
        }
    }

    private func run() {
        readErrors()
        let status = collect()
        _ = errors.read()
        let hasMoreKills = memoryKills.flatMap { before in MemoryKills.count().map { $0 > before } } ?? false
        let waiting = state.withLock { state in
            let exit = WorkerExit(
                waitStatus: status, isOutOfMemory: hasMoreKills && !state.isKilled, errorText: errors.text)
            state.exit = exit
            defer { state.waiting = [] }
            return state.waiting.map { ($0, exit) }
        }
        for (continuation, exit) in waiting { continuation.resume(returning: exit) }
    }

    /// Reads the standard error until the worker ends. Where the system cannot report an end through a descriptor, until
    /// the standard error is closed.
    private func readErrors() {
        let end = hearth_process_watch(pid)
        defer { if end >= 0 { close(end) } }
        var watched = [
            pollfd(fd: end, events: Int16(POLLIN), revents: 0),
            pollfd(fd: errors.reading, events: Int16(POLLIN), revents: 0),
        ]
        while watched.contains(where: { $0.fd >= 0 }) {
            guard poll(&watched, nfds_t(watched.count), -1) >= 0 else {
                if errno == EINTR { continue }
                return
            }
            if watched[0].revents != 0 { return }
            if watched[1].revents != 0, !errors.read() { watched[1].fd = -1 }
        }
    }

    /// Waits for the end, and collects the exit status; `nil` if the program ignores `SIGCHLD`, which leaves none.
    private func collect() -> Int32? {
        var facts = siginfo_t()
        while waitid(P_PID, id_t(pid), &facts, WEXITED | WNOWAIT) != 0 && errno == EINTR {}
        return state.withLock { state in
            state.isCollected = true
            var status: Int32 = 0
            while true {
                if waitpid(pid, &status, 0) == pid { return status }
                if errno != EINTR { return nil }
            }
        }
    }
}
