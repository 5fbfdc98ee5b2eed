#if canImport(SwiftUI)
import SwiftUI

extension View {
    /// Shows why an action failed until the user has read it.
    func problem(_ text: Binding<String?>) -> some View { modifier(Problem(text: text)) }
}

extension Optional {
    /// Whether there is a value; `false` removes it. For the binding of a presentation.
    var isPresent: Bool {
        get { self != nil }
        set { if !newValue { self = nil } }
    }
}

private struct Problem: ViewModifier {
    @Binding var text: String?
    @Environment(\.locale) private var locale

    func body(content: Content) -> some View {
        content.alert(text ?? "", isPresented: $text.isPresent) {
            Button(Words(locale)("close"), role: .cancel) { text = nil }
        }
    }
}
#endif
