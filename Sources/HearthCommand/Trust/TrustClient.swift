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

    /// The most bytes of a downloaded file, which is kept in memory.
    private static let sizeLimit = 64 << 20

    @Argument("VERB", .choice, "init ROOT, refresh, or download.") private var verb: Verb
    @Argument("ROOT", .path, arity: .optional, "The trusted root.json, for init.") var root: Path?
    @Option("metadata-dir", "FOLDER", .path, required: "FOLDER", "The folder of the trusted metadata. Required.")
    var folder: Path
    @Option("metadata-url", "URL", .anyAddress, "The repository's metadata.") var metadata: URL?
    @Option("target-name", "PATH", .text, isRepeatable: true, "A file to download.") var names: [String]
    @Option("target-base-url", "URL", .anyAddress, "The repository's files.") var targets: URL?
    @Option("target-dir", "FOLDER", .path, "Where downloaded files are put.") var targetsFolder: Path?

    static let declaration = CommandDeclaration(
        "trust", "client", summary: "Read any repository of The Update Framework",
        """
        The client that reads signed origins, on a repository of your choice: init copies a trusted root, refresh
        follows the metadata, download fetches files that it signs, of at most 64 MiB each. It takes the arguments of
        tuf-conformance, which judges it. Models are pulled with hearth pull.

        0: Done.
        1: Refused or failed; see the code.

        hearth trust client --metadata-dir trusted init root.json  # Trust a root.
        hearth trust client --metadata-dir trusted --metadata-url https://tuf.example.org/metadata refresh
        # Follow the metadata.
        """)

    func validate() throws {
        guard (root != nil) == (verb == .initialise) else {
            throw UsageError("ROOT belongs to init, and init needs it")
        }
        let missing: (String, Bool)? = [
            ("--metadata-url", verb != .initialise && metadata == nil),
            ("--target-name", verb == .download && names.isEmpty),
            ("--target-base-url", verb == .download && targets == nil),
            ("--target-dir", verb == .download && targetsFolder == nil),
        ].first { $0.1 }
        if let missing { throw UsageError("hearth trust client needs \(missing.0)") }
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

extension ValueKind where Value == URL {
    /// Any address.
    fileprivate static var anyAddress: Self {
        ValueKind("an address") { text in URL(address: text).flatMap { $0.scheme == nil ? nil : $0 } }
    }
}
