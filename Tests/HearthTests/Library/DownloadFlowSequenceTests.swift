import Hearth
import HearthCatalog
import HearthDelivery
import HearthStore
import HearthTransfer
import Testing

/// What several events in a row must not come to, beside the transitions of ``DownloadFlowTests``.
@Suite struct DownloadFlowSequenceTests {
    private let text = Models.text
    private let vision = Models.vision
    private let other = Models.other

    private func flow(_ events: DownloadFlowEvent...) -> DownloadFlow {
        var flow = DownloadFlow(selected: text)
        for event in events { flow.take(event) }
        return flow
    }

    @Test func whatTheUserChoseMeanwhileStaysChosen() {
        // While the vision model is on its way, which had been selected by itself.
        var flow = flow(.start(then: vision), .fetched(run: 1, .completed), .loaded(text.id, .loaded))
        #expect(flow.selected == vision)
        flow.take(.select(other))
        flow.take(.cancel)
        #expect(flow.selected == other)
        // Before it: then it is not selected at all.
        flow = self.flow(.start(then: vision), .select(other), .fetched(run: 1, .completed), .loaded(text.id, .loaded))
        #expect(flow.selected == other && flow.fetching == vision)
        flow.take(.fetched(run: 1, .completed))
        flow.take(.loaded(vision.id, .loaded))
        #expect(flow.selected == other)
    }

    @Test func anotherModelWaitsForAVisionModelThatIsStillToCome() {
        var flow = flow(.start(then: vision), .fetched(run: 1, .completed), .select(other))
        #expect(flow.loading == text)
        #expect(flow.take(.start(then: nil)) == [.refuse(.downloadInProgress)])
        #expect(flow.pendingVision == vision && flow.subject == text)
    }

    @Test func aLaunchHappensOnce() {
        var flow = flow(.launch([text]), .loaded(text.id, .loaded))
        #expect(flow.take(.launch([text, vision])).isEmpty)
        #expect(flow.loading == nil)
    }

    /// The load of a run that was cancelled ends when the next run is under way.
    @Test(arguments: [DownloadFlowEvent.Loaded.loaded, .stopped, .failed("no memory")])
    func anEarlierRunsLoadEndsNoLaterRun(_ ending: DownloadFlowEvent.Loaded) {
        var flow = flow(
            .start(then: nil), .fetched(run: 1, .completed), .cancel, .start(then: vision), .loaded(text.id, ending))
        #expect(flow.fetching == text && flow.pendingVision == vision)
        #expect(flow.take(.fetched(run: 2, .completed)) == [.load(text)])
    }

    /// A load that is ending is none that somebody asks for now.
    @Test func whoAsksWhileALoadIsEndingGetsTheNextOne() {
        var flow = flow(.start(then: nil), .fetched(run: 1, .completed), .cancel)
        #expect(flow.take(.load).isEmpty)
        #expect(flow.take(.loaded(text.id, .stopped)) == [.load(text)])
    }

    @Test(arguments: [DownloadFlowEvent.load, .delete, .start(then: nil)])
    func whoeverAskedBeforeTheLaunchKnowsBetter(_ event: DownloadFlowEvent) {
        var flow = flow(event, .fetched(run: 1, .cancelled), .loaded(text.id, .loaded), .deleted(text.id, nil))
        #expect(flow.take(.launch([text])).isEmpty)
    }

    @Test func deletingTheTextModelEndsTheRunItBegan() {
        var flow = flow(.start(then: vision), .fetched(run: 1, .completed), .loaded(text.id, .loaded), .select(text))
        #expect(flow.take(.delete) == [.stop(vision), .delete(text)])
        #expect(flow.fetching == nil)
    }

    @Test func aStartThatWaitsForARemovalIsARunLikeOthers() {
        var flow = flow(.delete, .start(then: nil), .select(other), .delete)
        #expect(flow.take(.deleted(other.id, nil)).isEmpty, "another model's removal is not what it waits for")
        #expect(flow.take(.deleted(text.id, nil)) == [.fetch(text, run: 1)])
        #expect(flow.take(.fetched(run: 1, .completed)) == [.load(text)])
    }

    /// A failed download stays in sight until its own model is gone.
    @Test func onlyItsOwnRemovalEndsWhatIsShown() {
        let failed = flow(.start(then: nil), .fetched(run: 1, .failed))
        var flow = failed
        for event in [.delete, .deleted(text.id, "in use")] as [DownloadFlowEvent] { flow.take(event) }
        #expect(flow.subject == text && flow.deleteError == "in use")
        flow.take(.delete)
        #expect(flow.deleteError == nil, "the next attempt has not failed yet")
        flow = failed
        for event in [.select(other), .delete, .deleted(other.id, nil)] as [DownloadFlowEvent] { flow.take(event) }
        #expect(flow.subject == text)
        for event in [.select(text), .delete, .deleted(text.id, nil)] as [DownloadFlowEvent] { flow.take(event) }
        #expect(flow.subject == nil)
    }

    @Test func aResetForgetsHowARemovalEnded() {
        let flow = flow(.delete, .deleted(text.id, "in use"), .reset)
        #expect(flow.deleteError == nil)
    }

    @Test func whatIsDeletedIsNotLoadedAfterwards() {
        var flow = flow(.launch([text, vision]), .select(vision))
        #expect(flow.take(.delete) == [.delete(vision)])
        #expect(flow.take(.loaded(text.id, .loaded)).isEmpty)
    }
}
