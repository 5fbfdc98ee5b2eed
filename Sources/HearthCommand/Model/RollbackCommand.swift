import HearthBase
import HearthCatalog
import HearthDelivery
import HearthStore

/// `hearth rollback`
struct RollbackCommand: Command {
    @Argument("FAMILY", .installedFamily, "The model to roll back.") var family: Family

    static let declaration = CommandDeclaration(
        "rollback", summary: "Make the previous release active again", isDestructive: true,
        """
        The switch is one step and needs no network. The release rolled back from stays installed and is held back: no
        update chooses it again. 'hearth use' makes it active again.

        hearth rollback lupus-diary  # Undo the last update.
        """)

    func run(in context: CommandContext) async throws {
        let rollback = try await context.manager().rollback(family)
        let successor = rollback.to?.identity.description ?? "The model bundled with the app"
        context.console.say("\(successor) is active again; \(rollback.from) is held back.")
    }
}
