import Foundation
import HearthBase
import HearthHTTP

/// Makes the release of a registry's manifest.
///
/// - GGUF: one file, or all parts of one model, with a projector and the files beside.
/// - Otherwise `config.json` with `*.safetensors`, or `*.onnx`, with the files beside.
struct RegistryRelease: Sendable {
    let reference: RegistryReference
    let manifest: RegistryManifest
    /// The digest of the manifest.
    let digest: SHA256Digest
    let config: RegistryConfig
    let base: URL

    /// A layer that becomes a file.
    private struct File: Sendable, Hashable {
        let path: RelativePath
        let blob: RegistryManifest.Blob
        let layer: RegistryLayer

        var name: String { path.last.name.lowercased() }
        var kind: String { Path(path.last.name).fileExtension }
        var isProjector: Bool { layer == .projector || kind == "gguf" && name.contains("mmproj") }
        var isWeights: Bool { if case .weights = layer { !isProjector } else { false } }
    }

    /// The release.
    /// - Throws: ``CatalogError`` with `registry-answer-invalid` or `no-known-model`.
    func release() throws(CatalogError) -> Release {
        let files = try files()
        let weights = files.filter(\.isWeights)
        let (main, format) = try main(of: files, weights)
        let own = manifest.release.flatMap { OwnName($0) }
        let named = reference.named(own?.identity.family)
        guard let family = named.family, let version = own?.identity.version ?? reference.version(digest) else {
            throw invalid("a name no model can have", expected: "letters and digits")
        }
        let identity = ReleaseIdentity(family: family, version: version, variant: own?.identity.variant)
        let others = files.filter { $0 != main }
        var release = Release(
            identity: identity, id: named.record, file: try remote(main, .weights),
            role: others.contains(where: \.isProjector) ? .vision : format == .onnx ? .classifier : .text,
            format: format)
        for file in others { release.companions.append(try remote(file, role(of: file, format))) }
        release.name = config.name ?? reference.path
        release.license = config.license
        return release
    }

    /// The identity in the manifest of a release that Hearth published.
    private struct OwnName {
        let identity: ReleaseIdentity

        init?(_ text: String) {
            // Names of other publishers need not be ours.
            guard text.utf8.count <= 256,
                case .family(let family, let version?, let variant)? = try? ModelReference(parsing: text),
                version.semantic != nil
            else { return nil }
            identity = ReleaseIdentity(family: family, version: version, variant: variant)
        }
    }

    // MARK: - Files

    /// The layers that become files, each with a path that no other has.
    private func files() throws(CatalogError) -> [File] {
        var files: [File] = []
        var paths = DistinctPaths()
        var licenses = 0
        for blob in manifest.layers {
            // Files of other kinds may lie beside a model, such as a signature.
            guard let layer = RegistryLayer(blob.mediaType) else { continue }
            if case .leftOut = layer { continue }
            if case .unusable(let what) = layer { throw noModel("it holds \(what)", found: blob.mediaType) }
            if layer == .license { licenses += 1 }
            let name = blob.fileName ?? usualName(layer, licenses: licenses)
            guard let name else { throw invalid("a layer without a file name", expected: RegistryFormat.filePath) }
            guard RelativePath(name) != nil, let path = RelativePath(ending(name, layer)), path.reservation == nil
            else {
                throw invalid("the file name \(name.quoted)", expected: "a path inside the model's folder")
            }
            if let other = paths.insert(path) {
                throw invalid(
                    "\(path.string.quoted) beside \(other.string.quoted)",
                    expected: "names that differ in more than case")
            }
            files.append(File(path: path, blob: blob, layer: layer))
        }
        return files
    }

    /// The name of a layer to which its publisher gave none.
    private func usualName(_ layer: RegistryLayer, licenses: Int) -> String? {
        let stem =
            (reference.repository.split(separator: "/").last.map(String.init) ?? "model")
            + (reference.tag.map { "-\($0)" } ?? "")
        switch layer {
        case .weights(let kind): return kind.map { "\(stem).\($0)" }
        case .projector: return "mmproj-\(stem).gguf"
        case .license: return licenses == 1 ? "LICENSE" : "LICENSE-\(licenses)"
        case .beside(let name): return name
        case .leftOut, .unusable: return nil
        }
    }

    /// A name with the extension by which engines know the format.
    private func ending(_ name: String, _ layer: RegistryLayer) -> String {
        let wanted: String?
        switch layer {
        case .weights(let kind): wanted = kind ?? (ModelFormat(fileName: name) == nil ? config.fileExtension : nil)
        case .projector: wanted = "gguf"
        case .beside, .license, .leftOut, .unusable: wanted = nil
        }
        guard let wanted, Path(name).fileExtension != wanted else { return name }
        return "\(name).\(wanted)"
    }

    // MARK: - The model

    /// The file that an engine opens first, and the format.
    private func main(of files: [File], _ weights: [File]) throws(CatalogError) -> (File, ModelFormat) {
        let gguf = weights.filter { $0.kind == "gguf" }
        if !gguf.isEmpty { return (try whole(gguf), .gguf) }
        let safetensors = weights.filter { $0.kind == "safetensors" }
        if let first = safetensors.min(by: Self.isMain), files.contains(where: { $0.path.string == "config.json" }) {
            return (first, .safetensors)
        }
        if let first = weights.filter({ $0.kind == "onnx" }).min(by: Self.isMain) { return (first, .onnx) }
        throw noModel("nothing in it is a model of a known format", found: manifest.config.mediaType)
    }

    /// The only file, or the first of all parts of one model.
    private func whole(_ weights: [File]) throws(CatalogError) -> File {
        if weights.count == 1, ShardName(weights[0].path).map({ $0.count == 1 }) ?? true { return weights[0] }
        let parts = weights.compactMap { ShardName($0.path) }
        guard let name = parts.first, parts.count == weights.count, Set(parts.map(\.stem)).count == 1,
            parts.map(\.number).sorted() == Array(1...name.count),
            let first = weights.first(where: { ShardName($0.path)?.number == 1 })
        else { throw noModel("its \(weights.count) GGUF files are not the parts of one model", found: nil) }
        return first
    }

    private static func isMain(_ left: File, _ right: File) -> Bool {
        func rank(_ file: File) -> (Int, Int, RelativePath) {
            (file.name.hasPrefix("model.") ? 0 : 1, file.path.components.count, file.path)
        }
        return rank(left) < rank(right)
    }

    private func role(of file: File, _ format: ModelFormat) -> FileRole {
        if file.isProjector { return .projector }
        if file.isWeights { return .shard }
        return FileRole(companionName: file.name) ?? .other
    }

    private func remote(_ file: File, _ role: FileRole) throws(CatalogError) -> RemoteFile {
        var remote = RemoteFile(
            name: file.path, role: role, size: .exact(file.blob.size), digest: file.blob.digest,
            locations: [base.below("v2/\(reference.repository)/blobs/\(file.blob.digest.tagged)")])
        // A token may be needed, which no cache of a site is given.
        remote.isPublic = false
        return remote
    }

    // MARK: - Errors

    private func invalid(_ found: String, expected: String) -> CatalogError {
        .registryAnswerInvalid(reference, "the manifest holds \(found)", expected: expected)
    }

    private func noModel(_ problem: String, found: String?) -> CatalogError {
        CatalogError(
            .noKnownModel, "\(reference) is no model that can be used: \(problem)",
            context: ErrorContext(
                model: reference.description,
                expected: "raw layers of ModelPack, Docker Model Runner or Ollama", found: found,
                remedy: "Choose another repository or tag."))
    }
}

/// The facts of a configuration: ModelPack's and Docker Model Runner's have those of `config`, ModelPack's also
/// `descriptor`.
struct RegistryConfig: Sendable, Hashable {
    /// The extension of the weights' names.
    var fileExtension: String?
    var name: String?
    var license: String?

    /// The media types of configurations that are read.
    static let mediaTypes: Set<String> = [
        RegistryFormat.modelPackConfig, "application/vnd.docker.ai.model.config.v0.1+json",
        "application/vnd.docker.ai.model.config.v0.2+json",
    ]
    static let maximumSize = 1 << 20

    /// A configuration that tells nothing.
    init() {}

    /// The facts of a document; texts that cannot be displayed are left out.
    init(_ document: JSONValue) {
        func line(_ value: JSONValue?) -> String? {
            value?.string.flatMap { (1...200).contains($0.utf8.count) && $0.isPlain() ? $0 : nil }
        }
        let format = document["config"]?["format"]?.string?.lowercased()
        fileExtension = ["gguf", "safetensors", "onnx"].first { $0 == format }
        let descriptor = document["descriptor"]
        name = line(descriptor?["title"]) ?? line(descriptor?["name"])
        license = line(descriptor?["licenses"]?.items?.first)
    }
}
