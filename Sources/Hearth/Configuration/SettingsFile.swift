import HearthBase

/// The settings of a home. Changes of one process happen one after the other.
package struct SettingsFile: Sendable {
    private let home: Path

    private static let turns = TurnQueue()

    package init(home: Path) { self.home = home }

    package func read() async throws -> Configuration {
        try await blocking { [home] in try Configuration.load(home: home) }
    }

    /// Reads the settings, changes and writes them.
    @discardableResult
    package func change(_ body: @escaping @Sendable (inout Configuration) throws -> Void) async throws -> Configuration
    {
        try await Self.turns.turn {
            try await blocking { [home] in
                var configuration = try Configuration.load(home: home)
                try body(&configuration)
                try configuration.save(home: home)
                return configuration
            }
        }
    }
}
