import Foundation
import HearthBase
import HearthCatalog
import HearthStore

/// A model in an archive, and the files it becomes on the devices.
struct PackedModel: Sendable {
    /// A file in the archive, and its place in the release folder.
    struct Member: Sendable, Hashable {
        let place: RelativePath
        let role: FileRole
        let size: UInt64
        let digest: SHA256Digest
    }

    let archive: Archive
    let format: ModelFormat
    let members: [Member]

    /// The bytes on the disk after unpacking.
    var unpackedSize: UInt64 { members.map(\.size).reduce(0, +) }

    /// Reads an archive by the same rules as a device.
    /// - Parameter member: the only file to unpack, `nil` for all.
    /// - Throws: `StoreError` if a device would refuse it; ``PublishingError`` with `not-publishable`; `FileError`.
    init(
        _ path: Path, _ format: ArchiveFormat, member: RelativePath?, fileSystem: any FileSystem,
        flag: StopFlag
    ) throws {
        guard format.isSupported else {
            throw PublishingError.refused(
                path, "no device unpacks \(format.rawValue)", "Pack it as tar.zst, tar.gz, tar or zip.")
        }
        let contents: ArchiveContents
        do {
            contents = try ArchiveContents(path, format: format, fileSystem: fileSystem, isCancelled: { flag.isRaised })
        } catch let error as StoreError where error.refusesArchive {
            // The device's error, with a remedy for the publisher.
            var context = error.context
            context.file = path.string
            context.remedy = "Devices refuse it too. Pack the files again, without what is said here."
            let found = error.context.found.map { " (\($0))" } ?? ""
            throw StoreError(error.code, error.message + found, context: context, underlying: error.underlying)
        }
        archive = Archive(format: format, member: member)
        if let member {
            guard let file = contents.files.first(where: { $0.path == member }) else {
                throw PublishingError.refused(
                    path, "\(member) is not in it", "Name one of its files.", field: "member",
                    expected: member.string, found: contents.files.prefix(8).map(\.path.string).joined(separator: ", "))
            }
            guard let kind = ModelFormat(fileName: member.last.name) else { throw Self.noModel(path) }
            self.format = kind
            members = [Member(place: RelativePath(member.last), role: .weights, size: file.size, digest: file.digest)]
            try Self.check([file], in: path)
            return
        }
        let hidden = contents.files.first { $0.path.components.contains { $0.name.hasPrefix(".") } }
        if let hidden {
            throw PublishingError.refused(
                path, "it holds \(hidden.path), and no device installs hidden files", "Pack it again without them.",
                found: hidden.path.string)
        }
        try Self.check(contents.files, in: path)
        guard let weights = PackedWeights(contents.files.map { ($0.path, $0.size) }) else { throw Self.noModel(path) }
        self.format = weights.format
        members = contents.files.map { file in
            Member(place: file.path, role: weights.role(of: file.path), size: file.size, digest: file.digest)
        }
        let parts = weights.missingParts
        if parts > 0 {
            throw PublishingError(
                .shardMissing, "\(path) cannot be published: \(parts) parts of \(weights.main.last) are not in it",
                context: ErrorContext(file: path.string, found: weights.main.string, remedy: "Pack all of them."))
        }
    }

    private static func noModel(_ path: Path) -> PublishingError {
        .refused(
            path, "nothing in it is a model of a known kind",
            "Models are .gguf, .onnx, .safetensors, .mlmodel, .mlpackage and .mlmodelc.")
    }

    /// Refuses a file that is named GGUF and holds something else.
    private static func check(_ files: [ArchiveContents.Entry], in path: Path) throws {
        for file in files where Path(file.path.string).fileExtension == "gguf" {
            guard file.magic.elementsEqual("GGUF".utf8) else {
                throw PublishingError.refused(
                    path, "\(file.path) in it is not a GGUF file", "Check whether it is whole.", expected: "GGUF",
                    found: file.magic.hexadecimal)
            }
        }
    }
}

/// The weights in an archive, and the roles of its other files.
struct PackedWeights: Sendable, Hashable {
    let format: ModelFormat
    let main: RelativePath
    private let shards: [RelativePath]

    /// Finds the weights among files; `nil` if no file belongs to a model.
    init?(_ files: [(path: RelativePath, size: UInt64)]) {
        // A Core ML package is a folder: of its files, only those of Core ML count.
        let kinds = files.map { file in
            let packages = file.path.folders.filter { ModelFormat(fileName: $0.last.name) == .coreml }
            let own = ModelFormat(file: file.path)
            return packages.isEmpty ? own : (own == .coreml ? .coreml : nil)
        }
        let order: [ModelFormat] = [.gguf, .mlx, .onnx, .coreml]
        guard let format = order.first(where: kinds.contains) else { return nil }
        self.format = format
        let weights = zip(files, kinds).filter { $1 == format && FileRole(companionName: $0.path.last.name) == nil }
            .map(\.0)
        func rank(_ file: (path: RelativePath, size: UInt64)) -> (Int, UInt64, RelativePath) {
            let isFirst = ShardName(file.path).map { $0.number == 1 } ?? true
            return (isFirst ? 0 : 1, .max - file.size, file.path)
        }
        guard let main = weights.min(by: { rank($0) < rank($1) })?.path else { return nil }
        self.main = main
        shards = weights.map(\.path).filter { path in
            guard path != main, let own = ShardName(main), let other = ShardName(path) else { return false }
            return own.stem == other.stem && own.count == other.count
        }
    }

    /// The number of missing parts of the weights.
    var missingParts: Int { ShardName(main).map { $0.count - 1 - shards.count } ?? 0 }

    func role(of path: RelativePath) -> FileRole {
        if path == main { return .weights }
        if shards.contains(path) { return .shard }
        return FileRole(companionName: path.last.name) ?? .other
    }
}
