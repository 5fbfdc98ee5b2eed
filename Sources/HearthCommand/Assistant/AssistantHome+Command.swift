import Foundation
import HearthAssistant
import HearthBase
import HearthDatabase

extension AssistantHome {
    /// Opens the records of the command's home, and creates the home if it is missing.
    /// - Parameter isKept: whether conversations, notes and habits are those of the disk.
    /// - Throws: `ConfigurationError` with `no-home`; `DatabaseError`, `FileError`.
    init(_ context: CommandContext, isKept: Bool = true) async throws {
        try await self.init(path: try context.home, isKept: isKept, time: context.time)
    }

    /// A runner that knows no actions and takes earlier ones back.
    var undoer: ActionRunner {
        ActionRunner(
            registry: ActionRegistry([]), stores: records, journal: journal, approval: DeclineAll(), time: time)
    }

    /// Carries out what the user has commanded, with an entry in the journal, so that it can be undone.
    func carryOut(_ card: ActionCard, _ changes: [RecordChange]) async throws {
        try await commands.carryOut(card, changes)
    }

    /// The id of a new record.
    static func newID() -> String { CommandedActions.newID() }
}

extension CommandContext {
    /// Opens the user's records, and closes them after `body`.
    func withAssistantHome<Result: Sendable>(
        _ body: (AssistantHome) async throws -> Result
    ) async throws -> Result {
        let home = try await AssistantHome(self)
        do {
            let result = try await body(home)
            await home.database.close()
            return result
        } catch {
            await home.database.close()
            throw error
        }
    }
}

extension ActionCard {
    /// The card of something that the user has commanded.
    init(commanded title: String, _ tag: ActionTag, id: String = AssistantHome.newID(), _ record: String) {
        self.init(commanded: title, tag, id: id, record: record)
    }
}
