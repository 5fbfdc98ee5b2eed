import HearthBase
import HearthCatalog
import HearthDelivery
import HearthStore
import HearthTransfer
import Testing

extension ModelStore {
    /// Installs files from anywhere as a release, `family@version`.
    func install(
        _ name: String, weights: Path, projector: Path? = nil, format: ModelFormat = .gguf
    ) async throws -> InstalledRelease {
        guard case .family(let family, let version?, let variant) = try ModelReference(parsing: name) else {
            throw StoreError(.notInstalled, "\(name) names no release")
        }
        let files: [StagedFile] = try await blocking {
            let disk = LocalFileSystem()
            let places =
                [("weights.gguf", FileRole.weights, weights)]
                + (projector.map { [("mmproj.gguf", .projector, $0)] } ?? [])
            return try places.map { name, role, path in
                StagedFile(
                    name: try #require(RelativePath(name)), role: role, path: path,
                    size: try disk.status(at: path)?.size ?? 0, digest: try disk.digest(ofFile: path), isVerified: true)
            }
        }
        let remote = files.map {
            RemoteFile(name: $0.name, role: $0.role, size: .exact($0.size), digest: $0.digest, locations: [])
        }
        var release = Release(
            identity: ReleaseIdentity(family: family, version: version, variant: variant), id: name, file: remote[0],
            format: format)
        release.companions = Array(remote.dropFirst())
        return try await install(release, files: files, origin: nil)
    }
}
