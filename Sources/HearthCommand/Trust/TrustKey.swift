import Foundation
import HearthBase
import HearthCatalog
import HearthPublishing

/// `hearth trust key FILE`
struct TrustKey: Command {

    @Argument("FILE", .path, "The new file, best named like alice.key.") var file: Path
    @Option(
        "command", "WORD", .word, isRepeatable: true,
        "A program that signs, then its arguments, each with its own --command. It gets the bytes to sign on its input "
            + "and prints the signature in hexadecimal digits. Needs --public.") var command: [String]
    @Option("public", "PUB", .path, "With --command: the file of the public half, PEM or 64 hexadecimal digits.")
    var publicHalf: Path?
    @Option(.passphraseFile) var passphraseFile: Path?

    static let declaration = CommandDeclaration(
        "trust", "key", summary: "Make a key for signing origins",
        """
        Makes an Ed25519 key, encrypted with a passphrase (scrypt, AES-256-GCM) and readable by you only, and prints its
        id and its public half. Give the public half to whom the origin belongs; the file itself stays with you.

        With --command, the private half stays in a hardware token or another program, and FILE says how to ask it.
        Ed25519, ECDSA (P-256, P-384, P-521; DER signatures) and RSA (PSS with SHA-256) are understood.

        hearth trust key alice.key  # An encrypted key.
        hearth trust key token.key --command /usr/local/bin/sign-with-token --command slot-9c --public token.pem
        # A key in a token.
        """)

    func validate() throws {
        guard command.isEmpty == (publicHalf == nil) else {
            throw UsageError("--command and --public belong together")
        }
    }

    func run(in context: CommandContext) async throws {
        let made: TrustKeyFile
        if let publicHalf {
            made = TrustKeyFile(try await blocking { try KeyRing.publicKey(publicHalf) }, command: command)
        } else {
            // Before the question for a passphrase.
            guard try await blocking({ [file] in try LocalFileSystem().status(at: file, followLinks: false) == nil })
            else { throw FileError(errno: EEXIST, doing: "create", path: file) }
            guard let sealed = try await context.passphrases(passphraseFile).seal([Ed25519Key()]).first else { return }
            made = sealed
        }
        try await blocking { [file] in try KeyRing.write(made, to: file) }
        try context.console.print(made.key.text.hasSuffix("\n") ? String(made.key.text.dropLast()) : made.key.text)
        context.console.say("\(file) is the key \(made.key.id.prefix(12)). Its public half is above.")
    }
}
