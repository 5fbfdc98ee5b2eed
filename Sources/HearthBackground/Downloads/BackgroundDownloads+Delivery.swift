import Foundation
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthHTTP
import HearthStore
import HearthTransfer

/// Leaving downloads to the system, and installing what it brought.
extension BackgroundDownloads {
    /// Leaves every unfinished download to the system. Call it while the app is still in front, when its scene becomes
    /// inactive: the system delays what begins later.
    ///
    /// Pulls of this process end with `CancellationError`, and keep their bytes. Files without a SHA-256 in their list,
    /// paused ones and those that another process fetches stay with the app.
    /// - Throws: the first error of a download that could not be left; the others are left all the same.
    public func handOver() async throws {
        await manager.transfers.stopAll()
        var failure: (any Error)?
        for plan in try await unfinished() {
            do {
                try await handOver(plan)
            } catch {
                failure = failure ?? error
            }
        }
        await start()
        if let failure { throw failure }
    }

    /// Checks and installs the models whose bytes the system has brought, and pulls what it could not bring. Models that
    /// it still has orders for are left out.
    /// - Parameter progress: as that of `ModelManager.pull`.
    /// - Returns: the outcome of each model.
    /// - Throws: `FileError` if the transfers cannot be listed.
    @discardableResult
    public func finish(
        progress: @escaping @Sendable (Family, TransferProgress) -> Void = { _, _ in }
    ) async throws -> [Family: Result<PullOutcome, any Error>] {
        var outcomes: [Family: Result<PullOutcome, any Error>] = [:]
        for plan in try await unfinished() {
            guard let family = plan.release?.family else { continue }
            do {
                var (offer, options) = try await manager.resolve(again: plan)
                guard outside.isDisjoint(with: offer.release.files.compactMap(\.digest)) else { continue }
                offer.retryHeldBack = false
                outcomes[family] = .success(try await manager.pull(offer, options: options) { progress(family, $0) })
            } catch {
                outcomes[family] = .failure(error)
            }
        }
        return outcomes
    }

    /// Cancels the downloads of a model and removes their bytes, those of the system included.
    /// - Throws: `FileError`; `TransferError`.
    public func cancel(_ family: Family) async throws {
        for summary in try await manager.transfers.list() where summary.release?.family == family {
            if let digest = summary.plan?.digest { await take(.discard(digest)) }
            try await manager.transfers.cancel(summary.key)
        }
    }

    /// The downloads that the system has, by family. Reads the disk: ask at most a few times a second.
    /// - Throws: `FileError` if the transfers cannot be listed.
    public func progress() async throws -> [Family: TransferProgress] {
        let summaries = try await manager.transfers.list().filter { $0.release != nil }
        let families = Set(summaries.filter { $0.plan?.digest.map(outside.contains) ?? false }.map(\.release?.family))
        var readings: [Family: TransferProgress] = [:]
        for summary in summaries where families.contains(summary.release?.family) {
            guard let family = summary.release?.family else { continue }
            var reading =
                readings[family] ?? TransferProgress(state: .downloading, completedBytes: 0, totalBytes: 0)
            reading.completedBytes += summary.plan?.digest.flatMap(completedBytes) ?? summary.recordedBytes
            reading.totalBytes = reading.totalBytes.flatMap { total in summary.totalBytes.map { total + $0 } }
            readings[family] = reading
        }
        return readings
    }

    /// One plan of each download that its process left.
    private func unfinished() async throws -> [TransferPlan] {
        var tags: Set<String> = []
        let summaries = try await manager.transfers.list().filter { summary in
            // The files that the system has orders for are held by this process.
            if case .held(_, let holder) = summary.state, !holder.isHere || holder.process != getpid() { return false }
            return summary.state != .corrupted && summary.plan?.isPaused == false
        }
        return summaries.compactMap(\.plan).filter { plan in
            guard let tag = plan.tag, plan.purpose != nil else { return false }
            return tags.insert(tag).inserted
        }
    }

    /// Leaves the files of a download to the system.
    private func handOver(_ plan: TransferPlan) async throws {
        let release = try await manager.resolve(again: plan).0.release
        let installed = Set(try await manager.installed().flatMap { $0.receipt.files.map(\.digest) })
        for file in release.files {
            guard let digest = file.digest, let size = file.size.exact, size > 0, !installed.contains(digest),
                let location = file.locations.first(where: { !$0.isFileURL })
            else { continue }
            var address = location
            if let provider, provider.provides(for: location) {
                address = try await provider.downloadAddress(for: location).url
            }
            let plan = TransferPlan(TransferRequest(file), tag: plan.tag, at: Date())
            try await offer(digest, size: size, address: address, plan)
        }
    }
}
