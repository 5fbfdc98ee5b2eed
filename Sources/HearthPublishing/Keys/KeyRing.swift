import Foundation
import HearthBase
import HearthCatalog

/// The key files that a publisher may sign with: those of a folder, and those that were named.
package struct KeyRing: Sendable {
    /// A key in a file.
    package struct Entry: Sendable {
        package let path: Path
        package let file: TrustKeyFile
        /// Whether the user named the file, so that it signs also where it is not known to be needed.
        package let isNamed: Bool
    }

    package let folder: Path
    private let named: [Path]
    private let passphrases: Passphrases
    private let environment: [String: String]
    private let complain: @Sendable (String) -> Void

    /// - Parameters:
    ///   - environment: the environment of programs that sign.
    ///   - complain: tells why a file of the folder is not used.
    package init(
        folder: Path, named: [Path] = [], passphrases: Passphrases, environment: [String: String],
        complain: @escaping @Sendable (String) -> Void
    ) {
        self.folder = folder
        self.named = named
        self.passphrases = passphrases
        self.environment = environment
        self.complain = complain
    }

    /// Reads the public halves of all keys.
    /// - Throws: ``TrustError`` with `bad-key` for a named file; other files that are no keys are skipped.
    package func entries() async throws -> [Entry] { try await scan().entries }

    /// The keys, and the reasons for which files of the folder are not used.
    private func scan() async throws -> (entries: [Entry], skipped: [String]) {
        try await blocking { [folder, named] in
            let fileSystem = LocalFileSystem()
            var entries = try named.map { Entry(path: $0, file: try Self.read($0), isNamed: true) }
            var skipped: [String] = []
            guard try fileSystem.status(at: folder) != nil else { return (entries, []) }
            for name in try fileSystem.contents(of: folder) {
                let path = folder.joined(name)
                guard path.fileExtension == TrustKeyFile.fileExtension,
                    !entries.contains(where: { $0.path.absolute == path.absolute })
                else { continue }
                do {
                    entries.append(Entry(path: path, file: try Self.read(path), isNamed: false))
                } catch let error as any HearthFailure {
                    skipped.append(error.message)
                }
            }
            return (entries, skipped)
        }
    }

    /// Opens the keys of some ids, and the named ones; asks for their passphrases.
    /// - Throws: ``TrustError``, `FileError`, `CancellationError`.
    package func signers(for ids: Set<String>) async throws -> [any MetadataSigner] {
        var signers: [any MetadataSigner] = []
        var seen: Set<MetadataKey> = []
        let (entries, skipped) = try await scan()
        for reason in skipped { complain("A key file is not used: \(reason).") }
        for entry in entries where entry.isNamed || ids.contains(entry.file.key.id) {
            guard seen.insert(entry.file.key).inserted else { continue }
            switch entry.file.secret {
            case .command(let words):
                signers.append(CommandSigner(key: entry.file.key, words: words, environment: environment))
            case .sealed: signers.append(try await passphrases.open(entry.file, entry.path))
            }
        }
        return signers
    }

    /// Makes encrypted keys in the folder, each in a file named after its purpose.
    /// - Throws: ``TrustError``, `FileError`, `CancellationError`.
    package func make(_ names: [String]) async throws -> [Entry] {
        let files = try await passphrases.seal(names.map { _ in Ed25519Key() })
        return try await blocking { [folder] in
            let fileSystem = LocalFileSystem()
            try fileSystem.makeFolders(folder, permissions: 0o700)
            return try zip(names, files).map { name, file in
                var path = folder.joined("\(name).\(TrustKeyFile.fileExtension)")
                if try fileSystem.status(at: path) != nil {
                    path = folder.joined("\(name)-\(file.key.id.prefix(8)).\(TrustKeyFile.fileExtension)")
                }
                try Self.write(file, to: path)
                return Entry(path: path, file: file, isNamed: true)
            }
        }
    }

    /// Writes a key to a new file that only its owner may read.
    package static func write(_ file: TrustKeyFile, to path: Path) throws {
        let fileSystem = LocalFileSystem()
        let opened = try fileSystem.open(path, .createNew, permissions: 0o600)
        try file.data.withUnsafeBytes { try fileSystem.write(opened, $0, at: 0) }
        try fileSystem.synchronize(opened)
        try fileSystem.synchronizeFolder(path.parent)
    }

    private static func read(_ path: Path) throws -> TrustKeyFile {
        let data = try LocalFileSystem().contents(ofFile: path, limit: TrustKeyFile.sizeLimit)
        return try TrustKeyFile(parsing: data, file: path.string)
    }

    /// The public key in any key file.
    package static func publicKey(_ path: Path) throws -> MetadataKey {
        let data = try LocalFileSystem().contents(ofFile: path, limit: TrustKeyFile.sizeLimit)
        return try PublicKeyFile.read(data, file: path.string)
    }
}
