import Foundation
import HearthBase
import HearthCatalog

/// The passphrases of keys: given in a file or as a text, else asked for, each once.
package actor Passphrases {
    /// The fewest characters of a new passphrase.
    private static let shortest = 8
    /// How often a wrong passphrase is asked for again.
    private static let attempts = 3

    private let file: Path?
    private let text: String?
    private let cost: SealedSecret.Cost
    private let ask: (@Sendable (String) async throws -> String?)?
    private var known: [String] = []
    private var hasGiven = false
    /// The keys that this command made or opened, by their ids.
    private var opened: [String: Ed25519Key] = [:]

    /// - Parameters:
    ///   - file: a file whose first line is the passphrase.
    ///   - text: the passphrase, if there is no file.
    ///   - cost: the cost of a guess of the passphrase of a new key.
    ///   - ask: asks a person; `nil` if there is none.
    package init(
        file: Path?, text: String?, cost: SealedSecret.Cost = .default,
        ask: (@Sendable (_ question: String) async throws -> String?)?
    ) {
        (self.file, self.text, self.cost, self.ask) = (file, text, cost, ask)
    }

    /// Decrypts a key.
    /// - Throws: ``TrustError`` with `passphrase-needed` or `passphrase-wrong`; `FileError`; `CancellationError`.
    package func open(_ key: TrustKeyFile, _ path: Path) async throws -> Ed25519Key {
        if let open = opened[key.key.id] { return open }
        let open = try await decrypt(key, path)
        opened[key.key.id] = open
        return open
    }

    private func decrypt(_ key: TrustKeyFile, _ path: Path) async throws -> Ed25519Key {
        if let given = try await given(), !known.contains(given) { known.append(given) }
        for passphrase in known {
            if let opened = await blocking({ key.opened(passphrase: passphrase) }) { return opened }
        }
        guard !hasGiven else { throw Self.wrong(path) }
        for attempt in 0..<Self.attempts {
            let question =
                (attempt == 0 ? "" : "That is not its passphrase.\n") + "Passphrase of \(path.lastComponent): "
            let passphrase = try await ask(question, for: path)
            if let opened = await blocking({ key.opened(passphrase: passphrase) }) {
                known.append(passphrase)
                return opened
            }
        }
        throw Self.wrong(path)
    }

    /// Encrypts new keys with one passphrase.
    /// - Throws: ``TrustError`` with `passphrase-needed` or `bad-key`; `FileError`; `CancellationError`.
    package func seal(_ keys: [Ed25519Key]) async throws -> [TrustKeyFile] {
        guard !keys.isEmpty else { return [] }
        let passphrase = try await new()
        let files = try await blocking { [cost] in
            try keys.map { try TrustKeyFile($0, passphrase: passphrase, cost: cost) }
        }
        for (key, file) in zip(keys, files) { opened[file.key.id] = key }
        return files
    }

    private func new() async throws -> String {
        if let given = try await given() {
            guard given.count >= Self.shortest else { throw Self.tooShort }
            return given
        }
        let first = try await ask("New passphrase for the keys: ", for: nil)
        guard first.count >= Self.shortest else { throw Self.tooShort }
        guard try await ask("The same again: ", for: nil) == first else {
            throw TrustError(
                .passphraseWrong, "the two passphrases differ", context: ErrorContext(remedy: "Try again."))
        }
        known.append(first)
        return first
    }

    /// The passphrase that the caller gave without being asked.
    private func given() async throws -> String? {
        if let file {
            hasGiven = true
            return try await blocking { try Self.read(file) }
        }
        guard let text, !text.isEmpty else { return nil }
        hasGiven = true
        return text
    }

    private func ask(_ question: String, for path: Path?) async throws -> String {
        guard let ask else {
            throw TrustError(
                .passphraseNeeded,
                path.map { "\($0) is encrypted, and there is no terminal to ask for its passphrase" }
                    ?? "new keys are encrypted, and there is no terminal to ask for a passphrase",
                context: ErrorContext(file: path?.string, remedy: "Give the passphrase in a file or the environment."),
                disposition: .usage)
        }
        guard let line = try await ask(question) else { throw CancellationError() }
        return line
    }

    /// Reads the first line of a file that only its owner may read.
    private static func read(_ path: Path) throws -> String {
        let fileSystem = LocalFileSystem()
        let file = try fileSystem.open(path, .read)
        var status = stat()
        // Of the opened file, so that no other file can take its name in between.
        guard fstat(file.descriptor, &status) == 0, status.st_mode & 0o077 == 0 else {
            throw TrustError(
                .passphraseNeeded, "other users may read the passphrase in \(path)",
                context: ErrorContext(file: path.string, remedy: "Allow its owner only, with permissions 0600."))
        }
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = try bytes.withUnsafeMutableBytes { try fileSystem.read(file, into: $0, at: 0) }
        let line = bytes[..<count].prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
        guard !line.isEmpty else {
            throw TrustError(
                .passphraseNeeded, "\(path) holds no passphrase",
                context: ErrorContext(file: path.string, remedy: "Write the passphrase in its first line."))
        }
        return String(decoding: line, as: UTF8.self)
    }

    private static func wrong(_ path: Path) -> TrustError {
        TrustError(
            .passphraseWrong, "the passphrase does not open \(path)",
            context: ErrorContext(file: path.string, remedy: "Give the passphrase that the key was made with."))
    }

    private static var tooShort: TrustError {
        TrustError(
            .passphraseWrong, "the passphrase is shorter than \(shortest) characters",
            context: ErrorContext(remedy: "Choose a longer one: it is all that protects a copied key file."))
    }
}
