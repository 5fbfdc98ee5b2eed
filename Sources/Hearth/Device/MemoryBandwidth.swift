import Foundation
import HearthBase

#if os(Linux)
import Glibc
#endif

/// The speed at which the processor reads memory. It limits the tokens of an answer in a second: each one needs all
/// weights once.
package enum MemoryBandwidth {
    /// The bytes in a second, measured once in a process, in about 30 ms; `nil` if there is no memory to measure with. Blocks.
    package static let measured: Double? = measure(
        bytes: 64 << 20, threads: max(1, min(4, SystemProcessors.usable - 1)))

    /// Reads a buffer twice with several threads, and takes the faster time.
    static func measure(bytes: Int, threads: Int) -> Double? {
        guard let buffer = malloc(bytes) else { return nil }
        defer { free(buffer) }
        // Untouched pages are all the same one.
        memset(buffer, 1, bytes)
        let part = bytes / threads
        let memory = ReadBuffer(start: buffer)
        let clock = ContinuousClock()
        var best = Double.infinity
        for _ in 0..<2 {
            let time = clock.measure {
                DispatchQueue.concurrentPerform(iterations: threads) { index in memory.read(index * part, part) }
            }
            best = min(best, time.seconds)
        }
        return best > 0 ? Double(part * threads) / best : nil
    }

    /// A buffer that threads only read.
    private struct ReadBuffer: @unchecked Sendable {
        let start: UnsafeMutableRawPointer

        func read(_ offset: Int, _ count: Int) {
            // There is no such byte, so that all are read; the result is used so that the call stays.
            if memchr(start + offset, 0, count) != nil { Log.write(.debug, "a page changed while it was read") }
        }
    }
}
