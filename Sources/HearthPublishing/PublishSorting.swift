import Foundation
import HearthBase
import HearthDelivery

/// Which of the files to be published is a model, and which belongs to one.
///
/// By name first: archives, parts `-00001-of-00003.gguf`, projectors, labels and tokenizers are called so by the tools that make
/// them; then a projector by its header. Everything else is a model of its own. What belongs to a model belongs to each of
/// the request's, which then have to be of one family.
struct PublishSorting {
    private(set) var models: [Model] = []
    private(set) var companions: [PublishRequest.Companion]

    /// What will be one release, without its companions.
    enum Model {
        case file(Path)
        /// In order, all of them there.
        case shards([Path])
        case archive(Path, ArchiveFormat)

        /// The one whose name tells the release's.
        var path: Path {
            switch self {
            case .file(let path), .archive(let path, _): path
            case .shards(let paths): paths[0]
            }
        }
    }

    /// - Throws: ``PublishingError`` with `not-publishable`, `shard-missing`; `FileError`.
    init(_ request: PublishRequest, fileSystem: any FileSystem) throws {
        companions = request.companions
        var sets: Set<Path> = []
        for path in request.files {
            let name = path.lastComponent
            if let format = ArchiveFormat(fileName: name) {
                models.append(.archive(path, format))
            } else if let shard = PathComponent(name).flatMap({ ShardName(RelativePath($0)) }),
                path.fileExtension == "gguf"
            {
                let shards = try Self.shards(of: shard, besides: path, fileSystem: fileSystem)
                // Whoever gives all the parts means one model, and whoever gives one of them too.
                if sets.insert(shards[0].absolute).inserted { models.append(.shards(shards)) }
            } else if let role = FileRole(companionName: name) {
                companions.append(PublishRequest.Companion(path, role: role))
            } else if try Self.isProjector(path, fileSystem) {
                companions.append(PublishRequest.Companion(path, role: .projector))
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
        // The given one by its own name, whose extension may be in capitals.
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

    /// Only what is plainly one: everything else is looked at, and complained of, as a model.
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
