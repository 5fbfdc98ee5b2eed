#if canImport(SwiftUI)
import HearthAssistant
import SwiftUI

/// The field for a question, with the button that sends it or stops the answer.
struct ChatComposer: View {
    private let chat: ChatViewModel
    @State private var draft = ""
    @Environment(\.locale) private var locale

    init(_ chat: ChatViewModel) { self.chat = chat }

    private var question: String { draft.trimmingCharacters(in: .whitespacesAndNewlines) }

    var body: some View {
        let words = Words(locale)
        HStack(alignment: .bottom) {
            TextField(words("composer.label"), text: $draft, axis: .vertical)
                .lineLimit(1...6)
                .textFieldStyle(.roundedBorder)
                .onSubmit(send)
            if chat.isAnswering {
                Button {
                    chat.stop()
                } label: {
                    Image(systemName: "stop.circle.fill").font(.title2)
                }
                .accessibilityLabel(words("composer.stop"))
            } else {
                Button(action: send) { Image(systemName: "arrow.up.circle.fill").font(.title2) }
                    .accessibilityLabel(words("composer.send"))
                    .disabled(question.isEmpty)
            }
        }
        .buttonStyle(.plain)
        .padding()
    }

    private func send() {
        guard !question.isEmpty, !chat.isAnswering else { return }
        chat.sendMessage(question)
        draft = ""
    }
}
#endif
