// The previews show what they promise, and each view has one.
import Foundation
import SwiftUI
import Testing

@testable import HearthUI

/// The previews show what they promise, and each view has one.
@MainActor @Suite(.timeLimit(.minutes(1))) struct PreviewTests {
    @Test(arguments: Look.all) func theLibraryIsShown(_ look: Look) async {
        let tree = look.show(LibraryPreviews.previews)
        await tree.runTasks()
        let bytes = look["download.bytes", ["done": look.number("44.3 MB"), "total": look.number("98.4 MB")]]
        await tree.shows { tree in
            // The section's, and the one of a library.
            tree.texts.filter { $0 == bytes }.count == 2 && !tree.nodes("dialog").isEmpty
        }
        look.expectGood(tree)
        let update = look["card.update", ["version": "2.0.0", "size": look.number("98.4 MB")]]
        #expect(tree.buttons.filter { $0.name == update }.count == 3)
        #expect(tree.button(look["download.model"]) != nil)
        #expect(tree.nodes("dialog").map(\.text) == [look["ask.metered.title"]])
    }

    @Test(arguments: Look.all) func theChatIsShown(_ look: Look) async {
        let tree = look.show(ChatPreviews.previews)
        await tree.runTasks()
        look.expectGood(tree)
        #expect(tree.spoken.filter { $0 == "\(look["chat.you"]): When is high water?" }.count == 2)
        #expect(tree.button(look["chat.thinking"]) != nil)
        #expect(tree.texts.filter { $0 == look["card.state.done"] }.count == 6)
    }

    @Test(arguments: Look.all) func theCardsAreShown(_ look: Look) {
        let tree = look.show(HearthPreviews.previews)
        #expect(tree.button(look["card.chosen", ["name": "here"]]) != nil)
        #expect(tree.buttons.filter { $0.name == look["download.cancel"] }.count == 2)
        #expect(tree.button(look["card.approve"]) != nil && tree.button(look["undo"]) != nil)
    }

    @Test func eachViewHasAPreviewAndTextThatGrows() throws {
        let files = FileManager.default.enumerator(atPath: "Sources/HearthUI")?.compactMap { $0 as? String } ?? []
        let sources = try files.filter { $0.hasSuffix(".swift") }.map { path in
            (path, try String(contentsOfFile: "Sources/HearthUI/\(path)", encoding: .utf8))
        }
        let previews = sources.filter { $0.0.hasPrefix("Previews/") }.map(\.1).joined()
        let views = sources.flatMap { $0.1.matches(of: #/public struct (\w+): View/#).map { String($0.1) } }
        #expect(views.count > 10)
        #expect(views.filter { !previews.contains("\($0)(") && !previews.contains("\($0)<") } == [])
        // Texts of a fixed size would not follow the reader's setting.
        #expect(sources.filter { $0.1.contains(".system(size:") || $0.1.contains("minimumScaleFactor") }.map(\.0) == [])
    }
}
