import HearthBase
import HearthCatalog
import HearthPublishing

/// The option `--sign` of the commands that change an origin's list, with the keys that it uses.
struct SigningChoice: ParameterGroup {
    @Flag("sign", "Sign the list, for devices that have the origin's root.") private var signs
    private let keys = TrustKeyChoice()

    func validate() throws {
        guard signs || keys.isEmpty else { throw UsageError("the keys are used with --sign only") }
    }

    /// Opens the keys of the origin's lists, and asks for their passphrases; `nil` without `--sign`.
    /// - Throws: ``TrustError``, `FileError`, `CancellationError`; the target's errors.
    func signer(for target: any PublishTarget, in context: CommandContext) async throws -> OriginSigner? {
        guard signs else { return nil }
        let present = try await SignedOrigin(target).present()
        let ids = try present.rootMetadata.ids([.targets, .snapshot, .timestamp])
        return OriginSigner(signers: try await keys.ring(in: context).signers(for: ids))
    }

    /// Tells a publisher who forgot `--sign` that devices with a root do not see the change.
    func sayWhoSees(_ target: any PublishTarget, _ console: Console) async throws {
        guard !signs, try await SignedOrigin(target).isSigned() else { return }
        console.say(
            "This origin is signed. Devices that trust its keys see the list after `hearth trust sign --to \(target.name)`."
        )
    }
}
