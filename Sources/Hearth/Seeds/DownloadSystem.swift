import HearthBase
import HearthCatalog
import HearthDelivery
import Observation

// The names of "Model Download System": `ModelDownloadManager`, `ModelDownloadState`, `ModelDownloadError` and
// `ModelCache`. Its models and its MLX service have a file of their own.

/// The state of a model in a list.
public typealias ModelDownloadState = ModelState

/// A refused or failed download.
public typealias ModelDownloadError = ModelLibraryError

extension ModelState {
    /// Whether the model is on this device.
    public var isDownloaded: Bool {
        switch self {
        case .downloaded, .updateAvailable: true
        case .notDownloaded, .waiting, .downloading, .failed, .incompatible: false
        }
    }
}

/// Downloads one model at a time, with the state of every model.
///
/// ```swift
/// ModelDownloadManager.shared.library = hearth.library
/// try await ModelDownloadManager.shared.downloadModel(.default)
/// ```
@MainActor @Observable public final class ModelDownloadManager {
    /// The manager of an app.
    public static let shared = ModelDownloadManager()

    /// The library of the app; without one there are no models, and downloads are refused.
    public var library: ModelLibrary?
    /// The model being downloaded.
    public private(set) var activeDownloadId: Family?

    /// A manager over an app's library.
    public init(_ library: ModelLibrary? = nil) { self.library = library }

    /// The state of each listed model.
    public var downloadStates: [Family: ModelDownloadState] {
        Dictionary((library?.rows ?? []).map { ($0.id, $0.state) }) { first, _ in first }
    }

    /// The completed part of the active download, 0...1.
    public var downloadProgress: Double { activeDownloadId.flatMap { library?.row(of: $0)?.progress } ?? 0 }

    /// The state of a model.
    public func state(for model: ModelInfo) -> ModelDownloadState {
        library?.row(of: model.id)?.state ?? .notDownloaded
    }

    /// Whether a model is on this device.
    public func isModelDownloaded(_ model: ModelInfo) -> Bool { state(for: model).isDownloaded }

    /// Looks up the models on this device.
    public func loadDownloadedModels() async { await library?.refreshLocal() }

    /// Downloads a model, and returns when it is on this device. Does nothing if it was cancelled.
    /// - Throws: ``ModelDownloadError`` with `download-in-progress`, `insufficient-memory`, `insufficient-storage`,
    ///   `model-not-found`; `DownloadFailure`.
    public func downloadModel(_ model: ModelInfo) async throws {
        guard activeDownloadId == nil else { throw ModelDownloadError.downloadInProgress }
        guard let library else { throw ModelDownloadError.modelNotFound(model.displayName) }
        activeDownloadId = model.id
        defer { activeDownloadId = nil }
        let ending = try await withCheckedThrowingContinuation {
            (continuation: CheckedContinuation<ModelLibrary.Ending, any Error>) in
            do {
                try library.download(model) { continuation.resume(returning: $0) }
            } catch {
                continuation.resume(throwing: error)
            }
        }
        if case .failed(let failure) = ending { throw failure }
    }

    /// Cancels the active download and deletes what it received.
    public func cancelDownload() {
        if let activeDownloadId { library?.cancelDownload(activeDownloadId) }
    }
}

/// Keeps loaded models by their family, so that a screen finds the one that another has loaded.
public actor ModelCache {
    public static let shared = ModelCache()

    private var containers: [Family: LiveModel] = [:]

    public func store(container: LiveModel, for model: ModelInfo) { containers[model.id] = container }

    public func retrieve(for model: ModelInfo) -> LiveModel? { containers[model.id] }

    public func remove(for model: ModelInfo) { containers[model.id] = nil }
}
