import Foundation
import HearthBase
import HearthCatalog
import HearthPublishing

/// `hearth trust key FILE`
struct TrustKey: Command {
    private static let file = Argument("FILE", .word, "The new file, best named like alice.key.")
    private static let command = Option(
        "command", "WORD", .word, isRepeatable: true,
        "A program that signs, then its arguments, each with its own --command. It gets the bytes to sign on its input "
            + "and prints the signature in hexadecimal digits. Needs --public.")
    private static let publicHalf = Option(
        "public", "PUB", .word, "With --command: the file of the public half, PEM or 64 hexadecimal digits.")
    private static let passphraseFile = TrustKeyChoice.passphraseFile

    static let declaration = CommandDeclaration(
        "trust", "key", summary: "Make a key for signing origins",
        discussion: [
            "Makes an Ed25519 key, encrypted with a passphrase (scrypt, AES-256-GCM) and readable by you only, and prints its id "
                + "and its public half. Give the public half to whom the origin belongs; the file itself stays with you.",
            "With --command, the private half stays in a hardware token or another program, and FILE says how to ask it. Ed25519, "
                + "ECDSA (P-256, P-384, P-521; DER signatures) and RSA (PSS with SHA-256) are understood.",
        ],
        arguments: [file], options: [command, publicHalf, passphraseFile],
        examples: [
            .init("hearth trust key alice.key", "An encrypted key."),
            .init(
                "hearth trust key token.key --command /usr/local/bin/sign-with-token --command slot-9c --public token.pem",
                "A key in a token."),
        ])

    let file: Path
    let command: [String]
    let publicHalf: Path?
    let choice: TrustKeyChoice

    init(_ values: ParsedArguments) throws {
        file = Path(try values.value(Self.file))
        command = try values.values(Self.command)
        publicHalf = try values.value(Self.publicHalf).map { Path($0) }
        guard command.isEmpty == (publicHalf == nil) else {
            throw UsageError("--command and --public belong together", hint: Self.declaration.hint())
        }
        choice = TrustKeyChoice(passphraseFile: try values.value(Self.passphraseFile).map { Path($0) })
    }

    func run(in context: CommandContext) async throws {
        let made: TrustKeyFile
        if let publicHalf {
            made = TrustKeyFile(try await blocking { try KeyRing.publicKey(publicHalf) }, command: command)
        } else {
            // Before the question for a passphrase.
            guard try await blocking({ [file] in try LocalFileSystem().status(at: file, followLinks: false) == nil })
            else { throw FileError(errno: EEXIST, doing: "create", path: file) }
            let ring = try KeyRing(choice, in: context)
            guard let sealed = try await ring.passphrases.seal([Ed25519Key()]).first else { return }
            made = sealed
        }
        try await blocking { [file] in try KeyRing.write(made, to: file) }
        try context.console.print(made.key.text.hasSuffix("\n") ? String(made.key.text.dropLast()) : made.key.text)
        context.console.say("\(file) is the key \(made.key.id.prefix(12)). Its public half is above.")
    }
}
