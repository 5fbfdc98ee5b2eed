import Foundation

/// Clocks of the system, in nanoseconds.
package enum SystemClock {
    /// Since some moment; it does not jump.
    package static var monotonic: UInt64 { read(CLOCK_MONOTONIC) ?? 0 }

    /// The processor time of a thread of this process; `nil` where another thread's clock cannot be read. The thread must
    /// not have ended.
    package static func processor(ofThread thread: pthread_t) -> UInt64? {
        #if os(Linux)
        var clock = clockid_t()
        return pthread_getcpuclockid(thread, &clock) == 0 ? read(clock) : nil
        #else
        return nil
        #endif
    }

    /// The processor time of all threads of a process; `nil` for one that does not exist.
    package static func processor(ofProcess process: pid_t) -> UInt64? {
        #if os(Linux)
        var clock = clockid_t()
        return clock_getcpuclockid(process, &clock) == 0 ? read(clock) : nil
        #else
        return nil
        #endif
    }

    private static func read(_ clock: clockid_t) -> UInt64? {
        var time = timespec()
        guard clock_gettime(clock, &time) == 0 else { return nil }
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}
