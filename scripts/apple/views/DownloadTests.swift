// A download from the tap to the model in use, and its ends.
import HearthTransfer
import HearthUI
import SwiftUI
import Testing

@testable import Hearth

/// A download from the tap to the model in use, and its ends.
@MainActor @Suite(.timeLimit(.minutes(1))) struct DownloadTests {
    private let shop = Shop()

    @Test(arguments: Look.all) func aTapDownloadsThenSelects(_ look: Look) async throws {
        shop.delivery.offer(OfferedModel(Models.text), OfferedModel(Models.vision))
        let (moving, checking) = (Barrier(), Barrier())
        shop.delivery.script(
            Models.text,
            [.report(Shop.reading), .wait(moving), .report(.received), .wait(checking)])
        let tree = look.show(SettingsView(shop.library))
        #expect(tree.nodes("title").map(\.text) == [look["nav.settings"]])
        await tree.runTasks()
        #expect(tree.nodes("section").first?.children.first?.text == look["models.section"])
        let offered = look["card.download", ["name": "diary", "size": ", \(look.number("98.4 MB"))"]]
        let figures = look.number("98.4 MB, 4.3 GB RAM")
        #expect(tree.button(offered)?.value == "\(look["state.not-downloaded"]), \(figures)")
        look.expectGood(tree)

        #expect(tree.tap(offered))
        await tree.shows("45%")
        let bytes = look["download.bytes", ["done": look.number("44.3 MB"), "total": look.number("98.4 MB")]]
        let left = look["download.left", ["time": look["time.seconds.other", ["n": "17"]]]]
        let pace = "\(look.number("3.2 MB"))/s, \(left)"
        let bar = try #require(tree.nodes("progress").first)
        #expect(bar.name == "diary" && bar.value == "45%, \(bytes), \(pace)" && bar.traits.contains("updates"))
        #expect(tree.layout(of: "45%", bytes) == look.row)
        #expect(tree.texts.contains(pace))
        // The bar says the figures; the texts below it are not said again.
        #expect(!tree.spoken.contains("45%") && !tree.spoken.contains(pace))
        #expect(tree.spoken.contains("\(look["phase.downloading"]), diary"))
        let card = try #require(tree.button("diary"))
        #expect(card.isDisabled && card.value == "\(look["phase.downloading"]), \(figures)")
        #expect(!tree.tap("diary"))
        look.expectGood(tree)

        moving.open()
        await tree.shows(look["phase.verifying"])
        #expect(tree.nodes("progress").first?.value?.hasPrefix("100%") == true)
        checking.open()
        await tree.shows(look["state.downloaded"])
        #expect(tree.nodes("progress").isEmpty)
        let chosen = try #require(tree.button(look["card.chosen", ["name": "diary"]]))
        #expect(chosen.traits.contains("selected"))
        #expect(chosen.value == "\(look["state.downloaded"]), \(look["badge.active"]), \(figures)")
        look.expectGood(tree)
        #expect(tree.tap(chosen.name))
        await yielding { shop.setting.text != nil }
        #expect(shop.setting.text == "diary")
    }

    @Test(arguments: Look.all) func cancelDiscardsTheBytes(_ look: Look) async {
        shop.delivery.offer(OfferedModel(Models.text))
        _ = shop.hold(Models.text, at: Shop.reading)
        await shop.library.refresh()
        let tree = look.show(Form { ModelSettingsSection(shop.library) })
        #expect(tree.tap(look["card.download", ["name": "diary", "size": ", \(look.number("98.4 MB"))"]]))
        await tree.shows("45%")
        #expect(tree.tap(look["download.cancel"]))
        await yielding { shop.journal.last == "discard diary" }
        #expect(shop.journal == ["pull diary", "left diary", "discard diary"])
        tree.render()
        #expect(tree.nodes("progress").isEmpty && tree.texts.contains(look["state.not-downloaded"]))
    }

    private struct Phase: Sendable {
        var state: TransferState
        var key: String
        var values: [String: String] = [:]
        var repeated: UInt64 = 0
    }

    /// As `phaseText` of the page has it.
    private nonisolated static let phases = [
        Phase(state: .queued, key: "phase.queued"), Phase(state: .connecting, key: "phase.connecting"),
        Phase(state: .downloading, key: "phase.downloading"),
        Phase(state: .downloading, key: "phase.again", repeated: 1000),
        Phase(state: .verifying, key: "phase.verifying"), Phase(state: .extracting, key: "phase.extracting"),
        Phase(state: .installing, key: "phase.installing"), Phase(state: .preparing, key: "phase.preparing"),
        Phase(state: .probing, key: "phase.probing"), Phase(state: .waiting(.offline), key: "phase.hold.offline"),
        Phase(state: .waiting(.metered), key: "phase.hold.metered"),
        Phase(state: .waiting(.paused), key: "phase.paused"),
        Phase(state: .retrying(attempt: 2, limit: 3), key: "phase.retrying"),
    ]

    @Test(arguments: Look.all, phases.indices) func eachPhaseHasItsWords(_ look: Look, _ index: Int) async {
        let phase = Self.phases[index]
        _ = shop.hold(
            Models.text,
            at: TransferProgress(
                state: phase.state, completedBytes: 44_280_000, totalBytes: 98_400_000, repeatedBytes: phase.repeated))
        shop.delivery.offer(OfferedModel(Models.text))
        await shop.library.refresh()
        try? shop.library.download(Models.text.id)
        await until { shop.library.row(of: Models.text.id)?.reading != nil }
        let expected =
            switch phase.state {
            case .waiting(let hold) where hold != .paused: look["phase.waiting-for", ["reason": look[phase.key]]]
            case .retrying: look["phase.retrying", ["attempt": "2", "attempts": "3"]]
            default: look[phase.key]
            }
        let tree = look.show(DownloadProgressView(Models.text, in: shop.library))
        #expect(tree.texts.first == expected)
        look.expectGood(tree)
        let section = look.show(Form { ModelSettingsSection(shop.library) })
        #expect(section.button("diary")?.value?.hasPrefix(expected) == true)
    }

    @Test(arguments: Look.all) func aFailureIsSaidAndTriedAgain(_ look: Look) async {
        shop.delivery.offer(OfferedModel(Models.text))
        shop.delivery.script(Models.text, [.report(Shop.reading), .fail(Shop.lost)], [], [.fail(Shop.lost)])
        await shop.library.refresh()
        let tree = look.show(Form { ModelSettingsSection(shop.library) })
        #expect(tree.tap(look["card.download", ["name": "diary", "size": ", \(look.number("98.4 MB"))"]]))
        let sentence = look("Network error: the connection broke", PageWords.refusals["network-error"] ?? "")
        await tree.shows(sentence)
        look.expectGood(tree)
        let again = look["card.retry", ["name": "diary"]]
        #expect(tree.button(again)?.value?.hasPrefix(sentence) == true)
        #expect(tree.tap(look["download.discard"]))
        await yielding { shop.journal.last == "discard diary" }
        await tree.shows(look["state.not-downloaded"])
        #expect(tree.button(look["download.discard"]) == nil)
        try? shop.library.download(Models.text.id)
        await tree.shows(look["state.downloaded"])
    }

    @Test(arguments: Look.all) func overValuesItIsTheSame(_ look: Look) {
        var cancelled = 0
        let tree = look.show(ModelDownloadProgressView(model: Models.text, progress: 0.456) { cancelled += 1 })
        #expect(tree.texts == [look["phase.downloading"], "diary", "45%", look.number("98.4 MB")])
        #expect(tree.nodes("progress").first?.value == "45%, \(look.number("98.4 MB"))")
        #expect(tree.tap(look["download.cancel"]) && cancelled == 1)
        look.expectGood(tree)
        let unknown = look.show(ModelDownloadProgressView(model: Models.text, progress: nil) {})
        #expect(unknown.texts == [look["phase.downloading"], "diary", look.number("98.4 MB")])
        #expect(unknown.nodes("progress").first?.value == look.number("98.4 MB"))
    }

    @Test func withoutADownloadItShowsNothing() async {
        shop.delivery.have(LocalModel(Models.text))
        await shop.library.refresh()
        for model in [Models.text, Models.other] {
            #expect(Look.english.show(DownloadProgressView(model, in: shop.library)).root.children.isEmpty)
        }
    }
}
