import Foundation
import HearthBase
import HearthCatalog

/// Sorts the files of a request into models and companions.
///
/// Names decide first: tools give fixed names to archives, parts `-00001-of-00003.gguf`, projectors, labels and
/// tokenizers. Then a projector is recognised by its header. Every other file is a model. A companion belongs to every
/// model of the request, so the models must be of one family.
struct PublishSorting {
    private(set) var models: [Model] = []
    private(set) var companions: [(path: Path, role: FileRole?)]

    /// The files of one release, without companions.
    enum Model {
        case file(Path)
        /// All parts, in order.
        case shards([Path])
        case archive(Path, ArchiveFormat)

        /// The file whose name gives the release's name.
        var path: Path {
            switch self {
            case .file(let path), .archive(let path, _): path
            case .shards(let paths): paths[0]
            }
        }
    }

    /// - Throws: ``PublishingError`` with `not-publishable`, `shard-missing`; `FileError`.
    init(_ request: PublishRequest, fileSystem: any FileSystem) throws {
        companions = request.companions.map { ($0, request.roles[$0]) }
        var sets: Set<Path> = []
        for path in request.files {
            let name = path.lastComponent
            if let format = ArchiveFormat(fileName: name) {
                models.append(.archive(path, format))
            } else if let shard = PathComponent(name).flatMap({ ShardName(RelativePath($0)) }),
                path.fileExtension == "gguf"
            {
                let shards = try Self.shards(of: shard, besides: path, fileSystem: fileSystem)
                // One part of a model means the whole model, and so do all its parts together.
                if sets.insert(shards[0].absolute).inserted { models.append(.shards(shards)) }
            } else if let role = FileRole(companionName: name) {
                companions.append((path, role))
            } else if try Self.isProjector(path, fileSystem) {
                companions.append((path, .projector))
            } else {
                models.append(.file(path))
            }
        }
        if models.isEmpty, let companion = companions.first {
            throw PublishingError.refused(
                companion.path, "it belongs to a model, and none is given", "Give the model's file as well.")
        }
    }

    private static func shards(of shard: ShardName, besides path: Path, fileSystem: any FileSystem) throws -> [Path] {
        // Keep the path that was given: its extension may be in capitals.
        let all = shard.paths(beside: path).enumerated().map { $0 + 1 == shard.number ? path : $1 }
        let missing = try all.filter { try fileSystem.status(at: $0, followLinks: false) == nil }
        guard all.count == shard.count, missing.isEmpty else {
            throw PublishingError(
                .shardMissing, "\(path) is one of \(shard.count) parts, and \(missing.count) of them are not there",
                context: ErrorContext(
                    file: (missing.first ?? path).string, expected: "\(shard.count) parts",
                    found: "\(shard.count - missing.count)", remedy: "Put all of them into one folder."))
        }
        return all
    }

    /// Whether a file is surely a projector; any other file is checked as a model, with a model's errors.
    private static func isProjector(_ path: Path, _ fileSystem: any FileSystem) throws -> Bool {
        guard path.fileExtension == "gguf", try fileSystem.status(at: path, followLinks: false)?.kind == .file else {
            return false
        }
        do {
            return try GGUFHeader(file: path, fileSystem: fileSystem, extent: .metadata).isProjector
        } catch is GGUFError {
            return false
        }
    }
}
