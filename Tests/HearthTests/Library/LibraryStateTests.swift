import Hearth
import HearthBase
import HearthCatalog
import HearthClassification
import HearthDelivery
import HearthStore
import HearthTransfer
import Testing

@Suite struct LibraryStateTests {
    private static func state(
        recommended: Family? = nil, here: [ModelInfo] = [], offered: [ModelInfo] = [], defaultModel: String? = nil
    ) -> LibraryState {
        var state = LibraryState(recommended: recommended)
        state.setDefault(defaultModel)
        state.list(local: here.map { LocalModel($0) })
        state.list(offered: offered.map { OfferedModel($0) })
        return state
    }

    /// A model that no engine here runs is never chosen for an answer.
    @Test func aModelWithoutAnEngineIsNeverSelected() {
        var state = LibraryState()
        state.setDefault("diary")
        state.list(local: [LocalModel(Models.text, canRun: false)])
        #expect(state.selectedModel == nil)
        let isChosen = state.select(Models.text.id)
        #expect(!isChosen)
        let row = state[Models.text.id]
        #expect(row?.state == .incompatible(.noEngine(.gguf)) && row?.primaryAction == nil)
        #expect(row?.isUsable == true, "it can be removed")
        state.list(local: [LocalModel(Models.text, canRun: false), LocalModel(Models.other)])
        #expect(state.selectedModel == Models.other, "the only one that answers")
    }

    /// A publisher's recommendation counts before the size, and stays without its origin.
    @Test func aPublishersRecommendationWins() {
        var small = Models.other
        small.isRecommended = true
        var state = Self.state(offered: [Models.text, small])
        #expect(state.rows.filter(\.isRecommended).map(\.id) == [small.id])
        state = Self.state(here: [small], offered: [])
        #expect(state.rows.filter(\.isRecommended).map(\.id) == [small.id])
        state.list(offered: [OfferedModel(Models.text), OfferedModel(Models.vision)])
        #expect(state.rows.filter(\.isRecommended).map(\.id) == [small.id])
        var refused = LibraryState()
        refused.list(offered: [
            OfferedModel(small, objection: .noEngine(.mlx)), OfferedModel(Models.text),
            OfferedModel(Models.model("third", memory: 1 << 20)),
        ])
        #expect(refused.rows.filter(\.isRecommended).map(\.id) == [Models.text.id])
    }

    @Test func rowsHaveALastingOrder() {
        var state = Self.state(offered: [Models.vision, Models.other, Models.text])
        #expect(state.rows.map(\.id.name) == ["diary", "poet", "eyes"])
        state.take(.download, of: Models.other.id)
        state.take(.arrived(Models.arrived(Models.other)), of: Models.other.id)
        #expect(state.rows.map(\.id.name) == ["diary", "poet", "eyes"])
    }

    @Test func aModelThatIsNeitherHereNorOnOfferHasNoRow() {
        var state = Self.state(here: [Models.text])
        state.list(local: [])
        #expect(state.rows.isEmpty)
        let effects = state.download(Models.other)
        #expect(effects == [.fetch])
        #expect(state.rows.map(\.id) == [Models.other.id], "but one that somebody wants has")
        state.list(offered: [])
        state.list(local: [])
        #expect(state.rows.map(\.id) == [Models.other.id])
        state.take(.cancel, of: Models.other.id)
        #expect(state.rows.isEmpty)
    }

    @Test func theSettingsModelIsUsedUntilTheUserChooses() {
        var state = Self.state(here: [Models.text, Models.other], defaultModel: "poet@1.0.0:q4_1")
        #expect(state.selectedModel == Models.other)
        #expect(state[Models.other.id]?.isDefault == true)
        #expect(state[Models.other.id]?.badges.contains(.active) == true)
        let isChosen = state.select(Models.text.id)
        #expect(isChosen)
        #expect(state.selectedModel == Models.text)
        #expect(state[Models.other.id]?.isSelected == false)
        // The choice is gone: back to the settings' model.
        state.take(.delete, of: Models.text.id)
        state.take(.deleted(true), of: Models.text.id)
        #expect(state.selectedModel == Models.other)
    }

    @Test func withoutASettingTheOnlyTextModelIsUsed() {
        #expect(Self.state(here: [Models.text, Models.vision]).selectedModel == Models.text)
        #expect(Self.state(here: [Models.text, Models.other]).selectedModel == nil)
        #expect(Self.state(here: [Models.vision]).selectedModel == nil)
        #expect(Self.state(here: [Models.text], defaultModel: "gone").selectedModel == Models.text)
        #expect(Self.state(here: [Models.text], defaultModel: "NO NAME").selectedModel == Models.text)
    }

    @Test func whatIsNotHereCannotBeSelected() {
        var state = Self.state(offered: [Models.text])
        let choices = [Models.text.id, Models.other.id].map { state.select($0) }
        #expect(choices == [false, false])
        #expect(state.selectedModel == nil)
    }

    @Test func recommendsTheBestThatFits() {
        let huge = Models.model("huge", memory: 64 << 30)
        var state = Self.state(offered: [Models.text, Models.other, Models.vision])
        state.list(offered: [
            OfferedModel(Models.text), OfferedModel(Models.other), OfferedModel(Models.vision),
            OfferedModel(huge, objection: .notEnoughMemory(needed: 64 << 30)),
        ])
        #expect(state.rows.filter(\.isRecommended).map(\.id) == [Models.text.id])
        #expect(Self.state(offered: [Models.text]).rows.allSatisfy { !$0.isRecommended }, "over what?")
        let chosen = Self.state(recommended: Models.other.id, offered: [Models.text, Models.other])
        #expect(chosen.rows.filter(\.isRecommended).map(\.id) == [Models.other.id])
    }

    @Test func featuresAreOffWithoutTheirModel() {
        var state = Self.state(offered: [Models.text, Models.vision])
        for role in ModelRole.allCases { #expect(!state.hasModel(for: role)) }
        state.list(local: [LocalModel(Models.text, presence: .bundled)])
        #expect(state.hasModel(for: .text))
        #expect(!state.hasModel(for: .vision))
        state.take(.delete, of: Models.text.id)
        #expect(!state.hasModel(for: .text), "from the moment somebody wants it gone")
    }

    /// An installed model without an engine switches no feature on, and is not chosen unasked.
    @Test(arguments: ModelRole.allCases) func aModelThatNoEngineRunsIsNone(role: ModelRole) {
        let model = Models.model("eyes", role: role)
        var state = LibraryState()
        state.list(local: [LocalModel(model, canRun: false)])
        #expect(!state.hasModel(for: role))
        #expect(state.selected == nil)
        state.list(local: [LocalModel(model)])
        #expect(state.hasModel(for: role))
    }

    @Test func aModelForTextThatSeesImagesIsOneForVision() {
        var model = Models.text
        model.seesImages = true
        #expect(Self.state(here: [model]).hasModel(for: .vision))
    }

    @Test func whatSomeSourcesSayTakesNothingFromTheOthers() {
        var state = Self.state(offered: [Models.text])
        state.list(offered: [OfferedModel(Models.other)], isComplete: false)
        #expect(state.rows.count == 2)
        state.list(offered: [OfferedModel(Models.other)])
        #expect(state.rows.map(\.id) == [Models.other.id])
    }

    /// A pin is known without asking anybody; what a source says is shown for what is here and has no update.
    @Test func whyAModelStaysIsShownOnItsRow() {
        let pinned = NoUpdate.pinned(Models.text.identity)
        var state = LibraryState()
        func shown() -> NoUpdate? { state[Models.text.id]?.noUpdate }
        state.list(local: [LocalModel(Models.text, noUpdate: pinned)])
        #expect(shown() == pinned)
        state.list(offered: [], noUpdates: [Models.text.id: .notOffered])
        #expect(shown() == pinned)
        state.list(local: [LocalModel(Models.text)])
        #expect(shown() == .notOffered)
        state.list(offered: [OfferedModel(Models.other)], isComplete: false)
        #expect(shown() == .notOffered, "a source that says nothing takes nothing back")
        state.list(
            offered: [OfferedModel(Models.text.at("1.1.0"), isUpdate: true)], noUpdates: [Models.text.id: .upToDate])
        #expect(shown() == nil, "there is an update")
        state.take(.arrived(Models.arrived(Models.text.at("1.1.0"))), of: Models.text.id)
        #expect(shown() == nil, "nobody was asked about this one")
        state.list(offered: [OfferedModel(Models.text.at("1.1.0"))], noUpdates: [Models.text.id: .upToDate])
        #expect(shown() == .upToDate)
        state.list(local: [LocalModel(Models.text.at("1.1.0"))])
        #expect(shown() == .upToDate, "it is still the same")
        state.list(local: [LocalModel(Models.text)])
        #expect(shown() == nil, "nor about the one that was gone back to")
        state.list(local: [])
        #expect(shown() == nil, "what is not here does not stay")
    }

    /// The only one is used for want of another, and that is no choice of the user's; nor is one whose model is gone.
    @Test func onlyAChoiceHoldsAgainstTheSettings() {
        var state = Self.state(here: [Models.text])
        #expect(state.selected == Models.text.id)
        state.list(local: [LocalModel(Models.text), LocalModel(Models.other)])
        state.setDefault("poet")
        #expect(state.selected == Models.other.id)
        state = Self.state(here: [Models.text, Models.other])
        let isChosen = state.select(Models.other.id)
        #expect(isChosen)
        state.list(local: [LocalModel(Models.text)])
        #expect(state.selected == Models.text.id)
        state.list(local: [LocalModel(Models.text), LocalModel(Models.other)])
        state.setDefault("poet")
        #expect(state.selected == Models.other.id)
    }

    @Test(arguments: ["poet", "poet@1.0.0", "poet:q4_1", "poet@1.0.0:q4_1"])
    func theSettingsNameAFamilyWithOrWithoutMore(_ text: String) {
        var state = Self.state(here: [Models.text, Models.other])
        state.setDefault(text)
        #expect(state.selected == Models.other.id && state[Models.other.id]?.isDefault == true)
    }

    @Test func aModelOnItsWayOutIsShownUntilItIsGone() {
        var state = Self.state(here: [Models.text])
        state.take(.delete, of: Models.text.id)
        state.list(local: [])
        #expect(state.rows.count == 1)
        state.take(.deleted(true), of: Models.text.id)
        #expect(state.rows.isEmpty)
    }

    @Test func aModelListedTwiceHasOneRow() {
        let state = Self.state(here: [Models.text, Models.text], offered: [Models.text, Models.text.at("2.0.0")])
        #expect(state.rows.count == 1)
    }
}
