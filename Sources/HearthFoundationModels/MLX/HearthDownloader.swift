#if canImport(MLXLMCommon)
import Foundation
import HearthDelivery
import MLXLMCommon

/// Brings models to mlx-swift-lm with Hearth: resumed, verified, and kept in versions.
///
/// ```swift
/// let manager = ModelManager(home: home, origins: [], deviceMemory: memory)
/// let container = try await loadModelContainer(from: HearthDownloader(manager), using: tokenizers, id: "mlx-community/Qwen3-4B-4bit")
/// ```
/// Use a manager of your own, as above: that of `Hearth` imports models in MLX's form for llama.cpp.
public struct HearthDownloader: Downloader {
    private let manager: ModelManager
    private let options: PullOptions

    /// Makes a downloader that asks a manager.
    /// - Parameter options: the options of downloads, such as the use of metered networks.
    public init(_ manager: ModelManager, options: PullOptions = PullOptions()) {
        self.manager = manager
        self.options = options
    }

    /// The folder with a model's files, which are fetched if they are not on this device.
    /// - Parameters:
    ///   - id: a repository of the Hub, or a family of the manager's origins.
    ///   - revision: a branch, tag or commit, or the version of a family; `nil` for the newest.
    ///   - patterns: the files that mlx-swift-lm reads. Hearth fetches the whole model.
    ///   - useLatest: whether the source is asked although the model is installed; if it does not answer, the installed one is used.
    /// - Throws: `CatalogError`, `StoreError`, `DeliveryError`, `TransferError`; `CancellationError`. Received bytes are kept.
    public func download(
        id: String, revision: String?, matching patterns: [String], useLatest: Bool,
        progressHandler: @Sendable @escaping (Progress) -> Void
    ) async throws -> URL {
        let request = try SnapshotRequest(id: id, revision: revision, patterns: patterns, usesLatest: useLatest)
        return try await request.folder(from: manager, options: options, progress: progressHandler)
    }
}
#endif
