import Foundation
import Hearth
import HearthBase
import HearthCatalog
import HearthHTTP

/// `hearth trust client`
struct TrustClient: Command {
    private enum Verb: String, CaseIterable, Sendable {
        case initialise = "init"
        case refresh, download
    }

    private static let verb = Argument(
        "VERB", ValueKind<Verb>.choice, "init ROOT, refresh, or download.")
    private static let root = Argument("ROOT", .word, arity: .optional, "The trusted root.json, for init.")
    private static let metadataFolder = Option(
        "metadata-dir", "FOLDER", .word, "The folder of the trusted metadata. Required.")
    private static let metadataURL = Option(
        "metadata-url", "URL", ValueKind("an address") { url($0) }, "The repository's metadata.")
    private static let targetName = Option(
        "target-name", "PATH", .text, isRepeatable: true, "A file to download.")
    private static let targetsURL = Option(
        "target-base-url", "URL", ValueKind("an address") { url($0) }, "The repository's files.")
    private static let targetsFolder = Option("target-dir", "FOLDER", .word, "Where downloaded files are put.")

    /// The most bytes of a downloaded file, which is kept in memory.
    private static let sizeLimit = 64 << 20

    static let declaration = CommandDeclaration(
        "trust", "client", summary: "Read any repository of The Update Framework",
        discussion: [
            "The client that reads signed origins, on a repository of your choice: init copies a trusted root, refresh follows the "
                + "metadata, download fetches files that it signs, of at most 64 MiB each. It takes the arguments of "
                + "tuf-conformance, which judges it. Models are pulled with hearth pull."
        ],
        arguments: [verb, root], options: [metadataFolder, metadataURL, targetName, targetsURL, targetsFolder],
        exitStatuses: [(0, "Done."), (1, "Refused or failed; see the code.")],
        examples: [
            .init("hearth trust client --metadata-dir trusted init root.json", "Trust a root."),
            .init(
                "hearth trust client --metadata-dir trusted --metadata-url https://tuf.example.org/metadata refresh",
                "Follow the metadata."),
        ])

    private let verb: Verb
    let root: Path?
    let folder: Path
    let metadata: URL?
    let names: [String]
    let targets: URL?
    let targetsFolder: Path?

    init(_ values: ParsedArguments) throws {
        verb = try values.value(Self.verb)
        root = try values.optional(Self.root).map { Path($0) }
        guard let folder = try values.value(Self.metadataFolder) else { throw Self.missing("--metadata-dir") }
        self.folder = Path(folder)
        metadata = try values.value(Self.metadataURL)
        names = try values.values(Self.targetName)
        targets = try values.value(Self.targetsURL)
        targetsFolder = try values.value(Self.targetsFolder).map { Path($0) }
        guard (root != nil) == (verb == .initialise) else {
            throw UsageError("ROOT belongs to init, and init needs it", hint: Self.declaration.hint())
        }
        if verb != .initialise, metadata == nil { throw Self.missing("--metadata-url") }
        if verb == .download, names.isEmpty { throw Self.missing("--target-name") }
        if verb == .download, targets == nil { throw Self.missing("--target-base-url") }
        if verb == .download, targetsFolder == nil { throw Self.missing("--target-dir") }
    }

    private static func url(_ text: String) -> URL? {
        guard let url = URL(string: text), url.scheme != nil else { return nil }
        return url
    }

    private static func missing(_ option: String) -> UsageError {
        UsageError("hearth trust client needs \(option)", hint: declaration.hint())
    }

    func run(in context: CommandContext) async throws {
        let store = TrustStore(folder: folder)
        if let root {
            return try await blocking {
                let data = try LocalFileSystem().contents(ofFile: root, limit: MetadataRole.root.sizeLimit)
                try store.keep(.root, data)
            }
        }
        guard let metadata else { return }
        var session = try await TrustSession(
            metadata: metadata, http: DefaultHTTPClient(version: HearthCommand.version), store: store,
            time: context.time)
        try await session.refresh()
        guard verb == .download, let targets, let targetsFolder else { return }
        for name in names {
            let file = try await session.find(name)
            // A file name of at most 255 bytes, whatever the path has.
            let path = targetsFolder.joined(SHA256Digest(hashing: Array(name.utf8)).short)
            let isHere = try await blocking {
                let fileSystem = LocalFileSystem()
                guard try fileSystem.status(at: path)?.size == file.length else { return false }
                return file.digests.match(try fileSystem.contents(ofFile: path, limit: Self.sizeLimit))
            }
            if !isHere {
                let data = try await session.download(file, below: targets, limit: Self.sizeLimit)
                try await blocking { try LocalFileSystem().replaceContents(of: path, with: data) }
            }
            try context.console.print("\(name)  \(path)")
        }
    }
}
