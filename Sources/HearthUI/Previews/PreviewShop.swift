#if canImport(SwiftUI)
import Hearth
import HearthCatalog
import HearthDelivery
import HearthHTTP
import HearthTransfer
import SwiftUI

/// A library for previews: one model is here and has an update, one is on its way, one is refused on this network, and
/// one needs more memory.
struct PreviewShop: ModelDelivering {
    static let here = model("here")
    static let moving = model("moving")
    static let metered = model("metered", size: 1_900_000_000)

    static func model(_ name: String, version: UInt = 1, size: UInt64 = 98_400_000) -> ModelInfo {
        guard let family = Family(name) else { preconditionFailure("\(name) is a name") }
        return ModelInfo(
            identity: ReleaseIdentity(family: family, version: ReleaseVersion(SemanticVersion(version, 0, 0))),
            summary: "Answers short questions", size: size, requiredMemory: size * 5 / 4)
    }

    func localModels() -> [LocalModel] { [LocalModel(Self.here)] }

    func offeredModels(_ policy: CachePolicy) -> OfferedModels {
        OfferedModels([
            OfferedModel(Self.model("here", version: 2), isUpdate: true), OfferedModel(Self.moving),
            OfferedModel(Self.metered),
            OfferedModel(
                Self.model("large", size: 9_000_000_000), objection: .notEnoughMemory(needed: 12_000_000_000)),
        ])
    }

    func pull(
        _ model: ModelInfo, options: DownloadOptions, report: @escaping @Sendable (TransferProgress) -> Void
    ) async throws -> LocalDelivery {
        if model.id == Self.metered.id, options.metered != .allow {
            throw NetworkError(.meteredNetwork, "This network is metered.")
        }
        report(
            TransferProgress(
                state: .downloading, completedBytes: model.size * 9 / 20, totalBytes: model.size,
                bytesPerSecond: 3_200_000))
        // The download stays as it is until it is cancelled.
        for await _ in AsyncStream.makeStream(of: Never.self).stream {}
        throw CancellationError()
    }

    func discardDownload(of model: ModelInfo) {}
    func unfinishedDownloads() -> [ModelInfo] { [] }
    func remove(_ model: ModelInfo) {}
    func rollBack(_ family: Family) {}
    func changes() -> AsyncStream<LibraryChange> { AsyncStream { $0.finish() } }
}

/// Views over a library that has been asked for its models.
struct PreviewLibrary<Content: View>: View {
    private let content: (ModelLibrary) -> Content
    private let downloads: [ModelInfo]
    @State private var library = ModelLibrary(delivery: PreviewShop(), defaultModel: .unsaved)

    init(downloads: [ModelInfo] = [], @ViewBuilder content: @escaping (ModelLibrary) -> Content) {
        (self.downloads, self.content) = (downloads, content)
    }

    var body: some View {
        VStack(spacing: 16) { content(library) }
            .task {
                await library.refresh()
                for model in downloads { try? library.download(model.id) }
            }
    }
}
#endif
