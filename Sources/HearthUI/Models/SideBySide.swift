#if canImport(SwiftUI)
import SwiftUI

/// Views beside each other; below each other when the text is so large that they would not fit.
struct SideBySide<Content: View>: View {
    private let content: Content
    @Environment(\.dynamicTypeSize) private var size

    init(@ViewBuilder content: () -> Content) { self.content = content() }

    var body: some View {
        let layout =
            size.isAccessibilitySize
            ? AnyLayout(VStackLayout(alignment: .leading)) : AnyLayout(HStackLayout(alignment: .center))
        layout { content }
    }
}
#endif
