import Foundation
import HearthBase
import HearthCatalog

/// A checked file of a release to publish.
struct PublishPart: Sendable {
    let path: Path
    let status: FileStatus
    let role: FileRole
    /// The format of weights and projectors; `nil` for other files.
    let format: ModelFormat?
    /// The header of a GGUF file; `nil` for other files, and for an unknown version of GGUF.
    let header: GGUFHeader?
    /// The file's name in the release folder. An archive has none there; its contents have.
    var name: PathComponent
    /// The file's name in the origin, without its extension.
    var stem: String
    /// The extension; of an archive both, such as `tar.gz`.
    let fileExtension: String

    /// Checks a file.
    /// - Parameter isModel: whether it must be in a known model format.
    /// - Throws: ``PublishingError`` with `not-publishable`; `FileError`.
    init(_ path: Path, role: FileRole, isModel: Bool = false, fileSystem: any FileSystem) throws {
        self.path = path
        self.role = role
        status = try Self.status(of: path, fileSystem: fileSystem)
        format = isModel ? try Self.format(of: path, fileSystem: fileSystem) : nil
        header = format == .gguf ? try Self.header(of: path, size: status.size, fileSystem: fileSystem) : nil
        let fileName = path.lastComponent
        fileExtension = ArchiveFormat(fileName: fileName)?.rawValue ?? path.fileExtension
        guard let name = PathComponent(fileName), !fileName.hasPrefix(".") else {
            throw PublishingError.refused(
                path, "no device installs a hidden file, or one whose name holds such characters", "Rename it.")
        }
        self.name = name
        stem = (fileName as NSString).deletingPathExtension
    }

    /// The format by the file's extension, compared with its first bytes.
    private static func format(of path: Path, fileSystem: any FileSystem) throws -> ModelFormat {
        let file = try fileSystem.open(path, .read)
        var magic = [UInt8](repeating: 0, count: FileKind.prefixLength)
        let count = try magic.withUnsafeMutableBytes { try fileSystem.read(file, into: $0, at: 0) }
        let kind = FileKind(beginning: magic.prefix(count))
        let isGGUF = kind == .gguf
        if kind == .lfsPointer || kind == .webPage, let kind {
            throw PublishingError.refused(path, "it is \(kind.name)", kind.remedy ?? "", found: kind.name)
        }
        guard let format = ModelFormat(fileName: path.lastComponent) else {
            let remedy =
                isGGUF
                ? "It holds GGUF: give its name the extension .gguf."
                : "Models are .gguf, .onnx or .safetensors; a file that belongs to one is its companion."
            throw PublishingError.refused(
                path, "its name does not tell what kind of model it is", remedy, field: isGGUF ? nil : "companion")
        }
        guard isGGUF == (format == .gguf) else {
            let other = kind.map { "\($0.name), " } ?? ""
            throw PublishingError(
                .notPublishable,
                "\(path) cannot be published: \(isGGUF ? "it holds GGUF" : "it is \(other)not a GGUF file")",
                context: ErrorContext(
                    file: path.string, expected: isGGUF ? path.fileExtension : "GGUF",
                    found: isGGUF ? "GGUF" : Array(magic.prefix(4)).hexadecimal,
                    remedy: kind?.remedy ?? "Check whether it is the file its name says, and whole."))
        }
        return format
    }

    /// The status of a file that must be regular and not empty.
    private static func status(of path: Path, fileSystem: any FileSystem) throws -> FileStatus {
        guard let status = try fileSystem.status(at: path, followLinks: false) else {
            throw PublishingError.refused(path, "there is no such file", "Check the path.")
        }
        switch status.kind {
        case .file: break
        case .symbolicLink:
            let target = try fileSystem.readLink(path)
            throw PublishingError.refused(
                path, "it is a symbolic link to \(target)", "Give the path of the file itself.")
        case .folder: throw PublishingError.refused(path, "it is a folder", "Give the paths of the files in it.")
        case .other: throw PublishingError.refused(path, "it is no regular file", "Give the path of a model file.")
        }
        guard status.size > 0 else {
            throw PublishingError.refused(path, "it is empty", "Was its download broken off?")
        }
        return status
    }

    /// The header of a GGUF file that must be as long as its header says.
    private static func header(of path: Path, size: UInt64, fileSystem: any FileSystem) throws -> GGUFHeader? {
        let header: GGUFHeader
        do {
            header = try GGUFHeader(file: path, fileSystem: fileSystem)
        } catch let error as GGUFError where error.code == .unsupportedVersion {
            Log.write(.warning, "\(error): published without what the file says of itself")
            return nil
        } catch let error as GGUFError {
            throw PublishingError.refused(
                path, "its header is broken (\(error.codeText))", "Was its download broken off?", cause: error)
        }
        if header.tensorCount > 0, let least = header.tensors?.minimumFileSize, least > size {
            throw PublishingError.refused(
                path, "it has \(size) bytes, and its header promises \(least)", "Was its download broken off?")
        }
        do {
            try header.checkEnd(ofFile: size, name: path.lastComponent)
        } catch let error as GGUFError {
            throw PublishingError.refused(
                path, "it has \(size) bytes, and its header accounts for \(error.context.expected ?? "fewer")",
                "Devices would refuse it: write it again with the program that made it.", cause: error)
        }
        return header
    }
}

extension GGUFHeader {
    /// Whether the file is a projector, the vision part of a model, and no model of its own.
    var isProjector: Bool { architecture == "clip" || metadata["general.type"]?.text == "mmproj" }
}

extension PublishingError {
    /// The error for a file that is not fit for publishing.
    static func refused(
        _ path: Path, _ problem: String, _ remedy: String, field: String? = nil, expected: String? = nil,
        found: String? = nil, cause: (any Error)? = nil
    ) -> Self {
        PublishingError(
            .notPublishable, "\(path) cannot be published: \(problem)",
            context: ErrorContext(
                file: path.string, field: field, expected: expected, found: found, remedy: remedy),
            underlying: cause)
    }
}
