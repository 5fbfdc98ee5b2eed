import HearthBase
import HearthCatalog
import HearthDelivery
import HearthPublishing
import HearthStore

/// `hearth remove`
struct Remove: Command {
    @Argument(
        "REF", .installedName,
        "The releases to remove, as family[@version][:variant]; without a version, all of the family.") var name:
        ReleaseChoice

    static let declaration = CommandDeclaration(
        "remove", summary: "Remove a model from this device", isDestructive: true,
        """
        Removes the releases that match the name, and prints each. If the active one is removed, the previous one
        becomes active if it is still installed.

        hearth remove lupus-diary@1.0.0  # One version.
        hearth remove lupus-diary  # All releases of the model.
        """)

    func run(in context: CommandContext) async throws {
        let removal = try await context.manager()
            .removal(of: name.family, version: name.version, variant: name.variant)
        for identity in removal.removed { try context.console.print(identity.description) }
        switch removal.active {
        case .unchanged: break
        case .restored(let identity): context.console.say("\(identity) is active again.")
        case .cleared: context.console.say("No release of \(name.family) is active now.")
        }
    }
}
