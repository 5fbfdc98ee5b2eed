import Foundation
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthStore
import HearthTransfer

/// A request of mlx-swift-lm for the folder of a model, answered by a model manager.
package struct SnapshotRequest: Sendable {
    private let reference: ModelReference
    private let patterns: [String]
    private let usesLatest: Bool

    /// - Parameters:
    ///   - id: any reference: a repository of the Hub such as `mlx-community/Qwen3-4B-4bit`, or a family of an origin.
    ///   - revision: a branch or commit of a repository, or the version of a family; `nil` and `main` for the newest.
    ///   - patterns: the files that the caller reads; a release without any of them is refused.
    ///   - usesLatest: whether the source is asked although a release is installed.
    /// - Throws: `CatalogError` with `bad-reference`.
    package init(id: String, revision: String?, patterns: [String], usesLatest: Bool) throws {
        let revision = revision == "main" ? nil : revision
        let plain = try ModelReference(parsing: id)
        self.patterns = patterns
        self.usesLatest = usesLatest
        switch plain {
        case .hub(let hub):
            reference = try revision.map { try ModelReference(parsing: "hf:\(hub.path)@\($0)") } ?? plain
        case .family(let family, nil, nil):
            reference = try revision.map { try ModelReference(parsing: "\(family.name)@\($0)") } ?? plain
        default: reference = plain
        }
    }

    /// The folder with the files of the model, which is fetched if it is not on this device.
    /// - Throws: errors of the manager; `CatalogError` with `unknown-file` for a release without files of the patterns;
    ///   `CancellationError`.
    package func folder(
        from manager: ModelManager, options: PullOptions, progress: @escaping @Sendable (Progress) -> Void
    ) async throws -> URL {
        let installed = try await installed(in: manager)
        if let installed, !usesLatest { return try checked(installed) }
        do {
            let outcome = try await manager.pull(reference, options: options) { reading in
                if let progressed = Self.progress(reading) { progress(progressed) }
            }
            return try checked(outcome.release)
        } catch let error where !(error is CancellationError) {
            guard let installed else { throw error }
            Log.write(.info, "mlx", "\(installed.identity) is used, because its source does not answer: \(error)")
            return try checked(installed)
        }
    }

    private func installed(in manager: ModelManager) async throws -> InstalledRelease? {
        switch reference {
        case .hub(let hub): return try await manager.installed(hub)
        case .registry(let registry): return try await manager.installed(registry)
        case .family(let family, let version, let variant):
            do {
                return try await manager.installed(family, version: version, variant: variant)
            } catch let error as StoreError where error.code == .notInstalled {
                return nil
            }
        case .manifest, .file: return nil
        }
    }

    private func checked(_ release: InstalledRelease) throws -> URL {
        let globs = patterns.map { FileGlob($0) }
        let isUsable = release.receipt.files.contains { file in globs.contains { $0.matches(file.name.string) } }
        guard patterns.isEmpty || isUsable else {
            throw CatalogError(
                .fileMissing, "\(release.identity) has no file for this engine",
                context: ErrorContext(
                    model: release.identity.description, expected: patterns.joined(separator: ", "),
                    remedy: "Name a repository in MLX's form."))
        }
        return release.folder.url
    }

    /// A reading as Foundation counts it; `nil` while the total is unknown.
    static func progress(_ reading: TransferProgress) -> Progress? {
        guard let total = reading.totalBytes else { return nil }
        let progress = Progress(totalUnitCount: Int64(clamping: total))
        progress.completedUnitCount = Int64(clamping: reading.presentBytes)
        return progress
    }
}
