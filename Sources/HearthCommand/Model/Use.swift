import HearthBase
import HearthDelivery

/// `hearth use`
struct Use: Command {
    private static let name = Argument("REF", .installedName, "An installed release, as family@version[:variant].")

    static let declaration = CommandDeclaration(
        "use", summary: "Make an installed release the active one",
        discussion: [
            "The switch is one step: whoever opens the model gets the one before or the new one, never a mixture."
        ],
        arguments: [name],
        examples: [.init("hearth use lupus-diary@1.0.0", "Go back to an earlier version that is still installed.")])

    let name: InstalledName

    init(_ values: ParsedArguments) throws { name = try values.value(Self.name) }

    func run(in context: CommandContext) async throws {
        let release = try await context.manager().use(name.family, version: name.version, variant: name.variant)
        context.console.say("\(release.identity) is active.")
    }
}
