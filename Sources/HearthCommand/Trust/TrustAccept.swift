import Foundation
import Hearth
import HearthBase
import HearthCatalog
import HearthHTTP

/// `hearth trust accept`
struct TrustAccept: Command {
    @Argument("ORIGIN", .word, "The name of a configured origin, or the address or path of a models.json.")
    var origin: String
    @Option(
        "fingerprint", "DIGITS", ValueKind("the 64 digits of a root's SHA-256") { SHA256Digest(hex: $0) },
        "The publisher's fingerprint; without it you are asked.") var fingerprint: SHA256Digest?

    static let declaration = CommandDeclaration(
        "trust", "accept", summary: "Trust the keys of a signed origin on this device",
        """
        Fetches the origin's newest root, prints its fingerprint, and asks. Compare the fingerprint with the one that
        the publisher gives elsewhere: on paper, on a page of theirs, by telephone. From then on this device accepts
        nothing from the origin that is not signed, for ever; new keys are followed where the old ones signed them.

        With --fingerprint nothing is asked, and any root of the origin with that fingerprint is taken. The setting
        trust.NAME does the same at the first use.

        0: The keys are trusted.
        1: The origin is not signed, or with other keys, or you said no.

        hearth trust accept main  # After comparing the fingerprint.
        """)

    func run(in context: CommandContext) async throws {
        let configured = try await context.configuration.origins(environment: context.environment)
        let origin =
            try configured.first { $0.name == self.origin }
            ?? Origin(address: OriginAddress.url(self.origin, field: "ORIGIN"))
        try await context.accept(origin, fingerprint: fingerprint)
    }
}

extension CommandContext {
    /// Fetches a root, and keeps it after a yes.
    /// - Parameter fingerprint: the publisher's, if the person gave it; then nothing is asked.
    /// - Throws: ``TrustError`` with `no-trusted-root` after a no, or if the origin has no such root; as
    ///   `RootDiscovery.newest()`; `FileError`.
    func accept(_ origin: Origin, fingerprint: SHA256Digest? = nil) async throws {
        let store = origin.trustStore(in: try home.appending("trust"))
        let now = time.now
        let roots = origin.roots(DefaultHTTPClient(version: HearthCommand.version))
        let url = origin.manifestURL.shown
        let found: OfferedRoot?
        if let fingerprint {
            found = try await roots.root(fingerprint)
        } else {
            found = try await roots.newest()
        }
        guard let root = found else {
            throw TrustError(
                .noTrustedRoot,
                fingerprint == nil ? "\(url) is not signed" : "\(url) has no root with that fingerprint",
                context: ErrorContext(
                    url: url, expected: fingerprint?.hex,
                    remedy: "Ask the publisher for the fingerprint and the address."))
        }
        if fingerprint == nil {
            let keys = root.metadata.keys(.root)
            console.say("\(url) is signed.")
            console.say(
                "  root \(root.metadata.fields.version): \(keys.threshold) of \(keys.ids.count) keys must sign it")
            console.say("  fingerprint: \(root.fingerprint.hex)")
            guard hasPerson else { throw Self.unasked(url, root.fingerprint) }
            let question = "Is that the publisher's fingerprint, and shall this device trust these keys from now on?"
            guard try await confirms(question) else {
                throw TrustError.unknownKeys(origin.manifestURL, root.fingerprint)
            }
        }
        try await blocking { try store.pin(root.data, now: now) }
        console.say("This device trusts the keys of \(url) now, and accepts nothing else from there.")
    }

    /// The error without a terminal, at which the command would ask.
    private static func unasked(_ url: String, _ fingerprint: SHA256Digest) -> TrustError {
        TrustError(
            .noTrustedRoot, "the keys of \(url) are trusted after a yes, and there is no terminal to ask at",
            context: ErrorContext(
                url: url, field: "terminal", found: fingerprint.hex,
                remedy: "Compare the fingerprint with the publisher's, and give it"))
    }

    /// Runs a command. If it meets a signed origin for the first time, asks the person, and after a yes runs it again.
    func askingForRoots(_ body: @Sendable () async throws -> Void) async throws {
        var asked: Set<String> = []
        while true {
            do {
                return try await body()
            } catch let error as TrustError where error.code == .noTrustedRoot && error.context.field == "fingerprint" {
                guard hasPerson, let address = error.context.url, asked.insert(address).inserted else { throw error }
                try await accept(
                    Origin(address: OriginAddress.url(address, field: "origin")))
            }
        }
    }
}
