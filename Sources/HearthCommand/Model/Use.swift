import HearthBase
import HearthDelivery
import HearthPublishing
import HearthStore

/// `hearth use`
struct Use: Command {
    @Argument("REF", .installedName, "An installed release, as family@version[:variant].") var name: ReleaseChoice
    @Flag("pin", "Pin it: updates do not replace it.") var pins
    @Flag("unpin", "Remove the pin: updates replace it again.") var unpins
    @Flag("no-probe", "Make it active without a probe.") var noProbe
    @Flag(.ignoreMemory) var ignoresMemory

    static let declaration = CommandDeclaration(
        "use", summary: "Make an installed release the active one",
        """
        Checks the release's bytes, loads it and asks it a question (an embedding model: for a vector), then switches in
        one step: a process that opens the model gets the old release or the new one, never a mixture. If a check fails,
        the active release stays active.

        It also tries a release again that is held back.

        hearth use lupus-diary@1.0.0  # Go to an earlier version that is still installed.
        hearth use lupus-diary@1.0.0 --pin  # Keep that version.
        hearth use lupus-diary --unpin  # Follow the publisher again.
        """)

    func validate() throws {
        if pins && unpins { throw UsageError("--pin and --unpin are each other's opposite") }
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
        options.probes = !noProbe
        options.ignoresMemory = ignoresMemory
        let release = try await manager.activate(found.identity, options: options)
        if pins { try await manager.pin(release.identity) }
        context.console.say("\(release.identity) is active\(pins ? " and pinned" : "").")
    }
}
