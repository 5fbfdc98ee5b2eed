import Foundation
import Hearth
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthHTTP
import HearthTransfer
import SwiftUI

@testable import HearthUI

/// What the views of models show in each state, and what their buttons do.
@MainActor enum ModelViews {
    static let small = model("smollm2", name: "SmolLM2")

    static func run() async {
        cards()
        germanCard()
        seedCard()
        taps()
        progress()
        largeText()
        await downloading()
        await asking()
        await settings()
        await updating()
        await needed()
    }

    private static func tree(_ row: LibraryRow, locale: String = "en") -> ViewTree {
        ViewTree(ModelSelectionCard(row, onSelect: {}, onDownload: {}), locale: locale)
    }

    /// The state's text is the last of a card, and VoiceOver reads one element.
    private static func cards() {
        let local = LocalModel(small)
        let newer = OfferedModel(model("smollm2", version: "1.1.0", name: "SmolLM2"), isUpdate: true)
        let failure = FailureBody(code: "connection-lost", message: "the connection was lost")
        let states: [(LibraryRow, String, String)] = [
            (row(small), "Not downloaded", "Download SmolLM2, 98.4 MB"),
            (row(small, .download), "Downloading", "SmolLM2"),
            (row(small, .download, .reading(reading(.queued, 0))), "Queued", "SmolLM2"),
            (row(small, .download, .reading(reading(.connecting, 0))), "Connecting", "SmolLM2"),
            (row(small, .download, .reading(reading(.downloading))), "Downloading", "SmolLM2"),
            (row(small, .download, .reading(reading(.verifying, 98_400_000))), "Verifying", "SmolLM2"),
            (row(small, .download, .reading(reading(.extracting))), "Extracting", "SmolLM2"),
            (row(small, .download, .reading(reading(.installing))), "Installing", "SmolLM2"),
            (row(small, .download, .reading(reading(.probing))), "Testing", "SmolLM2"),
            (row(small, .download, .reading(reading(.retrying(attempt: 2, limit: 3)))), "Retrying, attempt 2 of 3", "SmolLM2"),
            (row(small, .download, .reading(reading(.waiting(.offline)))), "Waiting: No network", "SmolLM2"),
            (row(small, .download, .reading(reading(.waiting(.metered)))), "Waiting: Wi-Fi required", "SmolLM2"),
            (row(small, .download, .reading(reading(.waiting(.paused)))), "Paused", "SmolLM2"),
            (row(small, .download, .failed(failure)), "the connection was lost", "Try again: download SmolLM2 again"),
            (row(small, .local(local)), "Downloaded", "Use SmolLM2"),
            (row(small, .local(LocalModel(small, presence: .bundled))), "Came with the program", "Use SmolLM2"),
            (row(small, .local(local), .delete), "Being deleted", "SmolLM2"),
            (row(small, .local(local), .offered(newer)), "Update to 1.1.0 available", "Use SmolLM2"),
        ]
        for (row, state, name) in states {
            let tree = tree(row)
            expect(tree.texts.last, state)
            expect(tree.buttons.map(\.name), [name])
            expect(tree.buttons.first?.isDisabled, row.primaryAction == nil)
            expect(tree.spoken.count, 1)
            expect(tree.buttons.first?.value?.hasPrefix(state), true)
        }
        let objection = row(small, .offered(OfferedModel(small, objection: .notEnoughMemory(needed: 8_000_000_000))))
        expect(tree(objection).buttons.first?.isDisabled, true)
        expect(tree(objection).texts.last, Words(Locale(identifier: "en")).state(objection))
    }

    private static func germanCard() {
        var seeing = row(model("eyes", name: "Eyes", size: 1_900_000_000, seesImages: true, isVerified: false))
        seeing.isRecommended = true
        let tree = tree(seeing, locale: "de_DE")
        expect(
            tree.texts,
            ["Eyes", "Sehen", "Empfohlen", "Ungeprüft", "Small and quick", "1,9 GB", "1,2 GB RAM", "Nicht geladen"])
        expect(
            tree.spoken,
            ["Eyes laden, 1,9 GB | Nicht geladen, Sehen, Empfohlen, Ungeprüft, 1,9 GB, 1,2 GB RAM | button"])
        let failed = row(small, .download, .failed(FailureBody(code: "disk-full", message: "the disk is full")))
        expect(self.tree(failed, locale: "de").texts.last, Words.refusals["disk-full"])
    }

    /// The card of seed 004, over values.
    private static func seedCard() {
        let tree = ViewTree(
            ModelSelectionCard(
                model: .llama32_11B_Vision, state: .notDownloaded, isSelected: false, onSelect: {}, onDownload: {}))
        expect(tree.buttons.first?.isDisabled, true)
        let chosen = ViewTree(
            ModelSelectionCard(model: small, state: .downloaded, isSelected: true, onSelect: {}, onDownload: {}))
        expect(chosen.spoken, ["SmolLM2, in use | Downloaded, 98.4 MB, 1.2 GB RAM | button | selected"])
    }

    private static func taps() {
        var done: [String] = []
        let states: [(ModelState, [String])] = [
            (.notDownloaded, ["download"]), (.downloading(progress: 0.6), []), (.downloaded, ["select"]),
            (.waiting(.offline), []), (.failed(FailureBody(code: "x", message: "y")), ["download"]),
        ]
        for (state, expected) in states {
            done = []
            let tree = ViewTree(
                ModelSelectionCard(row(state), onSelect: { done.append("select") }, onDownload: { done.append("download") }))
            tree.tap(tree.buttons[0].name)
            expect(done, expected)
        }
    }

    private static func row(_ state: ModelState) -> LibraryRow {
        switch state {
        case .downloading: HearthViews.row(small, .download)
        case .waiting(let hold): HearthViews.row(small, .download, .reading(reading(.waiting(hold))))
        case .downloaded: HearthViews.row(small, .local(LocalModel(small)))
        case .failed(let failure): HearthViews.row(small, .download, .failed(failure))
        default: HearthViews.row(small)
        }
    }

    private static func row(_ model: ModelInfo, _ events: LibraryRowEvent...) -> LibraryRow {
        var row = HearthViews.row(model)
        for event in events { row.take(event) }
        return row
    }

    private static func progress() {
        var cancelled = 0
        let tree = ViewTree(ModelDownloadProgressView(model: small, progress: 0.459) { cancelled += 1 })
        expect(tree.texts, ["Downloading", "SmolLM2", "45%", "98.4 MB"])
        expect(tree.spoken, ["Downloading, SmolLM2", "Cancel download | button | cancel", "SmolLM2 | 45%, 98.4 MB"])
        expect(tree.tap("Cancel download"))
        expect(cancelled, 1)
        let unknown = ViewTree(ModelDownloadProgressView(model: small, progress: nil) {}, locale: "de")
        expect(unknown.texts, ["Download läuft", "SmolLM2", "98,4 MB"])
        for wrong in [Double.nan, -1, 7] {
            expect(ViewTree(ModelDownloadProgressView(model: small, progress: wrong) {}).texts.count, 4)
        }
    }

    private static func largeText() {
        let normal = ViewTree(ModelDownloadProgressView(model: small, progress: 0.5) {})
        let large = ViewTree(ModelDownloadProgressView(model: small, progress: 0.5) {}, size: .accessibility3)
        expect(normal.texts, large.texts)
        expect(normal.nodes("hstack").count, large.nodes("hstack").count + 1)
    }

    /// Bytes, percentage, rate and time left of a download in a library; then nothing.
    private static func downloading() async {
        let delivery = Delivery(offers: [OfferedModel(small)])
        let library = await library(delivery)
        let tree = ViewTree(DownloadProgressView(small, in: library))
        expect(tree.texts, [])
        try? library.download(small.id)
        expect(tree.isOutdated)
        tree.render()
        expect(tree.texts, ["Downloading", "SmolLM2", "98.4 MB"])
        await until { delivery.state.withLock { $0.reports.count } == 1 }
        delivery.report(small.id, reading(.downloading))
        await until { library.row(of: small.id)?.reading != nil }
        tree.render()
        expect(
            tree.texts, ["Downloading", "SmolLM2", "45%", "44.3 MB of 98.4 MB", "3.2 MB/s, 17 seconds left"])
        expect(tree.spoken.last, "SmolLM2 | 45%, 44.3 MB of 98.4 MB, 3.2 MB/s, 17 seconds left")
        let german = ViewTree(DownloadProgressView(small, in: library), locale: "de")
        expect(german.texts.suffix(2), ["44,3 MB von 98,4 MB", "3,2 MB/s, noch 17 Sekunden"])
        expect(tree.tap("Cancel download"))
        expect(library.downloadState(of: small.id), .idle)
        expect(tree.texts, [])
    }

    /// A refusal on a metered network asks, and a yes repeats the download with that permission.
    private static func asking() async {
        let delivery = Delivery(offers: [OfferedModel(small)])
        let library = await library(delivery)
        let tree = ViewTree(Text(verbatim: "models").cellularWarning(for: library))
        expect(tree.texts, ["models"])
        func refuse(_ code: String) async {
            await until { delivery.state.withLock { $0.ends.count } == 1 }
            delivery.end(small.id, .failure(FailureBody(code: code, message: "refused")))
            await until { if case .failed = library.downloadState(of: small.id) { true } else { false } }
            tree.render()
        }
        try? library.download(small.id)
        await refuse("metered-network")
        expect(
            tree.texts,
            [
                "models", "Download on a metered network?",
                "SmolLM2 is 98.4 MB. This network is metered. Fetch 98.4 MB now?", "Download now", "Cancel",
            ])
        expect(tree.tap("Download now"))
        expect(tree.texts, ["models"])
        await refuse("digest-missing")
        expect(tree.texts[1], "Download without verification?")
        expect(tree.tap("Download unverified"))
        await until { delivery.state.withLock { $0.pulls.count } == 3 }
        expect(
            delivery.state.withLock { $0.pulls.map(\.options) },
            [
                DownloadOptions(), DownloadOptions(metered: .allow),
                DownloadOptions(metered: .allow, allowsUnverified: true),
            ])
        await refuse("metered-network")
        expect(tree.tap("Cancel"))
        expect(library.downloadState(of: small.id), .idle)
        expect(tree.texts, ["models"])
    }

    /// The settings: an empty list, cards, a selection that is kept, a removal.
    private static func settings() async {
        let delivery = Delivery()
        let library = await library(delivery)
        let tree = ViewTree(SettingsView(library))
        await tree.runTasks()
        expect(tree.texts.prefix(2), ["Settings", "AI Model"])
        expect(tree.texts.last, "No models yet. Add a repository of the Hub or the address of a file.")
        expect(tree.spoken.prefix(2).contains("AI Model | header"))
        delivery.state.withLock { $0.local = [LocalModel(small)] }
        await library.refresh()
        tree.render()
        expect(tree.tap("Use SmolLM2"))
        await until { library.defaultModel == "smollm2" }
        tree.render()
        expect(tree.buttons.first?.name, "SmolLM2, in use")
        expect(tree.buttons.first?.traits.contains("selected"), true)
        expect(tree.tap("Remove"))
        expect(tree.texts.contains("Remove SmolLM2?") && tree.texts.contains("Frees 98.4 MB. You can download it again."))
        expect(tree.tap("Cancel"))
        expect(!tree.texts.contains("Remove SmolLM2?"))
        expect(tree.tap("Remove"))
        let yes = tree.nodes("alert").flatMap(\.all).first { $0.kind == "button" && $0.traits.contains("destructive") }
        yes?.action?()
        await until { delivery.state.withLock { $0.removed } == [small.id] }
        tree.render()
        expect(!tree.texts.contains("Remove SmolLM2?"))
    }

    private static func updating() async {
        let newer = model("smollm2", version: "1.1.0", name: "SmolLM2")
        let delivery = Delivery(offers: [OfferedModel(newer, isUpdate: true)], local: [LocalModel(small)])
        let library = await library(delivery)
        let tree = ViewTree(UpdateBanner(library))
        expect(tree.texts, ["SmolLM2", "Update to 1.1.0 (98.4 MB)"])
        expect(ViewTree(UpdateBanner(library), locale: "de").texts.last, "Update auf 1.1.0 (98,4 MB)")
        expect(tree.tap("Update to 1.1.0 (98.4 MB)"))
        expect(tree.texts, [])
        await until { delivery.state.withLock { $0.pulls.map(\.model.identity.version) } == [newer.identity.version] }
        delivery.end(small.id, .failure(CancellationError()))
    }

    private static func needed() async {
        let delivery = Delivery()
        let library = await library(delivery)
        let tree = ViewTree(DownloadModelButton(small, in: library))
        expect(tree.spoken, ["Download Model | SmolLM2, 98.4 MB | button"])
        expect(!library.hasModel(for: .text))
        expect(tree.tap("Download Model"))
        expect(tree.texts.first, "Downloading")
        await until { delivery.state.withLock { $0.ends.count } == 1 }
        delivery.arrive(small)
        await until { library.row(of: small.id)?.isUsable == true }
        tree.render()
        expect(tree.texts, [])
        expect(library.hasModel(for: .text))
    }
}
