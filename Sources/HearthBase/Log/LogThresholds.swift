/// The lowest level that is logged, in general and for some subsystems: `warning,store=debug`.
struct LogThresholds: Sendable, Equatable {
    /// The threshold of all other subsystems; `nil` logs none of their entries.
    var general: Log.Level?
    var bySubsystem: [String: Log.Level] = [:]

    /// The lowest threshold of all: an entry below it is never logged.
    var lowest: Log.Level? { (bySubsystem.values + (general.map { [$0] } ?? [])).min() }

    func passes(_ level: Log.Level, of subsystem: String) -> Bool {
        guard let threshold = bySubsystem[subsystem] ?? general else { return false }
        return level >= threshold
    }
}

extension LogThresholds {
    /// The parts of a text in the form of `HEARTH_LOG` that name no level.
    static func unknownParts(of text: String) -> [String] {
        text.split(separator: ",").map { $0.filter { !$0.isWhitespace } }
            .filter { part in
                let level = part.lowercased().split(separator: "=", maxSplits: 1).last
                return !part.isEmpty && level.flatMap { Log.Level(rawValue: String($0)) } == nil
            }
    }

    /// Reads the form of `HEARTH_LOG`: levels and `subsystem=level`, separated by commas. Skips unknown levels.
    init(parsing text: String) {
        self.init(general: nil)
        for part in text.lowercased().split(separator: ",") {
            let words = part.split(separator: "=", maxSplits: 1).map { $0.filter { !$0.isWhitespace } }
            guard let level = words.last.flatMap(Log.Level.init(rawValue:)) else { continue }
            if words.count == 2 { bySubsystem[words[0]] = level } else { general = level }
        }
    }
}
