import HearthBase
import HearthDelivery

/// What ``ModelDownloadViewModel`` decides: which model is fetched, then loaded, then which one after it.
///
/// A value: it takes events and answers with what to do. A *run* is what one start has begun; the models it is for are those
/// of that moment, whatever is selected meanwhile.
///
/// ```
///   start ─▶ fetching(text) ─completed─▶ loading(text) ─loaded─▶ [no vision] done
///                 │  │                        │            └──▶ fetching(vision) ─▶ loading(vision) ─▶ done, text selected
///                 │  └ failed ──▶ end, the failure stays shown; the next start works
///                 └─ cancel ────▶ end, nothing shown; also while loading
///   loads wait for each other: launch (text, then vision), a run's, those the user asked for
/// ```
public struct DownloadFlow: Sendable, Hashable {
    /// What one start has begun.
    private struct Run: Sendable, Hashable {
        enum Step: Sendable, Hashable { case fetching, loading }

        let number: Int
        let first: ModelInfo
        /// The model fetched or loaded now.
        var model: ModelInfo
        var step = Step.fetching
        var vision: ModelInfo?
        /// It begins once the model's removal has ended.
        var isHeldBack = false
    }

    /// A load that waits for its turn or, in the first place, is under way.
    private struct Load: Sendable, Hashable {
        let model: ModelInfo
        /// The run it belongs to.
        let run: Int?
        var isStopping = false
    }

    /// The model that is fetched, loaded or deleted next, `nil` before there is one.
    public private(set) var selected: ModelInfo?
    /// The model whose download is shown.
    public private(set) var subject: ModelInfo?
    /// The vision model that is fetched once the text model is loaded.
    public private(set) var pendingVision: ModelInfo?
    /// Why the last load failed.
    public private(set) var loadError: String?
    /// Why the last removal failed.
    public private(set) var deleteError: String?
    private var run: Run?
    private var runs = 0
    private var loads: [Load] = []
    private var deleting: Set<Family> = []
    private var isLaunched = false
    /// The model to select again once a vision model is loaded.
    private var returnTo: ModelInfo?

    /// A flow in which nothing happens.
    public init(selected: ModelInfo? = nil) { self.selected = selected }

    /// The model whose bytes are on their way.
    public var fetching: ModelInfo? { run.flatMap { $0.step == .fetching ? $0.model : nil } }
    /// The model that is being loaded.
    public var loading: ModelInfo? { loads.first?.model }

    // MARK: What happens

    /// Takes note of what happened; returns what to do, in this order.
    @discardableResult
    public mutating func take(_ event: DownloadFlowEvent) -> [DownloadFlowEffect] {
        switch event {
        case .select(let model):
            selected = model
            returnTo = nil
            return []
        case .start(let vision): return start(then: vision)
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
            // Bytes that are on their way, or will be, stand in the way; a mere load does not.
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

    private mutating func launch(_ models: [ModelInfo]) -> [DownloadFlowEffect] {
        // Who asked for something before the saved models were looked up knows better.
        guard !isLaunched else { return [] }
        isLaunched = true
        return models.flatMap { enqueue(Load(model: $0, run: nil)) }
    }

    /// Nothing is under way or shown any more.
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
        var effects = loads.first.map { [DownloadFlowEffect.load($0.model)] } ?? []
        if case .failed(let message) = ending { loadError = message }
        guard var run, let number = load.run, number == run.number else { return effects }
        guard ending == .loaded else {
            // A model that is here and cannot be loaded stays selected, to be tried again.
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
            // What a failed download has kept is what the user now gives up.
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
        guard !loads.contains(where: { $0.model.id == selected.id && !$0.isStopping }) else { return [] }
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

    // MARK: Parts

    private mutating func enqueue(_ load: Load) -> [DownloadFlowEffect] {
        loads.append(load)
        return loads.count == 1 ? [.load(load.model)] : []
    }

    /// Loads that have not begun are dropped, the one under way is stopped and keeps its place until it has ended.
    private mutating func stopLoads(where isMeant: (Load) -> Bool) -> [DownloadFlowEffect] {
        var effects: [DownloadFlowEffect] = []
        if let first = loads.first, isMeant(first), !first.isStopping {
            loads[0].isStopping = true
            effects.append(.stopLoading(first.model))
        }
        loads = loads.prefix(1) + loads.dropFirst().filter { !isMeant($0) }
        return effects
    }

    /// Back from the vision model to the text model, unless the user has chosen another meanwhile.
    private mutating func selectAgain(after model: ModelInfo? = nil) {
        guard let text = returnTo else { return }
        if model == nil || selected?.id == model?.id { selected = text }
        returnTo = nil
    }
}
