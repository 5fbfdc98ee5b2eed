// The cards of models, updates, removal and the way back to the version before.
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthUI
import SwiftUI
import Testing

@testable import Hearth

/// The cards of models, updates, removal and the way back.
@MainActor @Suite(.timeLimit(.minutes(1))) struct ModelTests {
    private let shop = Shop()

    private func section() async -> Form<ModelSettingsSection> {
        await shop.library.refresh()
        return Form { ModelSettingsSection(shop.library) }
    }

    @Test(arguments: Look.all) func withoutModelsItSaysSo(_ look: Look) async {
        let tree = look.show(await section())
        #expect(tree.texts == [look["models.section"], look["models.none"]])
        look.expectGood(tree)
        shop.delivery.failOffers(Shop.lost)
        shop.delivery.failLocal(FolderProblem.closed)
        await shop.library.refresh()
        tree.render()
        #expect(
            tree.texts.last == look("the folder is closed", PageWords.refusals["permission-denied"] ?? ""))
        look.expectGood(tree)
    }

    @Test(arguments: Look.all) func aSourceThatIsAskedIsSaid(_ look: Look) async {
        let tree = look.show(Form { ModelSettingsSection(shop.library) })
        let asking = Task { await shop.library.refreshOffers() }
        await tree.shows { $0.texts != [look["models.section"], look["models.none"]] || !shop.journal.isEmpty }
        await asking.value
        #expect(!shop.library.isRefreshing)
    }

    @Test(arguments: Look.all) func badgesAndFormats(_ look: Look) async throws {
        var mlx = Models.model("apple", size: 0, memory: 0, isVerified: false)
        mlx.format = .mlx
        mlx.summary = "An answer"
        shop.delivery.have(LocalModel(Models.text, presence: .bundled), LocalModel(Models.vision))
        shop.delivery.offer(
            OfferedModel(mlx), OfferedModel(Models.other, objection: .notEnoughMemory(needed: 9_000_000_000)))
        let tree = look.show(await section())
        look.expectGood(tree)
        let bundled = try #require(tree.button(look["card.chosen", ["name": "diary"]]))
        #expect(
            bundled.value?.hasPrefix(
                "\(look["state.bundled"]), \(look["badge.active"]), \(look["badge.bundled"]), ") == true)
        // Neither size nor memory is known.
        let card = try #require(tree.button(look["card.download", ["name": "apple", "size": ""]]))
        #expect(card.value == "\(look["state.not-downloaded"]), \(look["badge.unverified"]), MLX")
        #expect(card.texts == ["apple", look["badge.unverified"], "MLX", "An answer", look["state.not-downloaded"]])
        #expect(
            tree.button(look["card.select", ["name": "eyes"]])?.value?.contains(look["badge.vision"]) == true)
        let tooLarge = try #require(tree.button("poet"))
        #expect(tooLarge.isDisabled)
        #expect(
            tooLarge.value?.hasPrefix(
                look("This model requires 9 GB RAM", PageWords.refusals["not-enough-memory"] ?? "")) == true)
        #expect(tree.layout(of: "apple", "MLX") == look.row)
    }

    @Test(arguments: Look.all) func anUpdateIsOfferedAndFetched(_ look: Look) async {
        shop.delivery.have(LocalModel(Models.text))
        shop.delivery.offer(OfferedModel(Models.text.at("1.1.0"), isUpdate: true))
        let barrier = shop.hold(Models.text, at: Shop.reading)
        let tree = look.show(await section())
        let button = look["card.update", ["version": "1.1.0", "size": look.number("98.4 MB")]]
        #expect(tree.texts.contains(look["state.update", ["version": "1.1.0"]]))
        #expect(tree.button(button)?.hint == "diary")
        #expect(tree.layout(of: "diary", button) == look.row)
        look.expectGood(tree)
        #expect(tree.tap(button))
        await tree.shows("45%")
        #expect(tree.button(button) == nil && shop.journal == ["pull diary"])
        barrier.open()
        await tree.shows(look["state.downloaded"])
        #expect(tree.button(button) == nil)
    }

    @Test(arguments: Look.all) func removalAsksFirst(_ look: Look) async {
        shop.delivery.have(LocalModel(Models.text))
        shop.delivery.offer(OfferedModel(Models.text))
        let barrier = Barrier()
        shop.delivery.holdRemovals(barrier)
        let tree = look.show(await section())
        #expect(tree.tap(look["manage.remove"]))
        #expect(tree.nodes("alert").map(\.text) == [look["manage.remove.title", ["name": "diary"]]])
        #expect(tree.texts.contains(look["manage.remove.text", ["size": look.number("98.4 MB")]]))
        look.expectGood(tree)
        #expect(tree.tap(look["cancel"]))
        #expect(tree.nodes("alert").isEmpty && shop.journal.isEmpty)
        #expect(tree.tap(look["manage.remove"]))
        let yes = tree.nodes("alert").first?.all.first { $0.traits.contains("destructive") }
        #expect(yes?.name == look["manage.remove.yes"])
        yes?.action?()
        await tree.shows(look["state.deleting"])
        #expect(tree.button(look["manage.remove"]) == nil)
        barrier.open()
        await tree.shows(look["state.not-downloaded"])
        #expect(shop.journal == ["remove diary"])
    }

    @Test(arguments: Look.all) func aRemovalThatFailsIsSaid(_ look: Look) async {
        shop.delivery.have(LocalModel(Models.text))
        shop.delivery.failRemovals(FolderProblem.closed)
        let tree = look.show(await section())
        #expect(tree.tap(look["manage.remove"]))
        tree.nodes("alert").first?.all.first { $0.traits.contains("destructive") }?.action?()
        let sentence = look("the folder is closed", PageWords.refusals["permission-denied"] ?? "")
        await tree.shows { $0.nodes("alert").map(\.text) == [sentence] }
        #expect(tree.tap(look["close"]))
        #expect(tree.nodes("alert").isEmpty)
    }

    @Test(arguments: Look.all) func theVersionBeforeCanComeBack(_ look: Look) async {
        var local = LocalModel(Models.text.at("1.1.0"))
        local.previous = Models.text.identity
        shop.delivery.have(local)
        let tree = look.show(await section())
        let button = look["manage.rollback", ["version": "1.0.0"]]
        #expect(tree.tap(button))
        #expect(tree.nodes("alert").map(\.text) == [look["manage.rollback.title", ["name": "diary"]]])
        #expect(tree.texts.contains(look["manage.rollback.text", ["from": "1.1.0 q4_1", "to": "1.0.0"]]))
        look.expectGood(tree)
        #expect(tree.tap(look["cancel"]) && shop.journal.isEmpty)
        #expect(tree.tap(button) && tree.tap(look["manage.rollback.yes"]))
        await yielding { !shop.journal.isEmpty }
        #expect(shop.journal == ["rollBack diary"])
    }

    @Test(arguments: Look.all) func overValuesACardCallsItsActions(_ look: Look) {
        var (selected, downloaded) = (0, 0)
        func card(_ state: ModelDownloadState, _ isSelected: Bool = false) -> ViewTree {
            look.show(
                ModelSelectionCard(
                    model: Models.other, state: state, isSelected: isSelected, onSelect: { selected += 1 },
                    onDownload: { downloaded += 1 }))
        }
        let size = look.number("98.4 MB")
        #expect(card(.notDownloaded).tap(look["card.download", ["name": "poet", "size": ", \(size)"]]))
        #expect((selected, downloaded) == (0, 1))
        #expect(card(.downloaded).tap(look["card.select", ["name": "poet"]]))
        #expect(card(.downloaded, true).tap(look["card.chosen", ["name": "poet"]]))
        #expect((selected, downloaded) == (2, 1))
        #expect(!card(.downloading(progress: 0.5)).tap("poet"))
        #expect(card(.failed(.corrupted)).tap(look["card.retry", ["name": "poet"]]))
        #expect((selected, downloaded) == (2, 2))
        let disabled = look.show(
            ModelSelectionCard(
                model: Models.other, state: .downloaded, isSelected: false, onSelect: { selected += 1 }, onDownload: {}
            ).disabled(true))
        #expect(!disabled.tap(look["card.select", ["name": "poet"]]) && selected == 2)
        for state in [ModelDownloadState.notDownloaded, .downloaded, .failed(.corrupted), .waiting(.offline)] {
            look.expectGood(card(state))
        }
    }
}

/// A failure of the home folder.
enum FolderProblem {
    static let closed = FileError(.permissionDenied, "the folder is closed")
}
