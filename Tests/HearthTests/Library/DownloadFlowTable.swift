import Hearth
import HearthCatalog
import HearthDelivery
import HearthStore
import HearthTransfer
import Testing

/// The transitions of the one-model flow.
enum DownloadFlowTable {
    private static let text = Models.text
    private static let vision = Models.vision
    private static let other = Models.other

    /// The visible state of a flow.
    struct Look: Sendable, Equatable {
        var selected: ModelInfo?
        var subject: ModelInfo?
        var pending: ModelInfo?
        var fetching: ModelInfo?
        var loading: ModelInfo?
        var loadError: String?
        var deleteError: String?

        init(
            _ selected: ModelInfo? = Models.text, subject: ModelInfo? = nil, pending: ModelInfo? = nil,
            fetching: ModelInfo? = nil, loading: ModelInfo? = nil, loadError: String? = nil, deleteError: String? = nil
        ) {
            self.selected = selected
            self.subject = subject
            self.pending = pending
            self.fetching = fetching
            self.loading = loading
            self.loadError = loadError
            self.deleteError = deleteError
        }

        init(_ flow: DownloadFlow) {
            self.init(
                flow.selected, subject: flow.subject, pending: flow.pendingVision, fetching: flow.fetching,
                loading: flow.loading, loadError: flow.loadError, deleteError: flow.deleteError)
        }
    }

    /// The events that lead into each state, by the name of the state.
    static let ways: [String: [DownloadFlowEvent]] = [
        "idle": [],
        "fetching": [.start(then: nil)],
        "fetching, vision next": [.start(then: vision)],
        "fetching, other selected": [.start(then: vision), .select(other)],
        "failed": [.start(then: vision), .fetched(run: 1, .failed)],
        "loading": [.start(then: nil), .fetched(run: 1, .completed)],
        "loading, vision next": [.start(then: vision), .fetched(run: 1, .completed)],
        "loading, other selected": [.start(then: nil), .fetched(run: 1, .completed), .select(other)],
        "load failed": [.start(then: vision), .fetched(run: 1, .completed), .loaded(text.id, .failed("no memory"))],
        "fetching vision": toVision,
        "vision failed": toVision + [.fetched(run: 1, .failed)],
        "loading vision": toVision + [.fetched(run: 1, .completed)],
        "done": toVision + [.fetched(run: 1, .completed), .loaded(vision.id, .loaded)],
        "launching": [.launch([text, vision])],
        "asked": [.load],
        "stopping": [.start(then: nil), .fetched(run: 1, .completed), .cancel],
        "deleting": [.delete],
        "deleting, then start": [.delete, .start(then: nil)],
    ]

    private static let toVision: [DownloadFlowEvent] = [
        .start(then: vision), .fetched(run: 1, .completed), .loaded(text.id, .loaded),
    ]

    static let events: [DownloadFlowEvent] = [
        .start(then: nil), .start(then: vision), .fetched(run: 1, .completed), .fetched(run: 1, .failed),
        .fetched(run: 1, .cancelled), .fetched(run: 1, .refused("too large")), .fetched(run: 7, .completed), .cancel,
        .load, .loaded(text.id, .loaded), .loaded(text.id, .failed("damaged")), .loaded(text.id, .stopped),
        .loaded(vision.id, .loaded), .loaded(vision.id, .failed("damaged")), .loaded(other.id, .loaded),
        .launch([text, vision]), .delete, .deleted(text.id, nil), .deleted(text.id, "in use"), .reset,
    ]

    struct Step: Sendable, CustomTestStringConvertible {
        let state: String
        let event: DownloadFlowEvent
        let next: Look
        let effects: [DownloadFlowEffect]

        var testDescription: String { "\(state): \(event)" }

        init(_ state: String, _ event: DownloadFlowEvent, _ next: Look, _ effects: [DownloadFlowEffect] = []) {
            self.state = state
            self.event = event
            self.next = next
            self.effects = effects
        }
    }

    /// Every transition; an event that is not listed changes nothing.
    static let steps: [Step] = starting + fetching + loading + visionFollows + leaving

    private static let starting: [Step] =
        ["idle", "asked", "launching"].flatMap { state in
            let loading = ["asked", "launching"].contains(state) ? text : nil
            return [
                Step(
                    state, .start(then: nil), Look(subject: text, fetching: text, loading: loading),
                    [.fetch(text, run: 1)]),
                Step(
                    state, .start(then: vision),
                    Look(subject: text, pending: vision, fetching: text, loading: loading), [.fetch(text, run: 1)]),
            ]
        } + [
            // After any failure, and after the end, the next start works.
            Step("failed", .start(then: nil), Look(subject: text, fetching: text), [.fetch(text, run: 2)]),
            Step(
                "failed", .start(then: vision), Look(subject: text, pending: vision, fetching: text),
                [.fetch(text, run: 2)]),
            Step("load failed", .start(then: nil), Look(subject: text, fetching: text), [.fetch(text, run: 2)]),
            Step(
                "load failed", .start(then: vision), Look(subject: text, pending: vision, fetching: text),
                [.fetch(text, run: 2)]),
            Step("done", .start(then: nil), Look(subject: text, fetching: text), [.fetch(text, run: 2)]),
            Step(
                "done", .start(then: vision), Look(subject: text, pending: vision, fetching: text),
                [.fetch(text, run: 2)]),
            Step(
                "vision failed", .start(then: nil), Look(vision, subject: vision, fetching: vision),
                [.fetch(vision, run: 2)]),
            Step(
                "vision failed", .start(then: vision), Look(vision, subject: vision, fetching: vision),
                [.fetch(vision, run: 2)]),
            Step(
                "stopping", .start(then: nil), Look(subject: text, fetching: text, loading: text),
                [.fetch(text, run: 2)]),
            Step(
                "stopping", .start(then: vision), Look(subject: text, pending: vision, fetching: text, loading: text),
                [.fetch(text, run: 2)]),
            // A model on its way out is fetched once it is gone.
            Step("deleting", .start(then: nil), Look(subject: text, fetching: text)),
            Step("deleting", .start(then: vision), Look(subject: text, pending: vision, fetching: text)),
            Step(
                "deleting, then start", .deleted(text.id, nil), Look(subject: text, fetching: text),
                [.fetch(text, run: 1)]),
            Step(
                "deleting, then start", .deleted(text.id, "in use"),
                Look(subject: text, fetching: text, deleteError: "in use"), [.fetch(text, run: 1)]),
            Step("deleting, then start", .cancel, Look(), [.stop(text)]),
            Step(
                "deleting, then start", .load, Look(subject: text, fetching: text, loading: text), [.load(text)]),
            // Another model: refused while bytes are on their way, welcome while one is merely loaded.
            Step(
                "fetching, other selected", .start(then: nil),
                Look(other, subject: text, pending: vision, fetching: text), [.refuse(.downloadInProgress)]),
            Step(
                "fetching, other selected", .start(then: vision),
                Look(other, subject: text, pending: vision, fetching: text), [.refuse(.downloadInProgress)]),
            Step(
                "loading, other selected", .start(then: nil),
                Look(other, subject: other, fetching: other, loading: text), [.fetch(other, run: 2)]),
            Step(
                "loading, other selected", .start(then: vision),
                Look(other, subject: other, pending: vision, fetching: other, loading: text), [.fetch(other, run: 2)]),
        ]

    private static let fetching: [Step] =
        [
            Step("fetching", .fetched(run: 1, .completed), Look(subject: text, loading: text), [.load(text)]),
            Step(
                "fetching, vision next", .fetched(run: 1, .completed),
                Look(subject: text, pending: vision, loading: text),
                [.load(text)]),
            // What was captured is loaded, not what is selected.
            Step(
                "fetching, other selected", .fetched(run: 1, .completed),
                Look(other, subject: text, pending: vision, loading: text), [.load(text)]),
            Step(
                "fetching vision", .fetched(run: 1, .completed), Look(vision, subject: vision, loading: vision),
                [.load(vision)]),
            Step("fetching vision", .fetched(run: 1, .failed), Look(vision, subject: vision)),
            Step("fetching vision", .fetched(run: 1, .cancelled), Look()),
            Step("fetching vision", .fetched(run: 1, .refused("too large")), Look(loadError: "too large")),
        ]
        + [("fetching", text), ("fetching, vision next", text), ("fetching, other selected", other)].flatMap {
            [
                Step($0.0, .fetched(run: 1, .failed), Look($0.1, subject: text)),
                Step($0.0, .fetched(run: 1, .cancelled), Look($0.1)),
                Step($0.0, .fetched(run: 1, .refused("too large")), Look($0.1, loadError: "too large")),
            ]
        }

    private static let loading: [Step] = [
        Step("loading", .loaded(text.id, .loaded), Look(subject: text)),
        Step("loading", .loaded(text.id, .failed("damaged")), Look(subject: text, loadError: "damaged")),
        Step("loading", .loaded(text.id, .stopped), Look(subject: text)),
        Step("loading, other selected", .loaded(text.id, .loaded), Look(other, subject: text)),
        Step(
            "loading, other selected", .loaded(text.id, .failed("damaged")),
            Look(other, subject: text, loadError: "damaged")),
        Step("loading, other selected", .loaded(text.id, .stopped), Look(other, subject: text)),
        Step("loading, other selected", .load, Look(other, subject: text, loading: text)),
        // A launch loads the text model, then the vision model, also if the first load fails. A launch that comes after a
        // request of the user changes nothing.
        Step("idle", .launch([text, vision]), Look(loading: text), [.load(text)]),
        Step("launching", .loaded(text.id, .loaded), Look(loading: vision), [.loadBeside(vision)]),
        Step(
            "launching", .loaded(text.id, .failed("damaged")), Look(loading: vision, loadError: "damaged"),
            [.loadBeside(vision)]),
        Step("launching", .loaded(text.id, .stopped), Look(loading: vision), [.loadBeside(vision)]),
        // Asked for: one of the same is enough.
        Step("idle", .load, Look(loading: text), [.load(text)]),
        Step("failed", .load, Look(subject: text, loading: text), [.load(text)]),
        Step("load failed", .load, Look(subject: text, loading: text), [.load(text)]),
        Step("vision failed", .load, Look(vision, subject: vision, loading: vision), [.load(vision)]),
        Step("done", .load, Look(subject: vision, loading: text), [.load(text)]),
        Step("deleting", .load, Look(loading: text), [.load(text)]),
        Step("fetching", .load, Look(subject: text, fetching: text, loading: text), [.load(text)]),
        Step(
            "fetching, vision next", .load, Look(subject: text, pending: vision, fetching: text, loading: text),
            [.load(text)]),
        Step(
            "fetching, other selected", .load,
            Look(other, subject: text, pending: vision, fetching: text, loading: other),
            [.load(other)]),
        Step(
            "fetching vision", .load, Look(vision, subject: vision, fetching: vision, loading: vision), [.load(vision)]),
        Step("stopping", .load, Look(loading: text)),
        Step("asked", .loaded(text.id, .loaded), Look()),
        Step("asked", .loaded(text.id, .failed("damaged")), Look(loadError: "damaged")),
        Step("asked", .loaded(text.id, .stopped), Look()),
        Step("stopping", .loaded(text.id, .loaded), Look()),
        Step("stopping", .loaded(text.id, .failed("damaged")), Look(loadError: "damaged")),
        Step("stopping", .loaded(text.id, .stopped), Look()),
    ]

    private static let visionFollows: [Step] = [
        Step(
            "loading, vision next", .loaded(text.id, .loaded), Look(vision, subject: vision, fetching: vision),
            [.fetch(vision, run: 1)]),
        Step(
            "loading, vision next", .loaded(text.id, .failed("damaged")), Look(subject: text, loadError: "damaged")),
        Step("loading, vision next", .loaded(text.id, .stopped), Look(subject: text)),
        Step("loading vision", .loaded(vision.id, .loaded), Look(subject: vision)),
        Step(
            "loading vision", .loaded(vision.id, .failed("damaged")),
            Look(vision, subject: vision, loadError: "damaged")),
    ]

    private static let leaving: [Step] = [
        Step("fetching", .cancel, Look(), [.stop(text)]),
        Step("fetching, vision next", .cancel, Look(), [.stop(text)]),
        Step("fetching, other selected", .cancel, Look(other), [.stop(text)]),
        Step("loading", .cancel, Look(loading: text), [.stopLoading(text)]),
        Step("loading, vision next", .cancel, Look(loading: text), [.stopLoading(text)]),
        Step("loading, other selected", .cancel, Look(other, loading: text), [.stopLoading(text)]),
        Step("fetching vision", .cancel, Look(), [.stop(vision)]),
        Step("loading vision", .cancel, Look(loading: vision), [.stopLoading(vision)]),
        Step("failed", .cancel, Look(), [.stop(text)]),
        Step("load failed", .cancel, Look(loadError: "no memory"), [.stop(text)]),
        Step("vision failed", .cancel, Look(), [.stop(vision)]),
        Step("done", .cancel, Look(), [.stop(vision)]),
        Step("failed", .reset, Look(), [.forget(text)]),
        Step("load failed", .reset, Look(), [.forget(text)]),
        Step("vision failed", .reset, Look(), [.forget(vision)]),
        Step("done", .reset, Look(), [.forget(vision)]),
        Step("idle", .delete, Look(), [.delete(text)]),
        Step("fetching", .delete, Look(), [.stop(text), .delete(text)]),
        Step("fetching, vision next", .delete, Look(), [.stop(text), .delete(text)]),
        Step(
            "fetching, other selected", .delete, Look(other, subject: text, pending: vision, fetching: text),
            [.delete(other)]),
        Step("failed", .delete, Look(subject: text), [.delete(text)]),
        Step("loading", .delete, Look(loading: text), [.stopLoading(text), .delete(text)]),
        Step("loading, vision next", .delete, Look(loading: text), [.stopLoading(text), .delete(text)]),
        Step("loading, other selected", .delete, Look(other, subject: text, loading: text), [.delete(other)]),
        Step("load failed", .delete, Look(subject: text, loadError: "no memory"), [.delete(text)]),
        Step("fetching vision", .delete, Look(), [.stop(vision), .delete(vision)]),
        Step("vision failed", .delete, Look(vision, subject: vision), [.delete(vision)]),
        Step("loading vision", .delete, Look(loading: vision), [.stopLoading(vision), .delete(vision)]),
        Step("done", .delete, Look(subject: vision), [.delete(text)]),
        Step("launching", .delete, Look(loading: text), [.stopLoading(text), .delete(text)]),
        Step("asked", .delete, Look(loading: text), [.stopLoading(text), .delete(text)]),
        Step("stopping", .delete, Look(loading: text), [.delete(text)]),
        Step("deleting", .deleted(text.id, nil), Look()),
        Step("deleting", .deleted(text.id, "in use"), Look(deleteError: "in use")),
    ]
}
