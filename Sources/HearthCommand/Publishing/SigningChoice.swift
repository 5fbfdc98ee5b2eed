import HearthBase
import HearthCatalog
import HearthPublishing

/// The option `--sign` of the commands that change an origin's list, with the keys that it uses.
struct SigningChoice: ParameterGroup {
    @Flag("sign", "Sign the list, for devices that have the origin's root.") private var signs
    @Flag("unsigned", "Leave the list of a signed origin unsigned: another machine signs it.")
    private var leavesUnsigned
    private let keys = TrustKeyChoice()

    /// Whether nothing is said about signatures.
    var isEmpty: Bool { !signs && !leavesUnsigned && keys.isEmpty }

    func validate() throws {
        guard !signs || !leavesUnsigned else { throw UsageError("--sign and --unsigned exclude each other") }
        guard signs || keys.isEmpty else { throw UsageError("the keys are used with --sign only") }
    }

    /// The publisher of an origin. With `--sign` it opens the keys of the origin's lists, and asks for their passphrases.
    /// - Throws: ``TrustError``, `FileError`, `CancellationError`; the target's errors.
    func publisher(for target: any PublishTarget, in context: CommandContext) async throws -> Publisher {
        var publisher = Publisher(target: target, time: context.time)
        publisher.isSignedElsewhere = leavesUnsigned
        guard signs else { return publisher }
        let present = try await SignedOrigin(target).present()
        let ids = try present.rootMetadata.ids([.targets, .snapshot, .timestamp])
        publisher.signing = OriginSigner(signers: try await keys.ring(in: context).signers(for: ids))
        return publisher
    }

    /// Tells a publisher who leaves the signing to another machine that devices with a root do not see the change yet.
    func sayWhoSees(_ target: any PublishTarget, _ console: Console) async throws {
        guard !signs, try await SignedOrigin(target).isSigned() else { return }
        console.say(
            "This origin is signed. Devices that trust its keys see the list after `hearth trust sign --to \(target.name)`."
        )
    }
}
