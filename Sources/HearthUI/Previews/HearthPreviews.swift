#if canImport(SwiftUI)
import Hearth
import HearthAssistant
import HearthBase
import HearthCatalog
import HearthTransfer
import SwiftUI

/// The views in their states, for Xcode's canvas. The words follow the canvas's language.
struct HearthPreviews: PreviewProvider {
    static var previews: some View {
        ScrollView {
            VStack(spacing: 16) { ForEach(rows) { ModelSelectionCard($0, onSelect: {}, onDownload: {}) } }.padding()
        }
        .previewDisplayName("Model cards")
        VStack(spacing: 16) {
            ModelDownloadProgressView(model: model("smollm2", 98_400_000), progress: 0.45) {}
            ModelDownloadProgressView(model: model("eyes", 1_900_000_000), progress: nil) {}
        }
        .padding()
        .previewDisplayName("Downloads")
        VStack { ForEach(cards) { ActionCardView($0, actions: CardActions(isWaiting: $0.state == .proposed)) } }
            .padding()
            .previewDisplayName("Actions")
    }

    private static func model(_ name: String, _ size: UInt64) -> ModelInfo {
        guard let family = Family(name) else { preconditionFailure("\(name) is a name") }
        return ModelInfo(
            identity: ReleaseIdentity(family: family, version: ReleaseVersion(SemanticVersion(1, 0, 0))),
            summary: "Answers short questions", seesImages: name == "eyes", size: size, requiredMemory: size * 5 / 4)
    }

    private static var rows: [LibraryRow] {
        let reading = TransferProgress(
            state: .downloading, completedBytes: 44_280_000, totalBytes: 98_400_000, bytesPerSecond: 3_200_000)
        let failure = FailureBody(code: "connection-lost", message: "The connection was lost.")
        let states: [(String, [LibraryRowEvent])] = [
            ("offered", []), ("moving", [.download, .reading(reading)]), ("failed", [.download, .failed(failure)]),
            ("here", [.local(LocalModel(model("here", 98_400_000)))]),
        ]
        return states.map { name, events in
            var row = LibraryRow(model(name, 98_400_000))
            for event in events { row.take(event) }
            row.isSelected = name == "here"
            return row
        }
    }

    private static var cards: [ActionCard] {
        [ActionCard.State.proposed, .done, .failed].map { state in
            var card = ActionCard(
                id: state.rawValue, tag: .note, title: "New note",
                fields: [.init(name: "title", label: "Title", value: "The spare key is at Anna’s")], state: state,
                payload: "{}", canUndo: state == .done)
            card.code = "new-note"
            return card
        }
    }
}
#endif
