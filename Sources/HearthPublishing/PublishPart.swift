import Foundation
import HearthBase
import HearthCatalog

/// A checked file of a release to publish.
struct PublishPart: Sendable {
    let path: Path
    let status: FileStatus
    let role: FileRole
    /// The header of a GGUF file; `nil` for other files, and for an unknown version of GGUF.
    let header: GGUFHeader?
    /// The file's name in the release folder. An archive has none there; its contents have.
    var name: PathComponent
    /// The file's name in the origin, without its extension.
    var stem: String
    /// The extension; of an archive both, such as `tar.gz`.
    let fileExtension: String

    /// Checks a file.
    /// - Throws: ``PublishingError`` with `not-publishable`; `FileError`.
    init(_ path: Path, role: FileRole, header: GGUFHeader? = nil, fileSystem: any FileSystem) throws {
        self.path = path
        self.role = role
        self.header = header
        status = try Self.status(of: path, fileSystem: fileSystem)
        let fileName = path.lastComponent
        fileExtension = ArchiveFormat(fileName: fileName)?.rawValue ?? path.fileExtension
        guard let name = PathComponent(fileName), !fileName.hasPrefix(".") else {
            throw PublishingError.refused(
                path, "no device installs a hidden file, or one whose name holds such characters", "Rename it.")
        }
        self.name = name
        stem = (fileName as NSString).deletingPathExtension
    }

    /// The status of a file that must be regular and not empty.
    static func status(of path: Path, fileSystem: any FileSystem) throws -> FileStatus {
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
    static func header(of path: Path, size: UInt64, fileSystem: any FileSystem) throws -> GGUFHeader? {
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
