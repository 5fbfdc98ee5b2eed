import Foundation

/// The package's log: no output unless `HEARTH_LOG` names a level or the app sets a handler.
///
/// ```swift
/// Log.use({ entry in print(entry.level, entry.name, entry.message, entry.fields) }, threshold: .warning)
/// ```
public enum Log {
    /// The importance of an entry. `HEARTH_LOG` takes these names.
    public enum Level: String, Sendable, Comparable, CaseIterable {
        case debug, info, warning, error

        public static func < (left: Level, right: Level) -> Bool { left.rank < right.rank }
        private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
    }

    /// A message with its level, its origin in the package and its typed facts.
    public struct Entry: Sendable {
        public let level: Level
        /// The module that wrote the entry, in lower case and without the prefix `Hearth`: `store`, `transfer`, `llama`.
        public let subsystem: String
        /// A part of the subsystem, such as `memory`.
        public let category: String?
        public let message: String
        public let fields: [Field]

        /// The subsystem and the category, joined by a full stop: `llama.memory`.
        public var name: String { category.map { "\(subsystem).\($0)" } ?? subsystem }
    }

    /// Receives every entry on the thread that wrote it. Must not block.
    public typealias Handler = @Sendable (Entry) -> Void

    private struct Configuration {
        var handler: Handler
        var thresholds: LogThresholds
    }

    private static let standard = Configuration(
        handler: standardError,
        thresholds: LogThresholds(parsing: ProcessInfo.processInfo.environment["HEARTH_LOG"] ?? ""))
    private static let configuration = Locked(standard)

    /// Sends every entry at or above a threshold to a handler of the app.
    ///
    /// - Parameters:
    ///   - handler: receives the entries; `nil` restores the default, which is standard error and `HEARTH_LOG`.
    ///   - threshold: the lowest level of an entry that is passed on.
    ///   - subsystems: other thresholds, by subsystem.
    public static func use(_ handler: Handler?, threshold: Level = .info, subsystems: [String: Level] = [:]) {
        configuration.withLock {
            guard let handler else {
                $0 = standard
                return
            }
            $0 = Configuration(
                handler: handler, thresholds: LogThresholds(general: threshold, bySubsystem: subsystems))
        }
    }

    /// Writes an entry. The message and the fields are built only if the level is logged.
    package static func write(
        _ level: Level, _ message: @autoclosure () -> String, _ fields: @autoclosure () -> [Field] = [],
        fileID: String = #fileID
    ) {
        write(level, category: nil, message, fields, fileID: fileID)
    }

    /// Writes an entry with a category, a part of the subsystem.
    package static func write(
        _ level: Level, _ category: String, _ message: @autoclosure () -> String,
        _ fields: @autoclosure () -> [Field] = [], fileID: String = #fileID
    ) {
        write(level, category: category, message, fields, fileID: fileID)
    }

    /// The parts of a value of `HEARTH_LOG` that name no level and are skipped.
    package static func unknownParts(of text: String) -> [String] { LogThresholds.unknownParts(of: text) }

    /// The lowest level that anything is logged at; `nil` if nothing is logged.
    package static var lowestLevel: Level? { configuration.withLock { $0.thresholds.lowest } }

    /// Passes on an entry of another process.
    /// - Parameter name: its subsystem, and its category after a full stop.
    package static func pass(_ level: Level, _ name: String, _ message: String) {
        let current = configuration.withLock { $0 }
        let parts = name.split(separator: ".", maxSplits: 1).map(String.init)
        guard let subsystem = parts.first, current.thresholds.passes(level, of: subsystem) else { return }
        current.handler(
            Entry(
                level: level, subsystem: subsystem, category: parts.dropFirst().first, message: message, fields: []))
    }

    private static func write(
        _ level: Level, category: String?, _ message: () -> String, _ fields: () -> [Field], fileID: String
    ) {
        let current = configuration.withLock { $0 }
        guard let lowest = current.thresholds.lowest, level >= lowest else { return }
        let subsystem = subsystem(ofFile: fileID)
        guard current.thresholds.passes(level, of: subsystem) else { return }
        current.handler(
            Entry(level: level, subsystem: subsystem, category: category, message: message(), fields: fields()))
    }

    /// The subsystem of a source file: `HearthStore/Staging.swift` belongs to `store`, `Hearth/Hearth.swift` to `hearth`.
    static func subsystem(ofFile fileID: String) -> String {
        let module = fileID.prefix { $0 != "/" }
        let isPrefixed = module.hasPrefix("Hearth") && module != "Hearth"
        return (isPrefixed ? module.dropFirst("Hearth".count) : module).lowercased()
    }
}
