import Foundation
import HearthBase

/// Measures the peak memory of this process since a moment (Linux: `VmHWM`, which proc(5) allows to be reset).
///
/// It measures the whole process, including its other activity.
package struct PeakMemory: Sendable {
    private let before: UInt64

    /// Starts the measurement; `nil` if the system does not support it.
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

    /// Starts a measurement; what it returns reads the peak in bytes, `nil` if the system does not support it.
    package static let measurement: @Sendable () -> (@Sendable () -> UInt64?) = {
        let started = PeakMemory()
        return { started?.bytes }
    }

    /// The peak since the start in bytes, beyond the memory used then.
    var bytes: UInt64? { Self.value("VmHWM").map { $0 > before ? $0 - before : 0 } }

    /// The peak of another process since its start, in bytes.
    static func bytes(of process: Int32) -> UInt64? { value("VmHWM", of: "\(process)") }

    private static func value(_ key: String, of process: String = "self") -> UInt64? {
        // Some systems have no /proc, or hide it.
        guard let text = SystemFile.contents("/proc/\(process)/status") else { return nil }
        return Self.value(key, in: text)
    }

    /// Parses a line such as `VmHWM:     1234 kB` as bytes.
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
