import Foundation
import HearthBase

/// Describes a model file of the user as a release, so that it is installed like any other.
package enum LocalRelease {
    /// Hashes a file, or a folder as ``LocalFolder`` describes it; family, version and variant come from its name.
    ///
    /// An `.onnx` file is a classifier: `classifier.json` and lists of classes beside it belong to it.
    /// - Parameters:
    ///   - family: the family that the user names; `nil` makes it of the file's name.
    ///   - version: the version that the user names; `nil` makes it of the file's name.
    /// - Throws: `FileError`, ``CatalogError``.
    package static func describe(
        _ path: Path, family: Family? = nil, version: ReleaseVersion? = nil, in fileSystem: any FileSystem
    ) async throws -> Release {
        let path = path.absolute
        guard let kind = try await blocking({ try fileSystem.status(at: path)?.kind }) else {
            throw FileError(errno: ENOENT, doing: "read", path: path)
        }
        if kind == .folder {
            return try await LocalFolder.describe(path, family: family, version: version, in: fileSystem)
        }
        guard ["gguf", "onnx"].contains(path.fileExtension) else {
            throw CatalogError(
                .noKnownModel, "\(path.lastComponent) is no model of a known format",
                context: ErrorContext(
                    file: path.string, expected: "a .gguf or .onnx file, or a folder with config.json and *.safetensors"
                ))
        }
        guard let name = PathComponent(path.lastComponent),
            let (named, written) = identity(for: path, family: family)
        else { throw unusable(path) }
        let identity = version.map { ReleaseIdentity(family: named.family, version: $0, variant: named.variant) }
        let isClassifier = path.fileExtension == "onnx"
        let (file, companions) = try await blocking {
            (
                try remote(path, name, .weights, fileSystem),
                isClassifier ? try parts(beside: path, fileSystem) : []
            )
        }
        var release = Release(
            identity: identity ?? named, id: path.lastComponent, file: file, role: isClassifier ? .classifier : .text,
            format: isClassifier ? .onnx : .gguf)
        release.companions = companions
        release.writtenName = written?.text
        return release
    }

    static func unusable(_ path: Path) -> CatalogError {
        CatalogError(
            .unusableName, "no family name can be made of \(path.lastComponent)",
            context: ErrorContext(
                file: path.string,
                remedy:
                    "Name the family, or rename it: letters, digits, points and hyphens, such as my-model-v1.0.0-q4_k_m.gguf."
            ))
    }

    static func remote(
        _ path: Path, _ name: PathComponent, _ role: FileRole, _ fileSystem: any FileSystem
    ) throws -> RemoteFile {
        let file = try fileSystem.open(path, .read)
        return RemoteFile(
            name: RelativePath(name), role: role, size: .exact(try fileSystem.status(of: file).size),
            digest: try fileSystem.digest(ofFile: path), locations: [path.url])
    }

    /// The files of a classifier beside its weights.
    private static func parts(beside path: Path, _ fileSystem: any FileSystem) throws -> [RemoteFile] {
        try fileSystem.contents(of: path.parent).sorted().compactMap { text in
            guard let name = PathComponent(text), let role = FileRole(companionName: text),
                role == .labels || text == "classifier.json"
            else { return nil }
            return try remote(path.parent.appending(name), name, role, fileSystem)
        }
    }

    /// The identity by a file's name, and the name that made the family.
    private static func identity(for path: Path, family: Family?) -> (ReleaseIdentity, WrittenName?)? {
        let parsed = ReleaseFileName(parsing: path.lastComponent)
        let stem = path.lastComponent.split(separator: ".").dropLast().joined(separator: ".")
        let written = parsed.flatMap { WrittenName($0.written) } ?? WrittenName(stem)
        guard let made = family ?? written?.family else { return nil }
        let version = ReleaseVersion(parsed?.version ?? SemanticVersion(0, 0, 0))
        let identity = ReleaseIdentity(family: made, version: version, variant: parsed?.variant)
        return (identity, family == nil ? written : nil)
    }
}
