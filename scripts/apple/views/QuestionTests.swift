// Questions before a download, and the button that an app has where a model is missing.
import HearthDelivery
import HearthHTTP
import HearthUI
import SwiftUI
import Testing

@testable import Hearth

/// Questions before a download, and the button that an app has where a model is missing.
@MainActor @Suite(.timeLimit(.minutes(1))) struct QuestionTests {
    private let shop = Shop()
    private let metered = NetworkError(.meteredNetwork, "the network is metered")
    private let unverified = DeliveryError(.digestMissing, "the publisher gives no digest")

    @Test(arguments: Look.all) func theButtonBecomesTheDownload(_ look: Look) async throws {
        let barrier = shop.hold(Models.text, at: Shop.reading)
        let tree = look.show(DownloadModelButton(Models.text, in: shop.library))
        let button = try #require(tree.button(look["download.model"]))
        #expect(button.hint == "diary, \(look.number("98.4 MB"))")
        look.expectGood(tree)
        #expect(tree.tap(button.name))
        await tree.shows("45%")
        #expect(tree.button(button.name) == nil && tree.button(look["download.cancel"]) != nil)
        barrier.open()
        await tree.shows { $0.root.children.isEmpty }
        #expect(shop.library.hasModel(for: .text))
    }

    @Test(arguments: Look.all) func aRefusalIsSaid(_ look: Look) async {
        shop.delivery.offer(OfferedModel(Models.text, objection: .notEnoughMemory(needed: 9_000_000_000)))
        await shop.library.refresh()
        let tree = look.show(DownloadModelButton(Models.text, in: shop.library))
        #expect(tree.tap(look["download.model"]))
        let sentence = look("This model requires 9 GB RAM", PageWords.refusals["not-enough-memory"] ?? "")
        #expect(tree.nodes("alert").first?.text?.hasPrefix(sentence) == true)
        look.expectGood(tree)
        #expect(tree.tap(look["close"]) && tree.nodes("alert").isEmpty)
    }

    @Test(arguments: Look.all) func aMeteredNetworkIsAskedAbout(_ look: Look) async {
        let tree = look.show(DownloadModelButton(Models.text, in: shop.library))
        shop.delivery.script(Models.text, [.fail(metered)], [.fail(metered)])
        #expect(tree.tap(look["download.model"]))
        await tree.shows { !$0.nodes("dialog").isEmpty }
        #expect(tree.nodes("dialog").map(\.text) == [look["ask.metered.title"]])
        #expect(
            tree.texts.contains(look["ask.metered.text", ["name": "diary", "size": look.number("98.4 MB")]]))
        look.expectGood(tree)
        #expect(tree.tap(look["cancel"]))
        #expect(tree.nodes("dialog").isEmpty && shop.library.downloadState(of: Models.text.id) == .idle)
        #expect(tree.tap(look["download.model"]))
        await tree.shows { !$0.nodes("dialog").isEmpty }
        #expect(tree.tap(look["ask.metered.yes"]))
        await tree.shows { $0.root.children.isEmpty }
        #expect(shop.delivery.metered == [.deny, .deny, .allow])
        #expect(shop.delivery.options.map(\.allowsUnverified) == [false, false, false])
    }

    /// A second question adds to the first permission.
    @Test(arguments: Look.all) func aFileWithoutADigestIsAskedAboutToo(_ look: Look) async {
        let tree = look.show(Form { ModelSettingsSection(shop.library) })
        shop.delivery.offer(OfferedModel(Models.text), OfferedModel(Models.other))
        shop.delivery.script(Models.text, [.fail(metered)], [.fail(unverified)])
        await shop.library.refresh()
        tree.render()
        #expect(tree.tap(look["card.download", ["name": "diary", "size": ", \(look.number("98.4 MB"))"]]))
        await tree.shows { $0.nodes("dialog").map(\.text) == [look["ask.metered.title"]] }
        #expect(tree.tap(look["ask.metered.yes"]))
        await tree.shows { $0.nodes("dialog").map(\.text) == [look["ask.unverified.title"]] }
        #expect(tree.texts.contains(look["ask.unverified.text", ["name": "diary"]]))
        let yes = tree.button(look["ask.unverified.yes"])
        #expect(yes?.traits.contains("destructive") == true)
        look.expectGood(tree)
        #expect(tree.tap(look["ask.unverified.yes"]))
        await tree.shows(look["state.downloaded"])
        #expect(shop.delivery.options.last == DownloadOptions(metered: .allow, allowsUnverified: true))
    }

    /// The modifier for a screen of an app's own asks about every model, one after the other.
    @Test(arguments: Look.all) func aScreenAsksAboutEachModel(_ look: Look) async {
        shop.delivery.offer(OfferedModel(Models.text), OfferedModel(Models.other))
        await shop.library.refresh()
        let tree = look.show(Text(verbatim: "Models").cellularWarning(for: shop.library))
        #expect(tree.nodes("dialog").isEmpty)
        for model in [Models.text, Models.other] {
            shop.delivery.script(model, [.fail(metered)])
            try? shop.library.download(model.id)
        }
        await until { shop.library.rows.allSatisfy { if case .failed = $0.download { true } else { false } } }
        for name in ["diary", "poet"] {
            let text = look["ask.metered.text", ["name": name, "size": look.number("98.4 MB")]]
            await tree.shows(text)
            #expect(tree.tap(look["cancel"]))
        }
        #expect(tree.nodes("dialog").isEmpty)
        #expect(shop.library.rows.map(\.download) == [.idle, .idle])
    }
}
