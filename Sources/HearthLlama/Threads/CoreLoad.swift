import Foundation
import HearthBase

/// Reads the number of cores that are free for the engine from the kernel.
///
/// All other threads of the machine count as other programs, with the package's own downloads and servers. All
/// models of an engine report their steps to one object of this class: the cores that one model computes with count
/// as the engine's own for the others.
final class CoreLoad {
    /// The kernel's processor accounts, in seconds since an arbitrary time.
    struct Reading: Sendable, Hashable {
        /// Wall-clock time.
        var time: Double
        /// Idle time of all cores together.
        var idle: Double
        /// Processor time of this process.
        var process: Double
        /// Processor time of the engine's own thread.
        var thread: Double
    }

    private let read: () -> Reading?
    private let clock: () -> Double
    private var last: Reading?
    /// The available cores when `last` was read.
    private var latest: Double?
    /// Whether the kernel reports processor times.
    private(set) var isKnown: Bool
    /// The known processor time of the computing threads other than the engine's own.
    private var others = 0.0

    /// Makes a measure for one thread, the engine's. An engine on another thread calls ``restart()``.
    /// - Parameters:
    ///   - read: the kernel's accounts, `nil` where there are none.
    ///   - clock: the processor time of the calling thread in seconds.
    init(
        read: @escaping () -> Reading? = CoreLoad.kernel, clock: @escaping () -> Double = CoreLoad.kernelThreadTime
    ) {
        self.read = read
        self.clock = clock
        last = read()
        isKnown = last != nil
    }

    /// Makes the calling thread the engine's thread and starts the accounts again.
    func restart() {
        last = read()
        latest = nil
        isKnown = last != nil
        others = 0
    }

    /// Counts a computed step. Its other threads spin for as long as the engine's own thread computes.
    /// - Parameters:
    ///   - thread: the processor time of the engine's thread in the step.
    ///   - count: the number of threads that computed it.
    func add(thread: Double, count: Int) { others += max(0, thread) * Double(count - 1) }

    /// The cores free for the engine since the last call; `nil` when too little time has passed for a reading.
    func available() -> Double? {
        guard let now = read() else { return nil }
        guard let before = last else {
            last = now
            return nil
        }
        let time = now.time - before.time
        // The kernel counts in ticks of about 10 ms.
        guard time >= 0.08 else { return nil }
        let own = min(now.thread - before.thread + others, now.process - before.process)
        last = now
        others = 0
        let available = max(0, now.idle - before.idle + own) / time
        latest = available
        return available
    }

    /// The available cores; if it is too soon for a reading, the last one if it is less than a second old.
    func recentlyAvailable() -> Double? {
        if let available = available() { return available }
        guard let last, let now = read(), now.time - last.time < 1 else { return nil }
        return latest
    }

    /// The processor time of the calling thread in seconds.
    var threadTime: Double { clock() }

    private static func kernelThreadTime() -> Double { seconds(CLOCK_THREAD_CPUTIME_ID) }

    private static func kernel() -> Reading? {
        #if os(Linux)
        guard let text = SystemFile.contents("/proc/stat") else { return nil }
        // "cpu user nice system idle iowait …" in ticks of all cores together.
        let fields = text.prefix { $0 != "\n" }.split(separator: " ").dropFirst().compactMap { Double($0) }
        let ticks = Double(sysconf(Int32(_SC_CLK_TCK)))
        guard fields.count >= 5, ticks > 0 else { return nil }
        return Reading(
            time: seconds(CLOCK_MONOTONIC), idle: (fields[3] + fields[4]) / ticks,
            process: seconds(CLOCK_PROCESS_CPUTIME_ID), thread: kernelThreadTime())
        #else
        return nil
        #endif
    }

    private static func seconds(_ clock: clockid_t) -> Double {
        var time = timespec()
        clock_gettime(clock, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }
}
