import Hearth
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthStore
import HearthTransfer
import Testing

/// Every transition of one model's row, what it shows, and what a tap does.
@Suite struct LibraryRowTests {
    private static let model = Models.text
    private static let newer = Models.text.at("1.1.0")
    private static let lost = FailureBody(code: "network-error", message: "Network error: the connection broke")
    private static let tooLarge = Ineligibility.notEnoughMemory(needed: 9_000_000_000)

    private static let offered = LibraryRowEvent.offered(OfferedModel(model))
    private static let here = LibraryRowEvent.local(LocalModel(model))
    private static let update = LibraryRowEvent.offered(OfferedModel(newer, isUpdate: true))

    /// A way into each state, by its name.
    private static let ways: [String: [LibraryRowEvent]] = [
        "notDownloaded": [offered],
        "waiting": [offered, .download, .reading(.hold(.metered))],
        "downloading": [offered, .download, .reading(.progress(0.5))],
        "verifying": [offered, .download, .reading(.received)],
        "retrying": [offered, .download, .reading(.received), .reading(.mismatch)],
        "failed": [offered, .download, .failed(lost)],
        "incompatible": [.offered(OfferedModel(model, objection: tooLarge))],
        "downloaded": [offered, .download, .arrived(Models.arrived(model))],
        "updateAvailable": [here, update],
        "updating": [here, update, .download, .reading(.progress(0.25))],
        "update failed": [here, update, .download, .failed(lost)],
        "deleting": [offered, here, .delete],
    ]

    private static let states: [String: ModelState] = [
        "notDownloaded": .notDownloaded, "waiting": .waiting(.metered), "downloading": .downloading(progress: 0.5),
        "verifying": .downloading(progress: 1), "retrying": .downloading(progress: 0), "failed": .failed(lost),
        "incompatible": .incompatible(tooLarge), "downloaded": .downloaded,
        "updateAvailable": .updateAvailable(newer.identity.version), "updating": .downloading(progress: 0.25),
        "update failed": .failed(lost), "deleting": .downloaded,
    ]

    private static let actions: [String: ModelAction?] = [
        "notDownloaded": .download, "waiting": nil, "downloading": nil, "verifying": nil, "retrying": nil,
        "failed": .download, "incompatible": nil, "downloaded": .select, "updateAvailable": .select, "updating": nil,
        "update failed": .download, "deleting": nil,
    ]

    private static let events: [LibraryRowEvent] = [
        .download, .reading(.progress(0.75)), .reading(.hold(.offline)), .reading(.release), .reading(.received),
        .reading(.mismatch), .reading(.release), .arrived(Models.arrived(newer)), .failed(lost), .cancelledElsewhere,
        .cancel, .delete, .deleted(true), .deleted(false), .reset,
    ]

    struct Step: Sendable, CustomTestStringConvertible {
        let state: String
        let event: LibraryRowEvent
        let next: ModelState
        let effects: [LibraryRowEffect]

        var testDescription: String { "\(state): \(event)" }

        init(_ state: String, _ event: LibraryRowEvent, _ next: ModelState, _ effects: [LibraryRowEffect] = []) {
            self.state = state
            self.event = event
            self.next = next
            self.effects = effects
        }
    }

    private static let available = ModelState.updateAvailable(newer.identity.version)

    /// Every transition there is; what is not listed changes nothing to be seen.
    private static let steps: [Step] =
        [
            Step("notDownloaded", .download, .downloading(progress: nil), [.fetch]),
            Step("failed", .download, .downloading(progress: nil), [.fetch]),
            Step("downloaded", .download, .downloading(progress: nil), [.fetch]),
            Step("updateAvailable", .download, .downloading(progress: nil), [.fetch]),
            Step("update failed", .download, .downloading(progress: nil), [.fetch]),
            Step("deleting", .download, .downloading(progress: nil), [.fetch]),
            Step("incompatible", .download, .incompatible(tooLarge), [.refuse(tooLarge)]),
            Step("failed", .cancel, .notDownloaded, [.discard]),
            Step("failed", .delete, .notDownloaded, [.discard]),
            Step("failed", .cancelledElsewhere, .notDownloaded),
            Step("failed", .reset, .notDownloaded),
            Step("failed", .deleted(true), .notDownloaded),
            Step("update failed", .cancel, available, [.discard]),
            Step("update failed", .delete, available, [.discard, .remove]),
            Step("update failed", .cancelledElsewhere, available),
            Step("update failed", .reset, available),
            Step("update failed", .deleted(true), .notDownloaded),
            Step("updating", .cancel, available, [.stop, .discard]),
            Step("updating", .delete, available, [.stop, .discard, .remove]),
            Step("updating", .cancelledElsewhere, available),
            Step("updating", .failed(lost), .failed(lost)),
            Step("downloaded", .delete, .downloaded, [.remove]),
            Step("updateAvailable", .delete, available, [.remove]),
            Step("downloaded", .deleted(true), .notDownloaded),
            Step("updateAvailable", .deleted(true), .notDownloaded),
            Step("deleting", .deleted(true), .notDownloaded),
            Step("deleting", .deleted(false), .downloaded),
        ]
        + ["waiting", "downloading", "verifying", "retrying"].flatMap { state in
            [
                Step(state, .cancel, .notDownloaded, [.stop, .discard]),
                Step(state, .delete, .notDownloaded, [.stop, .discard]),
                Step(state, .cancelledElsewhere, .notDownloaded),
                Step(state, .failed(lost), .failed(lost)),
            ]
        }
        + ["waiting", "downloading", "verifying", "retrying", "updating"].flatMap { state in
            [
                Step(state, .reading(.progress(0.75)), .downloading(progress: 0.75)),
                Step(state, .reading(.hold(.offline)), .waiting(.offline)),
                Step(state, .reading(.release), .downloading(progress: nil)),
                Step(state, .reading(.received), .downloading(progress: 1)),
                Step(state, .reading(.mismatch), .downloading(progress: 0)),
            ]
        }
        + states.keys.sorted().filter { $0 != "failed" && $0 != "update failed" }.map {
            Step($0, .arrived(Models.arrived(newer)), .downloaded)
        }

    private static func row(in state: String) throws -> LibraryRow {
        var row = LibraryRow(model)
        for event in try #require(ways[state]) { row.take(event) }
        #expect(row.state == states[state])
        return row
    }

    @Test(arguments: steps)
    func takesEachStep(_ step: Step) throws {
        var row = try Self.row(in: step.state)
        #expect(row.take(step.event) == step.effects)
        #expect(row.state == step.next)
    }

    @Test(arguments: ways.keys.sorted(), events)
    func whatDoesNotFitChangesNothing(_ state: String, _ event: LibraryRowEvent) throws {
        guard !Self.steps.contains(where: { $0.state == state && $0.event == event }) else { return }
        var row = try Self.row(in: state)
        #expect(row.take(event) == [])
        if case .arrived = event { return }
        #expect(row.state == Self.states[state])
    }

    @Test func aDownloadIsForWhatWasOfferedWhenItBegan() {
        var row = LibraryRow(Self.model)
        for event in [Self.offered, .download, Self.update] { row.take(event) }
        #expect(row.wanted == Self.model && row.model == Self.newer)
        row.take(.download)
        #expect(row.wanted == Self.model, "it is under way already")
        for event in [.cancel, .download] as [LibraryRowEvent] { row.take(event) }
        #expect(row.wanted == Self.newer)
    }

    @Test(arguments: actions.keys.sorted())
    func aTapDoesWhatTheStateSays(_ state: String) throws {
        let expected = try #require(Self.actions[state])
        #expect(try Self.row(in: state).primaryAction == expected)
    }

    @Test func aModelIsUsableWhileItsSuccessorIsOnItsWay() throws {
        #expect(try Self.row(in: "updating").isUsable)
        #expect(try Self.row(in: "update failed").isUsable)
        #expect(try !Self.row(in: "deleting").isUsable)
        #expect(try !Self.row(in: "downloading").isUsable)
    }

    @Test func whatIsHereIsUsedWhateverASourceSaysOfItsMemory() {
        var row = LibraryRow(Self.model)
        row.take(Self.here)
        row.take(.offered(OfferedModel(Self.newer, isUpdate: true, objection: Self.tooLarge)))
        #expect(row.state == .downloaded, "an update that would not run is none")
        #expect(row.primaryAction == .select)
    }

    @Test func showsTheReleaseThatADownloadBrings() {
        var row = LibraryRow(Self.model)
        row.take(Self.here)
        row.take(Self.update)
        #expect(row.model.identity == Self.newer.identity)
        #expect(row.local?.model.identity == Self.model.identity)
        row.take(.download)
        row.take(.arrived(Models.arrived(Self.newer)))
        #expect(row.local?.model.identity == Self.newer.identity)
        #expect(row.update == nil)
        row.take(.offered(nil))
        #expect(row.state == .downloaded, "who is offline keeps what is here")
    }

    @Test func badgesTellWhatMatters() {
        #expect(ModelBadge.allCases.map(\.text) == ["Vision", "Recommended", "Active", "Bundled", "Unverified"])
        var row = LibraryRow(Models.vision)
        #expect(row.badges == [.vision])
        row.take(.local(LocalModel(Models.model("eyes", role: .vision, isVerified: false), presence: .bundled)))
        #expect(row.badges == [.vision, .bundled, .unverified])
        #expect(row.presence == .bundled)
    }

    @Test func theBadgesAreThoseOfWhatIsHere() {
        var row = LibraryRow(Self.model)
        row.take(.local(LocalModel(Models.model("diary", isVerified: false))))
        row.take(Self.update)
        #expect(row.badges == [.unverified], "that an update would be verified does not make what is here so")
    }

    @Test func theUpdateOfWhatIsHereIsFetchedWhateverASourceSaysOfItsMemory() {
        var row = LibraryRow(Self.model)
        row.take(Self.here)
        row.take(.offered(OfferedModel(Self.newer, isUpdate: true, objection: Self.tooLarge)))
        #expect(row.take(.download) == [.fetch])
    }

    @Test func whatArrivedIsShownWhereNobodyOffersAnything() {
        var row = LibraryRow(Self.model)
        row.take(.download)
        row.take(.arrived(Models.arrived(Self.newer)))
        #expect(row.model == Self.newer)
    }

    @Test func aRemovalThatFailedLeavesTheModelAsItWas() throws {
        var row = try Self.row(in: "deleting")
        row.take(.deleted(false))
        #expect(row.isUsable && row.primaryAction == .select)
        #expect(row.take(.delete) == [.remove])
    }

    @Test func figuresAreForPeople() {
        let model = Models.model("diary", size: 98_362_432, memory: 1_234_567_890)
        #expect(model.sizeText == "98.4 MB")
        #expect(model.memoryText == "1.2 GB RAM")
        #expect(model.displayName == "diary")
    }
}
