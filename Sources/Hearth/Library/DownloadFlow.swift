import HearthBase
import HearthCatalog
import HearthDelivery

/// Decides the order of downloads and loads for ``ModelDownloadViewModel``.
///
/// A state machine without side effects: it takes events and returns effects to carry out. Each start begins a *run*,
/// whose models stay the same when the selection changes.
///
/// ```
///   start, restored ─▶ fetching(text) ─completed─▶ loading(text) ─loaded─▶ [no vision] done
///                 │  │                        │            └──▶ fetching(vision) ─▶ loading(vision) ─▶ done, text
///                 │  └ failed ──▶ end, the failure stays shown; the next start works
///                 └─ cancel ────▶ end, nothing shown; also while loading
///   loads run one at a time: launch (text, then vision), a run's, those the user asked for
/// ```
package struct DownloadFlow: Sendable, Hashable {
    /// The downloads and loads begun by one start.
    private struct Run: Sendable, Hashable {
        enum Step: Sendable, Hashable { case fetching, loading }

        let number: Int
        let first: ModelInfo
        /// The model being fetched or loaded.
        var model: ModelInfo
        var step = Step.fetching
        var vision: ModelInfo?
        /// Whether the fetch waits for the end of the model's removal.
        var isHeldBack = false
    }

    /// A queued load; the first one in the queue is active.
    private struct Load: Sendable, Hashable {
        let model: ModelInfo
        /// The run that the load belongs to.
        let run: Int?
        /// Whether no other model leaves for it.
        var isBeside = false
        var isStopping = false

        var effect: DownloadFlowEffect { isBeside ? .loadBeside(model) : .load(model) }
    }

    /// The model that the next fetch, load or removal is for; `nil` if none is selected.
    package private(set) var selected: ModelInfo?
    /// The model whose download is shown.
    package private(set) var subject: ModelInfo?
    /// The vision model to fetch once the text model is loaded.
    package private(set) var pendingVision: ModelInfo?
    /// Why the last load failed.
    package private(set) var loadError: String?
    /// Why the last removal failed.
    package private(set) var deleteError: String?
    private var run: Run?
    private var runs = 0
    private var loads: [Load] = []
    private var deleting: Set<Family> = []
    private var isLaunched = false
    /// The model to select again once a vision model is loaded.
    private var returnTo: ModelInfo?

    /// A flow without activity.
    package init(selected: ModelInfo? = nil) { self.selected = selected }

    /// The model being fetched.
    package var fetching: ModelInfo? { run.flatMap { $0.step == .fetching ? $0.model : nil } }
    /// The model being loaded.
    package var loading: ModelInfo? { loads.first?.model }

    // MARK: Events

    /// Applies an event; returns the effects to carry out, in this order.
    @discardableResult
    package mutating func take(_ event: DownloadFlowEvent) -> [DownloadFlowEffect] {
        switch event {
        case .select(let model):
            selected = model
            returnTo = nil
            return []
        case .start(let vision): return start(then: vision)
        case .restored(let model): return restored(model)
        case .fetched(let number, let ending): return fetched(number, ending)
        case .cancel: return cancel()
        case .load: return load()
        case .loaded(let family, let ending): return loaded(family, ending)
        case .launch(let models): return launch(models)
        case .delete: return delete()
        case .deleted(let family, let problem): return deleted(family, problem)
        case .reset: return reset()
        }
    }

    private mutating func start(then vision: ModelInfo?) -> [DownloadFlowEffect] {
        guard let selected else { return [.refuse(.nothingSelected)] }
        if let run {
            if run.model.id == selected.id { return [] }
            // An active or planned fetch blocks a new start; a load does not.
            guard run.step == .loading, run.vision == nil else { return [.refuse(.downloadInProgress)] }
        }
        isLaunched = true
        runs += 1
        let vision = vision?.id == selected.id ? nil : vision
        let isHeldBack = deleting.contains(selected.id)
        run = Run(number: runs, first: selected, model: selected, vision: vision, isHeldBack: isHeldBack)
        pendingVision = vision
        subject = selected
        loadError = nil
        return isHeldBack ? [] : [.fetch(selected, run: runs)]
    }

    /// Begins a run for a download that is under way already: its fetch joins it.
    private mutating func restored(_ model: ModelInfo) -> [DownloadFlowEffect] {
        guard run == nil, !deleting.contains(model.id) else { return [] }
        if selected == nil { selected = model }
        runs += 1
        run = Run(number: runs, first: model, model: model)
        subject = model
        return [.fetch(model, run: runs)]
    }

    private mutating func launch(_ models: [ModelInfo]) -> [DownloadFlowEffect] {
        // A user's request takes precedence over loading the saved models.
        guard !isLaunched else { return [] }
        isLaunched = true
        return models.enumerated().flatMap { enqueue(Load(model: $1, run: nil, isBeside: $0 > 0)) }
    }

    /// Ends the run and clears the display.
    private mutating func abandon() {
        run = nil
        pendingVision = nil
        subject = nil
    }

    private mutating func fetched(_ number: Int, _ ending: DownloadFlowEvent.Fetched) -> [DownloadFlowEffect] {
        guard var run, run.number == number, run.step == .fetching, !run.isHeldBack else { return [] }
        switch ending {
        case .completed:
            run.step = .loading
            self.run = run
            return enqueue(Load(model: run.model, run: number))
        case .failed:
            self.run = nil
            pendingVision = nil
        case .refused(let message):
            abandon()
            selectAgain()
            if let message { loadError = message }
        case .cancelled:
            abandon()
            selectAgain()
        }
        return []
    }

    private mutating func loaded(_ family: Family, _ ending: DownloadFlowEvent.Loaded) -> [DownloadFlowEffect] {
        guard let load = loads.first, load.model.id == family else { return [] }
        loads.removeFirst()
        var effects = loads.first.map { [$0.effect] } ?? []
        if case .failed(let message) = ending { loadError = message }
        guard var run, let number = load.run, number == run.number else { return effects }
        guard ending == .loaded else {
            // The model stays selected, so that the user can load it again.
            self.run = nil
            pendingVision = nil
            return effects
        }
        guard let vision = run.vision else {
            self.run = nil
            selectAgain(after: run.model)
            return effects
        }
        if selected?.id == run.first.id {
            selected = vision
            returnTo = run.first
        }
        run.vision = nil
        run.model = vision
        run.step = .fetching
        self.run = run
        pendingVision = nil
        subject = vision
        effects.append(.fetch(vision, run: number))
        return effects
    }

    private mutating func cancel() -> [DownloadFlowEffect] {
        guard let run else {
            // A failed download may have kept partial files.
            let effects = subject.map { [DownloadFlowEffect.stop($0)] } ?? []
            subject = nil
            selectAgain()
            return effects
        }
        abandon()
        selectAgain()
        if run.step == .fetching { return [.stop(run.model)] }
        return stopLoads { $0.run == run.number }
    }

    private mutating func load() -> [DownloadFlowEffect] {
        guard let selected else { return [.refuse(.nothingSelected)] }
        if let index = loads.firstIndex(where: { $0.model.id == selected.id && !$0.isStopping }) {
            // The user wants what the launch would have loaded only beside others.
            loads[index].isBeside = false
            return []
        }
        isLaunched = true
        loadError = nil
        return enqueue(Load(model: selected, run: nil))
    }

    private mutating func delete() -> [DownloadFlowEffect] {
        guard let model = selected else { return [.refuse(.nothingSelected)] }
        guard deleting.insert(model.id).inserted else { return [] }
        isLaunched = true
        deleteError = nil
        var effects: [DownloadFlowEffect] = []
        if let run, run.model.id == model.id || run.first.id == model.id { effects += cancel() }
        effects += stopLoads { $0.model.id == model.id }
        return effects + [.delete(model)]
    }

    private mutating func deleted(_ family: Family, _ problem: String?) -> [DownloadFlowEffect] {
        guard deleting.remove(family) != nil else { return [] }
        deleteError = problem
        if let run, run.isHeldBack, run.model.id == family {
            self.run?.isHeldBack = false
            return [.fetch(run.model, run: run.number)]
        }
        if problem == nil, subject?.id == family, run == nil { subject = nil }
        return []
    }

    private mutating func reset() -> [DownloadFlowEffect] {
        guard run == nil else { return [] }
        let effects = subject.map { [DownloadFlowEffect.forget($0)] } ?? []
        subject = nil
        loadError = nil
        deleteError = nil
        selectAgain()
        return effects
    }

    // MARK: Helpers

    private mutating func enqueue(_ load: Load) -> [DownloadFlowEffect] {
        loads.append(load)
        return loads.count == 1 ? [load.effect] : []
    }

    /// Drops queued loads and stops the active one, which stays in the queue until it ends.
    private mutating func stopLoads(where isMeant: (Load) -> Bool) -> [DownloadFlowEffect] {
        var effects: [DownloadFlowEffect] = []
        if let first = loads.first, isMeant(first), !first.isStopping {
            loads[0].isStopping = true
            effects.append(.stopLoading(first.model))
        }
        loads = loads.prefix(1) + loads.dropFirst().filter { !isMeant($0) }
        return effects
    }

    /// Selects the text model again, unless the user selected another after the vision model.
    private mutating func selectAgain(after model: ModelInfo? = nil) {
        guard let text = returnTo else { return }
        if model == nil || selected?.id == model?.id { selected = text }
        returnTo = nil
    }
}
