import Foundation
import HearthBase
import HearthCatalog
import HearthDelivery
import Observation

// The names of "Model Download Pipeline": `ModelDownloader` and its protocol. `DownloadState`, `ModelInfo` and
// `ModelDownloadViewModel` have their own files.

/// Downloads one model at a time; the tests of an app replace it.
@MainActor public protocol ModelDownloaderProtocol: AnyObject {
    /// The state of the download, or of the last one.
    var state: DownloadState { get }
    /// Starts a download. Does nothing while one is active.
    func download(model: ModelInfo) throws
    /// Ends the download and deletes what it received.
    func cancel()
    /// Deletes a model from the device with all its files.
    func deleteModel(_ model: ModelInfo) async throws
}

/// Downloads one model at a time through a ``ModelLibrary``, with one observable state.
///
/// ```swift
/// let downloader = ModelDownloader(hearth.library)
/// try downloader.download(model: model)
/// ```
@MainActor @Observable public final class ModelDownloader: ModelDownloaderProtocol {
    private let library: ModelLibrary
    private var model: ModelInfo?

    /// A downloader over an app's library.
    public init(_ library: ModelLibrary) { self.library = library }

    public var state: DownloadState { model.map { library.downloadState(of: $0.id) } ?? .idle }

    /// Starts a download, which continues after the bytes of an interrupted one. Does nothing while one is active.
    /// - Throws: as ``ModelLibrary/download(_:)``.
    public func download(model: ModelInfo) throws {
        guard !state.isActive else { return }
        try library.download(model)
        self.model = model
    }

    public func cancel() {
        guard let model else { return }
        library.cancelDownload(model.id)
        library.reset(model.id)
    }

    /// Deletes a model from the device with all its files.
    /// - Throws: as ``ModelLibrary/delete(_:)``.
    public func deleteModel(_ model: ModelInfo) async throws { try await library.delete(model.id) }
}

extension Hearth {
    /// The model of a `.gguf` file at an address that no manifest describes; `ModelInfo` has no initializer for that,
    /// since the length must be asked for.
    /// - Parameters:
    ///   - downloadURL: an https address.
    ///   - sha256: the SHA-256 of the file as 64 hexadecimal digits; without it, a download needs
    ///     ``ModelLibrary/allowsUnverified``.
    ///   - displayName: the name to display; by default that of the file.
    /// - Throws: `CatalogError` with `no-file`, or `bad-reference` for an address or a digest of another form;
    ///   `HTTPError`, `FileError`.
    public func modelInfo(
        downloadURL: URL, sha256: String? = nil, displayName: String? = nil
    ) async throws -> ModelInfo {
        let digest = sha256.flatMap { SHA256Digest(hex: $0.lowercased()) }
        guard (digest == nil) == (sha256 == nil),
            let file = ListedFile(downloadURL, digest: digest, name: displayName)
        else {
            throw CatalogError(
                .badReference, "no model file can be fetched from there",
                context: ErrorContext(
                    field: (digest == nil) == (sha256 == nil) ? "downloadURL" : "sha256",
                    expected: "an https address of a .gguf file, and 64 hexadecimal digits"), disposition: .usage)
        }
        return try await ListedDelivery.offer(try await file.list(home: home), manager).model
    }
}
