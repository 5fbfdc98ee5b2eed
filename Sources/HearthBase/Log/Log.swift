import Foundation

/// The package's log: quiet by default, to stderr when `HEARTH_LOG` names a level, or to the host app's own handler.
public enum Log {
    /// How much a line matters. `HEARTH_LOG` takes these names.
    public enum Level: String, Sendable, Comparable, CaseIterable {
        case debug, info, warning, error

        public static func < (left: Level, right: Level) -> Bool { left.rank < right.rank }
        private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
    }

    /// One line: its level, the part of the package that wrote it, and the text.
    public struct Entry: Sendable {
        public let level: Level
        /// The target and chapter, such as `delivery.transfer`.
        public let subsystem: String
        public let message: String
    }

    /// Receives every entry, on whichever thread wrote it. Must not block.
    public typealias Handler = @Sendable (Entry) -> Void

    private struct Configuration {
        var handler: Handler?
        var threshold: Level?
    }

    private static let configuration = Locked(
        Configuration(handler: nil, threshold: environmentThreshold()))

    private static func environmentThreshold() -> Level? {
        ProcessInfo.processInfo.environment["HEARTH_LOG"].flatMap { Level(rawValue: $0.lowercased()) }
    }

    /// Sends every entry at or above `threshold` to a host app's handler instead of stderr; `nil` restores the default.
    public static func use(_ handler: Handler?, threshold: Level = .info) {
        configuration.withLock {
            $0 = Configuration(handler: handler, threshold: threshold)
            if handler == nil { $0.threshold = environmentThreshold() }
        }
    }

    /// Writes an entry; the text is built only if the level is logged.
    public static func write(_ level: Level, _ subsystem: String, _ message: @autoclosure () -> String) {
        let current = configuration.withLock { $0 }
        guard let threshold = current.threshold, level >= threshold else { return }
        let entry = Entry(level: level, subsystem: subsystem, message: message())
        if let handler = current.handler {
            handler(entry)
        } else {
            writeLine("hearth[\(entry.subsystem)] \(level.rawValue): \(entry.message)")
        }
    }

    /// One line in one call. A closed or full stderr is no reason to fail, and a name from outside must not be able to
    /// start a line of its own or drive the terminal.
    private static func writeLine(_ text: String) {
        let line = Array((singleLine(text) + "\n").utf8)
        line.withUnsafeBytes { bytes in _ = Foundation.write(STDERR_FILENO, bytes.baseAddress, bytes.count) }
    }

    /// The text with every control character written as an escape.
    static func singleLine(_ text: String) -> String {
        var line = ""
        for scalar in text.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator: line += scalar.escaped(asASCII: true)
            default: line.unicodeScalars.append(scalar)
            }
        }
        return line
    }
}
