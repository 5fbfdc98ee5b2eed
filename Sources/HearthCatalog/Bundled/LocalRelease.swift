import Foundation
import HearthBase

/// Describes a model file of the user as a release, so that it is installed like any other.
package enum LocalRelease {
    /// Hashes a file; family, version and variant come from its name.
    /// - Parameter family: the family that the user names; `nil` makes it of the file's name.
    /// - Throws: `FileError`, ``CatalogError``.
    package static func describe(
        _ path: Path, family: Family? = nil, in fileSystem: any FileSystem
    ) async throws -> Release {
        let path = path.absolute
        let (size, digest) = try await blocking {
            let file = try fileSystem.open(path, .read)
            return (try fileSystem.status(of: file).size, try fileSystem.digest(ofFile: path))
        }
        guard let name = PathComponent(path.lastComponent),
            let (identity, written) = identity(for: path, family: family)
        else {
            throw CatalogError(
                .unusableName, "no family name can be made of \(path.lastComponent)",
                context: ErrorContext(
                    file: path.string,
                    remedy: "Rename the file: letters, digits, points and hyphens, such as my-model-v1.0.0-q4_k_m.gguf."
                ))
        }
        let file = RemoteFile(name: RelativePath(name), size: .exact(size), digest: digest, locations: [path.url])
        var release = Release(identity: identity, id: path.lastComponent, file: file)
        release.writtenName = written?.text
        return release
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
