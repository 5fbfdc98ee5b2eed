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

    /// The words of a command line for these limits.
    var arguments: [String] {
        var words = ["--oom-score", "\(oomScore)"]
        if let dataBytes { words += ["--data-limit", "\(dataBytes)"] }
        if coreDump { words.append("--core-dump") }
        return words
    }

    /// Takes the limits out of the words of a worker's command line.
    /// - Returns: `nil` if a limit has no number.
    package init?(takenFrom words: inout [String]) {
        var rest: [String] = []
        var unread = words[...]
        while let word = unread.popFirst() {
            switch word {
            case "--core-dump": coreDump = true
            case "--data-limit":
                guard let bytes = unread.popFirst().flatMap({ UInt64($0) }), bytes > 0 else { return nil }
                dataBytes = bytes
            case "--oom-score":
                guard let score = unread.popFirst().flatMap({ Int32($0) }) else { return nil }
                oomScore = score
            default: rest.append(word)
            }
        }
        words = rest
    }

    /// Limits this process for good. Call it first in a worker's `main`, before any other thread.
    /// - Throws: ``FrameError/system(_:)``.
    package func apply() throws(FrameError) {
        var limits = hearth_limits(data_bytes: dataBytes ?? 0, oom_score: oomScore, dumps_core: coreDump)
        let error = hearth_limit(&limits)
        if error != 0 { throw .system(error) }
    }
}
