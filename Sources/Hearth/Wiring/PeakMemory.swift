import Foundation
import HearthBase

/// How much memory this process takes at most between two moments, as far as the system tells (Linux: `VmHWM`, which
/// proc(5) allows to be set back).
///
/// It is the whole process that is measured: what else goes on in it counts as well.
struct PeakMemory: Sendable {
    private let before: UInt64

    /// Begins to measure; `nil` where the system does not tell.
    init?() {
        #if os(Linux)
            guard let file = FileHandle(forWritingAtPath: "/proc/self/clear_refs") else { return nil }
            do {
                try file.write(contentsOf: Data("5".utf8))
                try file.close()
            } catch {
                Log.write(.debug, "probe", "the peak of memory cannot be set back: \(error)")
                return nil
            }
            guard let now = Self.value("VmRSS") else { return nil }
            before = now
        #else
            return nil
        #endif
    }

    /// The most bytes since then, beyond what there was.
    var bytes: UInt64? { Self.value("VmHWM").map { $0 > before ? $0 - before : 0 } }

    private static func value(_ key: String) -> UInt64? {
        // Nothing that can be read means nothing told: a system without /proc, or one that hides it.
        guard let text = SystemFile.contents("/proc/self/status") else { return nil }
        return Self.value(key, in: text)
    }

    /// The bytes of a line such as `VmHWM:     1234 kB`.
    static func value(_ key: String, in text: String) -> UInt64? {
        for line in text.split(separator: "\n") where line.hasPrefix(key + ":") {
            let words = line.split(whereSeparator: \.isWhitespace)
            guard words.count == 3, words[2] == "kB", let count = UInt64(words[1]) else { return nil }
            let (bytes, isTooMuch) = count.multipliedReportingOverflow(by: 1024)
            return isTooMuch ? nil : bytes
        }
        return nil
    }
}
