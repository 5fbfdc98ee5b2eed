import HearthBase
import HearthCatalog
import HearthDelivery
import HearthHTTP
import HearthTransfer

/// Runs pulls and removals: in sequence for one model, in parallel for several.
@MainActor final class LibraryWork {
    /// A pull under way.
    private final class Fetch {
        let model: ModelInfo
        let report: @MainActor (TransferProgress) -> Void
        let end: @MainActor (Result<LocalDelivery, any Error>) -> Void
        var task: CancellingTask?

        init(
            _ model: ModelInfo, report: @escaping @MainActor (TransferProgress) -> Void,
            end: @escaping @MainActor (Result<LocalDelivery, any Error>) -> Void
        ) {
            self.model = model
            self.report = report
            self.end = end
        }
    }

    private let delivery: any ModelDelivering
    private var fetches: [Family: Fetch] = [:]
    private var last: [Family: Task<Void, Never>] = [:]

    /// Work with `delivery`. Deinitialization cancels pulls, which keep partial downloads; removals run to their end.
    init(delivery: any ModelDelivering) { self.delivery = delivery }

    /// Pulls a model after all earlier work for it.
    /// - Parameters:
    ///   - report: receives progress in order; never called after ``stop(_:)``.
    ///   - end: called once, after the last report; never called after ``stop(_:)``.
    func fetch(
        _ model: ModelInfo, options: DownloadOptions, report: @escaping @MainActor (TransferProgress) -> Void,
        end: @escaping @MainActor (Result<LocalDelivery, any Error>) -> Void
    ) {
        let fetch = Fetch(model, report: report, end: end)
        let work = Task { [weak self, weak fetch, delivery, before = last[model.id]] in
            await before?.value
            guard !Task.isCancelled else { return }
            let (reports, source) = AsyncStream.makeStream(of: TransferProgress.self)
            async let outcome = Self.pull(model, options, delivery, source)
            for await report in reports { self?.current(fetch)?.report(report) }
            let result = await outcome
            guard let fetch = self?.current(fetch) else { return }
            self?.fetches[model.id] = nil
            fetch.end(result)
        }
        fetch.task = CancellingTask(work)
        fetches[model.id] = fetch
        last[model.id] = Task { await work.value }
    }

    private nonisolated static func pull(
        _ model: ModelInfo, _ options: DownloadOptions, _ delivery: any ModelDelivering,
        _ reports: AsyncStream<TransferProgress>.Continuation
    ) async -> Result<LocalDelivery, any Error> {
        defer { reports.finish() }
        do {
            return .success(try await delivery.pull(model, options: options) { reports.yield($0) })
        } catch {
            return .failure(error)
        }
    }

    /// The fetch, `nil` once it was stopped.
    private func current(_ fetch: Fetch?) -> Fetch? {
        guard let fetch, fetches[fetch.model.id] === fetch else { return nil }
        return fetch
    }

    /// Cancels a model's pull.
    func stop(_ family: Family) { fetches.removeValue(forKey: family)?.task?.cancel() }

    /// Cancels every pull and keeps partial downloads. Does not call their `end`.
    /// - Returns: the families of the cancelled pulls.
    func end() -> [Family] {
        defer { fetches = [:] }
        for fetch in fetches.values { fetch.task?.cancel() }
        return fetches.keys.sorted()
    }

    /// Waits until all work has ended and partial downloads are recorded.
    func finish() async { for task in last.values { await task.value } }

    /// Deletes a model's partial download, after all earlier work for the model.
    func discard(_ model: ModelInfo, then: @escaping @MainActor () async -> Void) {
        last[model.id] = Task { [delivery, before = last[model.id]] in
            await before?.value
            do {
                try await delivery.discardDownload(of: model)
            } catch {
                Log.write(.warning, "library", "what came of \(model.identity) stays: \(error)")
            }
            await then()
        }
    }

    /// Deletes a model from the device, after all earlier work for it.
    func remove(_ model: ModelInfo) async throws {
        let removal = Task { [delivery, before = last[model.id]] in
            await before?.value
            try await delivery.remove(model)
        }
        last[model.id] = Task { _ = await removal.result }
        try await removal.value
    }
}

/// A task that is cancelled when its owner is released.
final class CancellingTask: Sendable {
    private let end: @Sendable () -> Void

    init<Success: Sendable, Failure: Error>(_ task: Task<Success, Failure>) { end = { task.cancel() } }

    deinit { end() }

    func cancel() { end() }
}
