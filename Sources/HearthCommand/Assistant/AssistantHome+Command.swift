import Foundation
import Hearth
import HearthAssistant
import HearthBase
import HearthDatabase

extension AssistantHome {
    /// Opens the records of the command's home, and creates the home if it is missing.
    /// - Parameter isKept: whether conversations, notes and habits are those of the disk.
    /// - Throws: `ConfigurationError` with `no-home`; `DatabaseError`, `FileError`.
    init(_ context: CommandContext, isKept: Bool = true) async throws {
        try await self.init(path: try context.home, isKept: isKept, time: context.time)
        // Records are there without valid settings too.
        guard let configuration = try? await context.configuration else { return }
        use(own: configuration.assistant.ownCollections)
    }
}

extension CommandContext {
    /// Opens the user's records, and closes them after `body`.
    func withAssistantHome<Result: Sendable>(
        _ body: (AssistantHome) async throws -> Result
    ) async throws -> Result {
        let home = try await AssistantHome(self)
        return try await withEnding({ await home.database.close() }) { try await body(home) }
    }
}
