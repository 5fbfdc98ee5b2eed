import HearthBase
import HearthCatalog
import HearthPublishing

extension OriginSigner {
    /// The signer of `publish --sign`: opens the keys of an origin's lists, and asks for their passphrases.
    /// - Returns: `nil` without a choice of keys.
    /// - Throws: ``TrustError``, `FileError`, `CancellationError`.
    init?(_ choice: TrustKeyChoice?, _ target: any PublishTarget, in context: CommandContext) async throws {
        guard let choice else { return nil }
        let present = try await SignedOrigin(target).present()
        let ids = try present.rootMetadata.ids([.targets, .snapshot, .timestamp])
        self.init(signers: try await KeyRing(choice, in: context).signers(for: ids))
    }
}
