import Foundation
import HearthBase
import HearthDelivery

/// A file that was found fit for publishing, and the release it will be.
struct PublishSource {
    let path: Path
    let status: FileStatus
    let format: ModelFormat
    /// What a GGUF file says of itself; `nil` for other formats, and for a version of GGUF this one cannot read.
    let header: GGUFHeader?
    let identity: ReleaseIdentity
    /// The name it gets: `{name}-v{x.y.z}[-{quantization}].{extension}`.
    let fileName: PathComponent

    /// Looks at a file.
    /// - Throws: ``PublishingError`` with `not-publishable`, `name-needed` or `version-needed`; `FileError`.
    init(_ path: Path, request: PublishRequest, fileSystem: any FileSystem) throws {
        self.path = path
        status = try Self.status(of: path, fileSystem: fileSystem)
        let format = try Self.format(of: path, fileSystem: fileSystem)
        self.format = format
        header = format == .gguf ? try Self.header(of: path, size: status.size, fileSystem: fileSystem) : nil
        let hint = NameHint(path.lastComponent)
        let context = ErrorContext(file: path.string)
        guard let version = request.version ?? hint.version else {
            var context = context
            context.field = "--version"
            context.remedy = "Pass --version, or name the file like {name}-v1.0.0-q4_k_m.gguf."
            throw PublishingError(
                .versionNeeded, "the file name \(path.lastComponent) does not tell the version", context: context)
        }
        guard version.build.isEmpty else {
            throw PublishingError(
                .versionNeeded, "a release's version has no build metadata, unlike \(version)", context: context)
        }
        guard let family = request.family ?? hint.family else {
            var context = context
            context.field = "--family"
            context.remedy = "Pass --family: lower-case letters, digits, points, hyphens and underscores."
            throw PublishingError(
                .nameNeeded, "the file name \(path.lastComponent) does not give the model a name", context: context)
        }
        let variant = request.variant ?? hint.variant ?? header?.quantization.flatMap { Variant($0.lowercased()) }
        identity = ReleaseIdentity(family: family, version: ReleaseVersion(version), variant: variant)
        let stem = ReleaseFileName(family: family, version: version, variant: variant).stem
        guard ReleaseVersion(version.description) != nil, let name = PathComponent("\(stem).\(path.fileExtension)")
        else {
            throw PublishingError(
                .versionNeeded, "the version \(version) is longer than 64 characters", context: context)
        }
        fileName = name
    }

    private static func status(of path: Path, fileSystem: any FileSystem) throws -> FileStatus {
        func refused(_ problem: String, _ remedy: String) -> PublishingError {
            PublishingError(
                .notPublishable, "\(path) cannot be published: \(problem)",
                context: ErrorContext(file: path.string, remedy: remedy))
        }
        guard let status = try fileSystem.status(at: path, followLinks: false) else {
            throw refused("there is no such file", "Check the path.")
        }
        switch status.kind {
        case .file: break
        case .symbolicLink:
            let target = try fileSystem.readLink(path)
            throw refused("it is a symbolic link to \(target)", "Give the path of the file itself.")
        case .folder: throw refused("it is a folder", "Give the paths of the files in it.")
        case .other: throw refused("it is no regular file", "Give the path of a model file.")
        }
        guard status.size > 0 else { throw refused("it is empty", "Was its download broken off?") }
        return status
    }

    /// The header of a whole, single GGUF file.
    private static func header(of path: Path, size: UInt64, fileSystem: any FileSystem) throws -> GGUFHeader? {
        func refused(_ problem: String, _ remedy: String, _ cause: (any Error)? = nil) -> PublishingError {
            PublishingError(
                .notPublishable, "\(path) cannot be published: \(problem)",
                context: ErrorContext(file: path.string, remedy: remedy), underlying: cause)
        }
        let header: GGUFHeader
        do {
            header = try GGUFHeader(file: path, fileSystem: fileSystem)
        } catch let error as GGUFError where error.code == .unsupportedVersion {
            Log.write(.warning, "publishing", "\(error): published without what the file says of itself")
            return nil
        } catch let error as GGUFError {
            throw refused("its header is broken (\(error.codeText))", "Was its download broken off?", error)
        }
        if header.tensorCount > 0, let least = header.tensors?.minimumFileSize, least > size {
            throw refused("it has \(size) bytes, and its header promises \(least)", "Was its download broken off?")
        }
        if header.splitCount > 1 {
            throw refused(
                "it is part \(header.splitIndex &+ 1) of \(header.splitCount)",
                "Merge the parts first: llama-gguf-split --merge.")
        }
        return header
    }

    /// The format by the extension, and by the first bytes where they tell.
    private static func format(of path: Path, fileSystem: any FileSystem) throws -> ModelFormat {
        let file = try fileSystem.open(path, .read)
        var magic = [UInt8](repeating: 0, count: 4)
        let count = try magic.withUnsafeMutableBytes { try fileSystem.read(file, into: $0, at: 0) }
        let isGGUF = magic.prefix(count).elementsEqual("GGUF".utf8)
        guard let format = ModelFormat(fileName: path.lastComponent) else {
            let remedy =
                isGGUF
                ? "It holds GGUF: give its name the extension .gguf." : "Models are .gguf, .onnx or .safetensors."
            throw PublishingError(
                .notPublishable, "\(path) cannot be published: its name does not tell what kind of model it is",
                context: ErrorContext(file: path.string, remedy: remedy))
        }
        guard isGGUF == (format == .gguf) else {
            throw PublishingError(
                .notPublishable, "\(path) cannot be published: \(isGGUF ? "it holds GGUF" : "it is not a GGUF file")",
                context: ErrorContext(
                    file: path.string, expected: isGGUF ? path.fileExtension : "GGUF",
                    found: isGGUF ? "GGUF" : magic.hexadecimal,
                    remedy: "Check whether it is the file its name says, and whole."))
        }
        return format
    }
}

/// What a file's name suggests for its release.
struct NameHint: Hashable {
    var family: Family?
    var version: SemanticVersion?
    var variant: Variant?

    /// Reads `{name}-v{x.y.z}-{quantization}.gguf`; failing that, `{name}-{quantization}.gguf` or `{name}.{quantization}.gguf`
    /// as most models on the Hub are named.
    init(_ fileName: String) {
        if let parsed = ReleaseFileName(parsing: fileName) {
            family = Self.family(parsed.name)
            version = parsed.version
            variant = parsed.variant
            return
        }
        let stem = (fileName.lowercased() as NSString).deletingPathExtension
        if let mark = stem.lastIndex(where: { $0 == "." || $0 == "-" }),
            Self.isQuantization(stem[stem.index(after: mark)...])
        {
            variant = Variant(stem[stem.index(after: mark)...])
            family = Self.family(String(stem[..<mark]))
        } else {
            family = Self.family(stem)
        }
    }

    private static func family(_ text: String) -> Family? {
        let name = text.lowercased().map { $0.isASCII && ($0.isLetter || $0.isNumber || "._-".contains($0)) ? $0 : "-" }
        return Family(String(name))
    }

    /// Whether a word names a quantisation of llama.cpp: `q4_k_m`, `iq2_xxs`, `tq1_0`, `f16`, `bf16`, `mxfp4`, …
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
