import CProcess
import Foundation
import HearthBase

/// Limits of a worker. The parent passes them on the command line, and the worker sets them before anything else: a
/// new process starts with the limits of its parent.
package struct WorkerLimits: Sendable, Hashable {
    /// The private writable memory in bytes (`RLIMIT_DATA`); `nil` for no limit. Mapped weights do not count; the stacks
    /// of threads and reserved buffers do, also before they are used.
    package var dataBytes: UInt64?
    /// Whether a crash writes a core file, which holds what the user and the model said.
    package var coreDump = false
    /// How early the kernel ends the worker when memory is short: 1000 is before all processes with other scores.
    package var oomScore: Int32 = 1000

    /// Makes limits.
    package init(dataBytes: UInt64? = nil, coreDump: Bool = false, oomScore: Int32 = 1000) {
        self.dataBytes = dataBytes
        self.coreDump = coreDump
        self.oomScore = oomScore
    }

    /// The words of a worker's command line for these limits, such as `data-limit=1073741824`.
    var arguments: [String] {
        var words = ["oom-score=\(oomScore)"]
        if let dataBytes { words.append("data-limit=\(dataBytes)") }
        if coreDump { words.append("core-dump=1") }
        return words
    }

    /// Takes the limits out of the words of a worker's command line.
    /// - Returns: `nil` if a limit is not a number.
    package init?(takenFrom words: inout [String]) {
        var rest: [String] = []
        for word in words {
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            switch parts[0] {
            case "core-dump" where parts.count == 2: coreDump = parts[1] == "1"
            case "data-limit" where parts.count == 2:
                guard let bytes = UInt64(parts[1]), bytes > 0 else { return nil }
                dataBytes = bytes
            case "oom-score" where parts.count == 2:
                guard let score = Int32(parts[1]) else { return nil }
                oomScore = score
            default: rest.append(word)
            }
        }
        words = rest
    }

    /// Limits this process for good, and names it `hearth.worker`. Call it first in a worker's `main`, before any other thread.
    /// - Throws: ``FrameError/system(_:)``.
    package func apply() throws(FrameError) {
        // A program started from /proc/self/exe is named "exe".
        ThreadName.current = "hearth.worker"
        var limits = hearth_limits(data_bytes: dataBytes ?? 0, oom_score: oomScore, dumps_core: coreDump)
        let error = hearth_limit(&limits)
        if error != 0 { throw .system(error) }
    }
}
