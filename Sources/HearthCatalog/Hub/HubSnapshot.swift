import Foundation
import HearthBase

/// Groups the files of a repository into releases.
///
/// - GGUF: each file, or each set of shards, is a variant, together with a projector (`mmproj`) of the same repository.
///   Other files are ignored.
/// - Otherwise the repository is one release of all its files except weights for other frameworks: `mlx` or
///   `safetensors` with `config.json` and `*.safetensors`, `onnx` with `*.onnx`.
/// - A named file is a release of that file, with its other shards.
/// - Patterns choose the files that match one of them. Each GGUF variant gets all other matching files.
struct HubSnapshot: Sendable {
    package let reference: HubReference
    let repository: HubRepository
    package let files: [HubFile]

    /// The most files of one release.
    package static let maximumFiles = 2048
    /// The most companions of all releases together; each variant counts all of its own.
    private static let maximumCompanions = 1 << 16
    /// The file extensions of weights that other frameworks read.
    private static let foreignWeights: Set<String> = [
        "bin", "ckpt", "gguf", "h5", "msgpack", "onnx", "onnx_data", "ot", "pb", "pt", "pth", "safetensors", "tflite",
    ]

    /// A file whose path is allowed on disk.
    struct Chosen: Sendable, Hashable {
        package let path: RelativePath
        package let file: HubFile
        package var name: String { path.last.name.lowercased() }
        package var kind: String { Path(path.last.name).fileExtension }
        package var isProjector: Bool { kind == "gguf" && name.contains("mmproj") }
        /// Whether the file belongs to a model without being one.
        var isAuxiliary: Bool { kind == "gguf" && !isProjector && HubSnapshot.isBeside(path) }
        var quantization: QuantizationLabel? { QuantizationLabel(file: path) }
    }

    /// Whether a GGUF file belongs to a model without being one: projectors, measurements for quantizers, and drafts.
    static func isBeside(_ path: RelativePath) -> Bool {
        let name = path.last.name.lowercased()
        return ["mmproj", "imatrix"].contains(where: name.contains)
            || ["mtp-", "dflash-"].contains(where: name.hasPrefix)
    }

    /// The releases, one for each variant.
    /// - Throws: ``CatalogError`` with `unknown-file`, `no-known-model`, `hub-answer-invalid`.
    package func releases() throws(CatalogError) -> [Release] {
        guard let family = reference.family, let version = HubNames.version(ofCommit: repository.commit) else {
            throw HubAnswer.invalid(reference, "a name no model can have", expected: "letters and digits")
        }
        let wanted = try wanted()
        let weights = wanted.filter {
            $0.kind == "gguf" && !$0.isProjector && !$0.isAuxiliary && $0.quantization?.isRetired != true
        }
        var plans: [Plan] = []
        if let name = reference.fileName {
            plans = [try named(name, wanted)]
        } else if !weights.isEmpty {
            plans = try ggufPlans(weights, projectors: wanted.filter(\.isProjector))
            let others = reference.patterns.isEmpty ? [] : wanted.filter { $0.kind != "gguf" }
            guard others.count * plans.count <= Self.maximumCompanions else {
                throw HubAnswer.invalid(
                    reference, "\(plans.count) variants with \(others.count) files beside each",
                    expected: "at most \(Self.maximumCompanions) in all")
            }
            for index in plans.indices { plans[index].files += others }
            plans = try quantized(plans)
        } else {
            plans = [try whole(wanted)]
        }
        var taken: Set<Variant> = []
        return try plans.map { plan throws(CatalogError) in
            guard plan.files.count <= Self.maximumFiles else {
                throw HubAnswer.invalid(
                    reference, "\(plan.files.count) files", expected: "at most \(Self.maximumFiles)")
            }
            var variant = plan.variant
            // Under a short name, the quantization tells variants apart.
            if reference.alias != nil, let label = plan.files[0].quantization?.variant { variant = label }
            // If two files get the same variant, the second gets a hash; the first in order keeps the plain name.
            if let plain = variant, !taken.insert(plain).inserted {
                variant = HubNames.distinctVariant(of: plan.files[0].path)
            }
            let identity = ReleaseIdentity(family: family, version: version, variant: variant)
            return try release(identity, plan)
        }
    }

    /// The files of a future release.
    private struct Plan {
        var variant: Variant?
        var format: ModelFormat
        /// The weights first.
        var files: [Chosen]
    }

    // MARK: - Selecting files

    private func wanted() throws(CatalogError) -> [Chosen] {
        let globs = reference.patterns
        if let name = reference.fileName, !files.contains(where: { $0.name == name }) { throw missing(name) }
        var wanted: [Chosen] = []
        // Sorted, so that the order of the hub's answer decides nothing.
        for file in files.sorted(by: { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) })
        where globs.isEmpty || globs.contains(where: { $0.matches(file.name) }) {
            guard let path = file.path, path.reservation == nil else { throw unusable(file) }
            wanted.append(Chosen(path: path, file: file))
        }
        if wanted.isEmpty, !globs.isEmpty { throw missing(reference.file ?? "") }
        return wanted
    }

    private func missing(_ name: String) -> CatalogError {
        let near = NearNames.of(files.prefix(2000).map(\.name), to: name) { $0 }
        return CatalogError(
            .fileMissing, "\(reference.path) has no file \(name.quoted)",
            context: ErrorContext(
                model: reference.description, expected: near.joined(separator: ", "), found: name.quoted,
                remedy: near.isEmpty ? nil : "Did you mean \(near.map(\.quoted).joined(separator: " or "))?"))
    }

    private func unusable(_ file: HubFile) -> CatalogError {
        CatalogError(
            .hubAnswerInvalid, "\(reference.path) has a file that cannot lie on a disk: \(file.name.quoted)",
            context: ErrorContext(
                model: reference.description, expected: "a path inside the model's folder", found: file.name.quoted,
                remedy: "Name the files you want with a pattern after the colon."))
    }

    // MARK: - Grouping files

    /// The plans of the quantization that the reference names. A repository of one quantization gives that one.
    /// - Throws: `unknown-variant`, listing the quantizations.
    private func quantized(_ plans: [Plan]) throws(CatalogError) -> [Plan] {
        guard let wanted = reference.quantization else { return plans }
        let found = plans.filter { $0.files[0].quantization == wanted }
        if !found.isEmpty { return found }
        let measured = plans.filter { $0.files[0].quantization?.name == "UD-" + wanted.name }
        if !measured.isEmpty { return measured }
        guard plans.count > 1 else { return plans }
        var labels: [String] = []
        for plan in plans {
            if let name = plan.files[0].quantization?.name, !labels.contains(name) { labels.append(name) }
        }
        let listed = labels.prefix(40).joined(separator: ", ")
        throw CatalogError(
            .unknownVariant, "\(reference.path) has no quantization \(wanted.name)",
            context: ErrorContext(
                model: reference.description, expected: listed, found: wanted.name,
                remedy: labels.isEmpty ? "Name a file of it after the colon." : "It has \(listed)."))
    }

    private func named(_ name: String, _ wanted: [Chosen]) throws(CatalogError) -> Plan {
        guard let file = wanted.first(where: { $0.file.name == name }) else { throw missing(name) }
        guard let format = ModelFormat(fileName: file.path.last.name) else { throw noModel() }
        if let shard = ShardName(file.path), format == .gguf {
            return try Self.sharded(wanted.filter { ShardName($0.path)?.stem == shard.stem }, shard, reference)
        }
        return Plan(variant: HubNames.variant(of: file.path), format: format, files: [file])
    }

    private func ggufPlans(_ weights: [Chosen], projectors: [Chosen]) throws(CatalogError) -> [Plan] {
        var plans: [Plan] = []
        var sets: [String: [Chosen]] = [:]
        for file in weights { if let shard = ShardName(file.path) { sets[shard.stem, default: []].append(file) } }
        // Grouped once: comparing every pair of 20,000 files would take 400 million steps.
        let nearest = Dictionary(grouping: projectors, by: \.path.parent)
            .compactMapValues(Self.projector)
        let other = Self.projector(among: projectors)
        for file in weights {
            var plan: Plan
            if let shard = ShardName(file.path) {
                guard let set = sets.removeValue(forKey: shard.stem) else { continue }
                plan = try Self.sharded(set, shard, reference)
            } else {
                plan = Plan(variant: HubNames.variant(of: file.path), format: .gguf, files: [file])
            }
            if let projector = nearest[file.path.parent] ?? other { plan.files.append(projector) }
            plans.append(plan)
        }
        return plans
    }

    /// All shards of one model; an incomplete set is an error.
    private static func sharded(
        _ shards: [Chosen], _ name: ShardName, _ reference: HubReference
    ) throws(CatalogError) -> Plan {
        let numbers = shards.compactMap { ShardName($0.path)?.number }.sorted()
        guard let first = shards.first(where: { ShardName($0.path)?.number == 1 }),
            numbers == Array(1...name.count), shards.count == name.count
        else {
            throw CatalogError(
                .noKnownModel,
                "\(reference.path) has \(shards.count) of the \(name.count) parts of \(name.stem.quoted)",
                context: ErrorContext(
                    model: reference.description, expected: "\(name.count) parts", found: "\(shards.count)",
                    remedy: "Tell its owner, or choose another file."))
        }
        let others = shards.filter { $0 != first }.sorted { $0.path < $1.path }
        return Plan(
            variant: RelativePath(name.stem + ".gguf").flatMap(HubNames.variant), format: .gguf,
            files: [first] + others)
    }

    /// The projector for the weights, in the precision that most engines support.
    private static func projector(among projectors: [Chosen]) -> Chosen? {
        func rank(_ file: Chosen) -> Int {
            let words = Set(file.name.split { "-. ".contains($0) }.map(String.init))
            let order = ["f16": 0, "bf16": 1, "q8_0": 2, "f32": 3]
            return words.compactMap { order[$0] }.min() ?? 4
        }
        return projectors.map { (rank: rank($0), file: $0) }
            .min { ($0.rank, $0.file.path) < ($1.rank, $1.file.path) }?.file
    }

    /// A repository that is one model.
    private func whole(_ wanted: [Chosen]) throws(CatalogError) -> Plan {
        let safetensors = wanted.filter { $0.kind == "safetensors" }
        let onnx = wanted.filter { $0.kind == "onnx" }
        let hasConfiguration = files.contains { $0.name == "config.json" }
        let format: ModelFormat
        let main: Chosen
        if let first = safetensors.min(by: Self.isMain), hasConfiguration {
            (format, main) = (repository.isMLX ? .mlx : .safetensors, first)
        } else if let first = onnx.min(by: Self.isMain) {
            (format, main) = (.onnx, first)
        } else {
            throw noModel(among: wanted)
        }
        // With patterns, all matching files are used; without, weights for other frameworks are left out.
        let own: Set<String> = format.isSafetensors ? ["safetensors"] : ["onnx", "onnx_data"]
        let isPicked = !reference.patterns.isEmpty
        let others = wanted.filter { file in
            file != main && (isPicked || own.contains(file.kind) || !Self.foreignWeights.contains(file.kind))
        }
        return Plan(
            variant: reference.file.flatMap(HubNames.variant(ofPattern:)), format: format, files: [main] + others)
    }

    /// Orders the file that an engine opens first: `model.…`, else the least nested, else the first in order.
    private static func isMain(_ left: Chosen, _ right: Chosen) -> Bool {
        func rank(_ file: Chosen) -> (Int, Int, RelativePath) {
            (file.name.hasPrefix("model.") ? 0 : 1, file.path.components.count, file.path)
        }
        return rank(left) < rank(right)
    }

    private func noModel(among files: [Chosen] = []) -> CatalogError {
        let pickled = files.first { ["bin", "pt", "pth", "ckpt"].contains($0.kind) }
        if let pickled {
            return CatalogError(
                .noKnownModel,
                "\(reference.path) holds weights of PyTorch, \(pickled.file.name.quoted), which are programs and not read",
                context: ErrorContext(
                    model: reference.description, expected: "*.gguf, config.json with *.safetensors, or *.onnx",
                    found: pickled.file.name.quoted, remedy: "Choose a repository with *.safetensors or *.gguf files."))
        }
        return CatalogError(
            .noKnownModel, "nothing in \(reference) is a model of a known format",
            context: ErrorContext(
                model: reference.description, expected: "*.gguf, config.json with *.safetensors, or *.onnx",
                remedy: "Choose another repository, or other files of it after a colon."))
    }

    // MARK: - Building releases

    private func release(_ identity: ReleaseIdentity, _ plan: Plan) throws(CatalogError) -> Release {
        var paths = DistinctPaths()
        for file in plan.files {
            if let other = paths.insert(file.path) {
                throw HubAnswer.invalid(
                    reference, "\(file.path.string.quoted) beside \(other.string.quoted)",
                    expected: "names that differ in more than case")
            }
        }
        let main = plan.files[0]
        let hasProjector = plan.files.contains(where: \.isProjector)
        var release = Release(
            identity: identity, id: reference.record,
            file: main.remote(role: main.isProjector ? .projector : .weights),
            role: hasProjector ? .vision : .text, format: plan.format)
        release.companions = plan.files.dropFirst().map { $0.remote(role: $0.role(in: plan.format)) }
        release.name = repository.path
        release.license = repository.license
        return release
    }
}

extension HubSnapshot.Chosen {
    /// The purpose of a companion.
    fileprivate func role(in format: ModelFormat) -> FileRole {
        if isProjector { return .projector }
        let parts = [ModelFormat.gguf: "gguf", .mlx: "safetensors", .safetensors: "safetensors", .onnx: "onnx_data"]
        if kind == parts[format] { return .shard }
        return FileRole(companionName: name) ?? .other
    }

    fileprivate func remote(role: FileRole) -> RemoteFile {
        switch file.content {
        case .sha256(let digest):
            return RemoteFile(name: path, role: role, size: .exact(file.size), digest: digest, locations: [])
        case .gitBlob(let blob):
            var remote = RemoteFile(name: path, role: role, size: .exact(file.size), digest: nil, locations: [])
            remote.gitBlob = blob
            return remote
        }
    }
}
