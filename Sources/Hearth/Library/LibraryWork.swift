import HearthBase
import HearthDelivery

/// Does the library's work: for each model one thing after the other, for several models side by side.
@MainActor final class LibraryWork {
    /// A pull under way.
    private final class Fetch {
        let model: ModelInfo
        let report: @MainActor (DeliveryReport) -> Void
        let end: @MainActor (Result<LocalDelivery, any Error>) -> Void
        var task: CancellingTask?

        init(
            _ model: ModelInfo, report: @escaping @MainActor (DeliveryReport) -> Void,
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

    /// Work on what `delivery` delivers. When it goes away, pulls end and keep what has come; removals are completed.
    init(delivery: any ModelDelivering) { self.delivery = delivery }

    /// Pulls a model once everything begun for it earlier is over.
    /// - Parameters:
    ///   - report: what happens, in order; nothing any more after ``stop(_:)``.
    ///   - end: called once, after the last report; never after ``stop(_:)``.
    func fetch(
        _ model: ModelInfo, metered: MeteredUse, report: @escaping @MainActor (DeliveryReport) -> Void,
        end: @escaping @MainActor (Result<LocalDelivery, any Error>) -> Void
    ) {
        let fetch = Fetch(model, report: report, end: end)
        let work = Task { [weak self, weak fetch, delivery, before = last[model.id]] in
            await before?.value
            guard !Task.isCancelled else { return }
            let (reports, source) = AsyncStream.makeStream(of: DeliveryReport.self)
            async let outcome = Self.pull(model, metered, delivery, source)
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
        _ model: ModelInfo, _ metered: MeteredUse, _ delivery: any ModelDelivering,
        _ reports: AsyncStream<DeliveryReport>.Continuation
    ) async -> Result<LocalDelivery, any Error> {
        defer { reports.finish() }
        do {
            return .success(try await delivery.pull(model, metered: metered) { reports.yield($0) })
        } catch {
            return .failure(error)
        }
    }

    /// The fetch, unless it was stopped: then nobody wants to hear of it any more.
    private func current(_ fetch: Fetch?) -> Fetch? {
        guard let fetch, fetches[fetch.model.id] === fetch else { return nil }
        return fetch
    }

    /// Ends a model's pull.
    func stop(_ family: Family) { fetches.removeValue(forKey: family)?.task?.cancel() }

    /// Ends every pull, as the end of the process would: what has come is kept. Their `end` is not called.
    /// - Returns: the models that were on their way.
    func end() -> [Family] {
        defer { fetches = [:] }
        for fetch in fetches.values { fetch.task?.cancel() }
        return fetches.keys.sorted()
    }

    /// Returns once all that has begun is over, and what has come is recorded.
    func finish() async { for task in last.values { await task.value } }

    /// Throws away what has come of a model, once everything begun for it earlier is over.
    func discard(_ model: ModelInfo, then: @escaping @MainActor () async -> Void) {
        last[model.id] = Task { [delivery, before = last[model.id]] in
            await before?.value
            do {
                try await delivery.discardDownload(of: model)
            } catch {
                Log.write(.warning, "hearth.library", "what came of \(model.identity) stays: \(error)")
            }
            await then()
        }
    }

    /// Takes a model off the device, once everything begun for it earlier is over.
    func remove(_ model: ModelInfo) async throws {
        let removal = Task { [delivery, before = last[model.id]] in
            await before?.value
            try await delivery.remove(model)
        }
        last[model.id] = Task { _ = await removal.result }
        try await removal.value
    }
}

/// A task that ends with its owner.
final class CancellingTask: Sendable {
    private let end: @Sendable () -> Void

    init<Success: Sendable, Failure: Error>(_ task: Task<Success, Failure>) { end = { task.cancel() } }

    deinit { end() }

    func cancel() { end() }
}
