import Foundation
import HearthBase
import HearthCatalog
import HearthStore

/// The calls of seed 002 for model files that no source describes.
extension ModelManager {
    /// Installs a model file of this device as a version of its family, checks it, and makes it the live one.
    /// - Parameters:
    ///   - modelURL: a `.gguf` file, or an `.onnx` file with `classifier.json` and a list of classes beside it.
    ///   - version: the version, such as `1.0.0`.
    ///   - family: the family; by default it is made of the file's name.
    /// - Throws: as ``pull(_:options:progress:)-(Offer,_,_)``; `CatalogError` with `unusable-name`, `unknown-version`
    ///   for a text that is no version; `FileError`.
    @discardableResult
    public func activate(modelURL: URL, version: String, family: Family? = nil) async throws -> InstalledRelease {
        guard let known = ReleaseVersion(version) else {
            throw CatalogError(
                .unknownVersion, "\(version.quoted) cannot be a version",
                context: ErrorContext(field: "version", found: version.quoted))
        }
        let release = try await LocalRelease.describe(
            Path(modelURL.path), family: family, version: known, in: sources.fileSystem)
        return try await pull(Offer(release: release, reason: .asked).named(true)).release
    }

    /// Uses a model file where it is, until another model of its family becomes live: for development.
    ///
    /// Nothing is installed. The closures of ``onActivation(_:)`` and ``onReady(_:)`` get the model.
    /// - Parameter modelURL: as in ``activate(modelURL:version:family:)``.
    /// - Throws: `CatalogError` with `unusable-name`; `FileError`.
    public func loadModel(at modelURL: URL) async throws {
        let release = try await LocalRelease.describe(Path(modelURL.path), in: sources.fileSystem)
        await live.show(BundledRelease(local: release))
    }
}
