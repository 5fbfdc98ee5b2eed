import HearthBase
import HearthCatalog
import HearthDelivery
import HearthStore

/// `hearth rollback`
struct RollbackCommand: Command {
    private static let family = Argument(
        "FAMILY", ValueKind("a model's name") { Family($0) }, "The model to bring back to the release before.")

    static let declaration = CommandDeclaration(
        "rollback", summary: "Go back to the release that was active before",
        discussion: [
            "The switch is one step, and needs no network. The release that is left stays installed and is held back: no "
                + "update chooses it again until a newer version appears. 'hearth use' takes it all the same."
        ],
        arguments: [family],
        examples: [.init("hearth rollback lupus-diary", "Undo the last update.")])

    let family: Family

    init(_ values: ParsedArguments) throws { family = try values.value(Self.family) }

    func run(in context: CommandContext) async throws {
        let rollback = try await context.manager().rollback(family)
        let heir = rollback.to?.identity.description ?? "What came with the app"
        context.console.say("\(heir) is active again; \(rollback.from) is held back.")
    }
}
