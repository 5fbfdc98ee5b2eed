import HearthBase
import HearthDelivery
import HearthStore

/// `hearth use`
struct Use: Command {
    private static let name = Argument("REF", .installedName, "An installed release, as family@version[:variant].")
    private static let pin = Flag("pin", "Pin it: updates do not replace it.")
    private static let unpin = Flag("unpin", "Remove the pin: updates replace it again.")
    private static let noProbe = Flag("no-probe", "Make it active without a probe.")

    static let declaration = CommandDeclaration(
        "use", summary: "Make an installed release the active one",
        discussion: [
            "Checks the release's bytes, loads it and asks it a question (an embedding model: for a vector), then switches in "
                + "one step: a process that opens the model gets the old release or the new one, never a mixture. If a check "
                + "fails, the active release stays active.",
            "It also tries a release again that is held back.",
        ],
        arguments: [name], options: [pin, unpin, noProbe, Flag.ignoreMemory],
        examples: [
            .init("hearth use lupus-diary@1.0.0", "Go to an earlier version that is still installed."),
            .init("hearth use lupus-diary@1.0.0 --pin", "Keep that version."),
            .init("hearth use lupus-diary --unpin", "Follow the publisher again."),
        ])

    let name: InstalledName
    let pins: Bool
    let unpins: Bool
    let probes: Bool
    let ignoresMemory: Bool

    init(_ values: ParsedArguments) throws {
        name = try values.value(Self.name)
        pins = values.has(Self.pin)
        unpins = values.has(Self.unpin)
        probes = !values.has(Self.noProbe)
        ignoresMemory = values.has(.ignoreMemory)
        if pins && unpins {
            throw UsageError("--pin and --unpin are each other's opposite", hint: Self.declaration.hint())
        }
    }

    func run(in context: CommandContext) async throws {
        let manager = try await context.manager(ignoresMemory: ignoresMemory)
        let family = name.family
        if unpins { try await manager.unpin(family) }
        // Without a version, there is only the pin to remove.
        if unpins && name.version == nil && name.variant == nil {
            return context.console.say("\(family) follows its publisher again.")
        }
        let found = try await manager.installed(family, version: name.version, variant: name.variant)
        var options = ActivationOptions()
        options.probes = probes
        options.ignoresMemory = ignoresMemory
        let release = try await manager.activate(found.identity, options: options)
        if pins { try await manager.pin(release.identity) }
        context.console.say("\(release.identity) is active\(pins ? " and pinned" : "").")
    }
}
