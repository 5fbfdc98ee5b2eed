import Foundation

extension View {
    /// A presentation, which any of its buttons ends.
    func presented<A: View, M: View>(
        _ kind: String, _ title: String, _ isPresented: Binding<Bool>, _ actions: A, _ message: M
    ) -> Changed<Self> {
        after { nodes, recorder in
            guard isPresented.wrappedValue else { return nodes }
            let shown = TreeNode(
                kind, recorder.nodes(of: message, at: "message") + recorder.nodes(of: actions, at: "actions"))
            shown.text = title
            for button in shown.all where button.kind == "button" {
                let action = button.action
                button.action = {
                    isPresented.wrappedValue = false
                    action?()
                }
            }
            return nodes + [shown]
        }
    }

    // developer.apple.com/documentation/swiftui/view/alert(_:ispresented:actions:message:)
    @_disfavoredOverload public func alert<S: StringProtocol, A: View, M: View>(
        _ title: S, isPresented: Binding<Bool>, @ViewBuilder actions: () -> A, @ViewBuilder message: () -> M
    ) -> some View { presented("alert", String(title), isPresented, actions(), message()) }
    @_disfavoredOverload public func alert<S: StringProtocol, A: View>(
        _ title: S, isPresented: Binding<Bool>, @ViewBuilder actions: () -> A
    ) -> some View { presented("alert", String(title), isPresented, actions(), EmptyView()) }

    // developer.apple.com/documentation/swiftui/view/confirmationdialog(_:ispresented:titlevisibility:actions:message:)
    @_disfavoredOverload public func confirmationDialog<S: StringProtocol, A: View, M: View>(
        _ title: S, isPresented: Binding<Bool>, titleVisibility: Visibility = .automatic, @ViewBuilder actions: () -> A,
        @ViewBuilder message: () -> M
    ) -> some View { presented("dialog", String(title), isPresented, actions(), message()) }

    // developer.apple.com/documentation/swiftui/view/confirmationdialog(_:ispresented:titlevisibility:actions:)
    public func confirmationDialog<A: View>(
        _ titleKey: LocalizedStringKey, isPresented: Binding<Bool>, titleVisibility: Visibility = .automatic,
        @ViewBuilder actions: () -> A
    ) -> some View { presented("dialog", titleKey.text, isPresented, actions(), EmptyView()) }

    // developer.apple.com/documentation/swiftui/view/sheet(ispresented:ondismiss:content:)
    public func sheet<Content: View>(
        isPresented: Binding<Bool>, onDismiss: (() -> Void)? = nil, @ViewBuilder content: @escaping () -> Content
    ) -> some View {
        after { nodes, recorder in
            guard isPresented.wrappedValue else { return nodes }
            return nodes + [TreeNode("sheet", recorder.nodes(of: content(), at: "sheet"))]
        }
    }

    // developer.apple.com/documentation/swiftui/view/contextmenu(menuitems:)
    public func contextMenu<M: View>(@ViewBuilder menuItems: () -> M) -> some View { beside("menu", menuItems()) }

    // developer.apple.com/documentation/swiftui/view/toolbar(content:)
    public func toolbar<Content: View>(@ViewBuilder content: () -> Content) -> some View { beside("toolbar", content()) }

    // developer.apple.com/documentation/swiftui/view/navigationtitle(_:)
    @_disfavoredOverload public func navigationTitle<S: StringProtocol>(_ title: S) -> some View {
        let title = String(title)
        return after { nodes, _ in
            let node = TreeNode("title", text: title)
            node.traits = ["header"]
            return [node] + nodes
        }
    }
    public func navigationTitle(_ titleKey: LocalizedStringKey) -> some View { navigationTitle(titleKey.text) }

    // developer.apple.com/documentation/swiftui/view/tabitem(_:)
    public func tabItem<V: View>(@ViewBuilder _ label: () -> V) -> some View { beside("tab", label()) }
}

// developer.apple.com/documentation/swiftui/contentunavailableview
public struct ContentUnavailableView<Label: View, Description: View, Actions: View>: View, Recorded {
    let label: Label
    let description: Description
    let actions: Actions
    public init(
        @ViewBuilder label: () -> Label, @ViewBuilder description: () -> Description = { EmptyView() },
        @ViewBuilder actions: () -> Actions = { EmptyView() }
    ) { (self.label, self.description, self.actions) = (label(), description(), actions()) }
    public var body: Never { fatalError("this view has no body") }
    func record(_ recorder: Recorder) -> [TreeNode] {
        [
            TreeNode(
                "unavailable", recorder.nodes(of: label, at: "label") + recorder.nodes(of: description, at: "description")
                    + recorder.nodes(of: actions, at: "actions"))
        ]
    }
}
