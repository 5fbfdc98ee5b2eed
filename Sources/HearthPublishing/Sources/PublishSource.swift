import Foundation
import HearthBase
import HearthCatalog

/// A release to publish: its checked files and its names.
struct PublishSource: Sendable {
    /// The weights, or the archive that holds them.
    let main: PublishPart
    /// Further shards, then companions: projector, labels, tokenizer.
    let others: [PublishPart]
    /// The contents of the archive, if the model is in one.
    let packed: PackedModel?
    let format: ModelFormat
    let identity: ReleaseIdentity
    /// The name in the file's name that the family was made of; `nil` if the publisher named the family.
    let writtenName: WrittenName?
    /// The name the manifest gives the main file: `{name}-v{x.y.z}[-{quantization}].{extension}`.
    let fileName: PathComponent

    var path: Path { main.path }
    var header: GGUFHeader? { main.header }
    /// The files to copy into the origin.
    var parts: [PublishPart] { [main] + others }

    /// Checks a model and its companions.
    /// - Throws: ``PublishingError`` with `not-publishable`, `name-needed`, `version-needed`, `shard-missing` or
    ///   `file-twice`; `StoreError`; `FileError`.
    init(
        _ model: PublishSorting.Model, companions: [PublishPart], request: PublishRequest, fileSystem: any FileSystem,
        flag: StopFlag
    ) throws {
        let path = model.path
        var main: PublishPart
        var shards: [PublishPart] = []
        var partCount = 1
        let packed: PackedModel?
        switch model {
        case .file:
            main = try PublishPart(path, role: .weights, isModel: true, fileSystem: fileSystem)
            packed = nil
            format = main.format ?? .gguf
            if let header = main.header, header.splitCount > 1 {
                throw PublishingError.refused(
                    path, "it is part \(header.splitIndex &+ 1) of \(header.splitCount)",
                    "Name the parts as llama-gguf-split does, such as model\(ShardName.suffix(1, of: 2)).gguf.")
            }
        case .shards(let paths):
            let parts = try paths.enumerated().map { try Self.shard($1, number: $0 + 1, of: paths.count, fileSystem) }
            main = parts[0]
            shards = Array(parts.dropFirst())
            partCount = paths.count
            packed = nil
            format = .gguf
        case .archive(_, let kind):
            main = try PublishPart(path, role: .weights, fileSystem: fileSystem)
            let contents = try PackedModel(
                path, kind, member: request.member, fileSystem: fileSystem, flag: flag)
            packed = contents
            format = contents.format
        }
        let identity: ReleaseIdentity
        (identity, writtenName) = try Self.identity(path, main.header, request)
        self.identity = identity
        let stem = ReleaseFileName(
            family: identity.family, version: identity.version.semantic ?? SemanticVersion(0, 0, 0),
            variant: identity.variant
        ).stem
        func name(_ text: String) throws -> PathComponent {
            guard let name = PathComponent(text) else {
                throw PublishingError(
                    .versionNeeded, "the version \(identity.version) is longer than 64 characters",
                    context: ErrorContext(file: path.string))
            }
            return name
        }
        // Engines find parts by their numbers, so all parts share one stem.
        func part(_ number: Int) -> String { partCount == 1 ? stem : stem + ShardName.suffix(number, of: partCount) }
        main.stem = part(1)
        let inside = packed?.archive.member.map { Path($0.string).fileExtension }
        main.name = try name("\(part(1)).\(inside ?? main.fileExtension)")
        fileName = main.name
        for index in shards.indices {
            shards[index].stem = part(index + 2)
            shards[index].name = try name("\(part(index + 2)).gguf")
        }
        self.main = main
        self.packed = packed
        others = shards + companions
        try refuseNamesTwice()
    }

    private static func identity(
        _ path: Path, _ header: GGUFHeader?, _ request: PublishRequest
    ) throws -> (ReleaseIdentity, WrittenName?) {
        let hint = NameHint(path.lastComponent)
        var context = ErrorContext(file: path.string)
        guard let version = request.version ?? hint.version else {
            context.field = "version"
            context.remedy = "Name the file like {name}-v1.0.0-q4_k_m.gguf, or give the version."
            throw PublishingError(
                .versionNeeded, "the file name \(path.lastComponent) does not tell the version", context: context)
        }
        guard version.build.isEmpty else {
            throw PublishingError(
                .versionNeeded, "a release's version has no build metadata, unlike \(version)", context: context)
        }
        guard let named = ReleaseVersion(version.description) else {
            throw PublishingError(
                .versionNeeded, "the version \(version) is longer than 64 characters", context: context)
        }
        guard let family = request.family ?? hint.name?.family else {
            context.field = "family"
            context.remedy = "Give a name of lower-case letters, digits, points, hyphens and underscores."
            throw PublishingError(
                .nameNeeded, "the file name \(path.lastComponent) does not give the model a name", context: context)
        }
        let variant = request.variant ?? hint.variant ?? header?.quantization.flatMap { Variant($0.lowercased()) }
        let identity = ReleaseIdentity(family: family, version: named, variant: variant)
        return (identity, request.family == nil ? hint.name : nil)
    }

    /// Checks a part of a model, whose header must fit its name.
    private static func shard(
        _ path: Path, number: Int, of count: Int, _ fileSystem: any FileSystem
    ) throws -> PublishPart {
        let part = try PublishPart(
            path, role: number == 1 ? .weights : .shard, isModel: true, fileSystem: fileSystem)
        if let header = part.header, header.splitCount != count || header.splitIndex + 1 != number {
            throw PublishingError.refused(
                path, "its header says that it is part \(header.splitIndex &+ 1) of \(header.splitCount)",
                "Check whether the parts are those of one model.", expected: "part \(number) of \(count)")
        }
        return part
    }

    /// Checks a companion.
    static func companion(_ path: Path, role: FileRole?, fileSystem: any FileSystem) throws -> PublishPart {
        let role = role ?? FileRole(companionName: path.lastComponent) ?? .other
        let part = try PublishPart(path, role: role, isModel: role == .projector, fileSystem: fileSystem)
        if role == .projector, part.format != .gguf || part.header?.isProjector == false {
            let architecture = part.header?.architecture
            throw PublishingError.refused(
                path, "it is no projector: its header says \(architecture ?? "nothing of the kind")",
                "Give the mmproj file that was made for the model.", expected: "clip", found: architecture)
        }
        return part
    }

    /// Refuses files whose names are the same on some file system, and a second projector.
    private func refuseNamesTwice() throws {
        var places: [(place: RelativePath, path: Path)] = others.map { (RelativePath($0.name), $0.path) }
        if let packed {
            let inside = packed.archive.member == nil ? packed.members.map(\.place) : [RelativePath(fileName)]
            places = inside.map { ($0, main.path) } + places
        } else {
            places.insert((RelativePath(fileName), main.path), at: 0)
        }
        var names = DistinctPaths()
        func twice(_ problem: String, _ path: Path) -> PublishingError {
            PublishingError(
                .fileTwice, problem,
                context: ErrorContext(
                    model: identity.description, file: path.string, remedy: "Leave one of them out, or rename it."))
        }
        for (place, path) in places {
            guard let other = names.insert(place) else { continue }
            throw twice("\(place) and \(other) of \(identity) cannot lie in one folder", path)
        }
        let roles = others.map(\.role) + (packed?.members.map(\.role) ?? [])
        if roles.filter({ $0 == .projector }).count > 1 {
            throw twice("\(identity) would have two projectors", others.last?.path ?? main.path)
        }
    }
}

/// The parts of a release's identity that a file name suggests.
struct NameHint: Hashable {
    var name: WrittenName?
    var version: SemanticVersion?
    var variant: Variant?

    /// Reads `{name}-v{x.y.z}-{quantization}.gguf`, else `{name}_{x.y.z}.mlpackage`, `{name}-{quantization}.gguf` or `{name}.{quantization}.gguf`,
    /// the usual names on the Hub.
    init(_ fileName: String) {
        if let parsed = ReleaseFileName(parsing: fileName) {
            name = WrittenName(parsed.written)
            version = parsed.version
            variant = parsed.variant
            return
        }
        var stem = ArchiveFormat.unpackedName(fileName)
        if stem.count == fileName.count || ModelFormat(fileName: stem) != nil {
            stem = (stem as NSString).deletingPathExtension
        }
        if let part = stem.firstMatch(of: /-[0-9]{5}-of-[0-9]{5}$/) { stem.removeSubrange(part.range) }
        if let found = stem.firstMatch(of: /[-_ ][vV]?([0-9]+\.[0-9]+\.[0-9]+)$/) {
            version = SemanticVersion(String(found.1))
            stem.removeSubrange(found.range)
        }
        if let mark = stem.lastIndex(where: { $0 == "." || $0 == "-" }),
            Self.isQuantization(stem[stem.index(after: mark)...].lowercased()[...])
        {
            variant = Variant(stem[stem.index(after: mark)...].lowercased())
            name = WrittenName(stem[..<mark])
        } else {
            name = WrittenName(stem)
        }
    }

    /// Whether a word names a quantization of llama.cpp: `q4_k_m`, `iq2_xxs`, `tq1_0`, `f16`, `bf16`, `mxfp4`, …
    static func isQuantization(_ word: Substring) -> Bool {
        if ["f16", "f32", "bf16", "fp16", "fp32"].contains(word) || word.hasPrefix("mxfp") { return true }
        for mark in ["iq", "tq", "q"] where word.hasPrefix(mark) {
            let rest = word.dropFirst(mark.count)
            return rest.first?.isNumber == true
                && rest.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }
        }
        return false
    }
}
