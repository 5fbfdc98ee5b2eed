import Foundation
import HearthBase

/// Describes a model file of the user as a release, so that it is installed like any other.
package enum LocalRelease {
    /// Hashes a file; family, version and variant come from its name.
    /// - Throws: `FileError`, ``CatalogError``.
    package static func describe(_ path: Path, in fileSystem: any FileSystem) async throws -> Release {
        let path = path.absolute
        let (size, digest) = try await blocking {
            let file = try fileSystem.open(path, .read)
            return (try fileSystem.status(of: file).size, try fileSystem.digest(ofFile: path))
        }
        guard let name = PathComponent(path.lastComponent), let identity = identity(for: path) else {
            throw CatalogError(
                .unusableName, "no family name can be made of \(path.lastComponent)",
                context: ErrorContext(
                    file: path.string,
                    remedy: "Rename the file: letters, digits, points and hyphens, such as my-model-v1.0.0-q4_k_m.gguf."
                ))
        }
        let file = RemoteFile(name: RelativePath(name), size: .exact(size), digest: digest, locations: [path.url])
        return Release(identity: identity, id: path.lastComponent, file: file)
    }

    private static func identity(for path: Path) -> ReleaseIdentity? {
        if let parsed = ReleaseFileName(parsing: path.lastComponent), let family = Family(parsed.name) {
            return ReleaseIdentity(family: family, version: ReleaseVersion(parsed.version), variant: parsed.variant)
        }
        let stem = path.lastComponent.lowercased().split(separator: ".").dropLast().joined(separator: ".")
        let safe = String(stem.withCharacters(allowed: "._-", others: "-").prefix(64))
        return Family(safe).map { ReleaseIdentity(family: $0, version: ReleaseVersion(SemanticVersion(0, 0, 0))) }
    }
}
