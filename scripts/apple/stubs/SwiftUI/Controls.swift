import Foundation

// developer.apple.com/documentation/swiftui/buttonrole
public struct ButtonRole: Equatable, Sendable {
    let name: String
    public static let destructive = ButtonRole(name: "destructive"), cancel = ButtonRole(name: "cancel")
}

// developer.apple.com/documentation/swiftui/button
public struct Button<Label: View>: View, Recorded {
    let role: ButtonRole?
    let action: @MainActor () -> Void
    let label: Label
    @preconcurrency public init(action: @escaping @MainActor () -> Void, @ViewBuilder label: () -> Label) {
        (role, self.action, self.label) = (nil, action, label())
    }
    @preconcurrency public init(role: ButtonRole?, action: @escaping @MainActor () -> Void, @ViewBuilder label: () -> Label) {
        (self.role, self.action, self.label) = (role, action, label())
    }
    public var body: Never { fatalError("this view has no body") }
    func record(_ recorder: Recorder) -> [TreeNode] {
        let node = TreeNode("button", recorder.nodes(of: label, at: "label"))
        node.action = action
        node.isDisabled = !recorder.environment.isEnabled
        if let role { node.traits.insert(role.name) }
        return [node]
    }
}

extension Button where Label == Text {
    @preconcurrency @_disfavoredOverload public init<S: StringProtocol>(_ title: S, role: ButtonRole? = nil, action: @escaping @MainActor () -> Void) {
        self.init(role: role, action: action) { Text(title) }
    }
    @preconcurrency public init(_ titleKey: LocalizedStringKey, role: ButtonRole? = nil, action: @escaping @MainActor () -> Void) {
        self.init(role: role, action: action) { Text(titleKey) }
    }
}

extension Button where Label == SwiftUI.Label<Text, Image> {
    @preconcurrency @_disfavoredOverload public init<S: StringProtocol>(
        _ title: S, systemImage: String, role: ButtonRole? = nil, action: @escaping @MainActor () -> Void
    ) {
        self.init(role: role, action: action) { SwiftUI.Label(title, systemImage: systemImage) }
    }
}

// developer.apple.com/documentation/swiftui/menu
public struct Menu<Label: View, Content: View>: View, Recorded {
    let label: Label
    let content: Content
    public init(@ViewBuilder content: () -> Content, @ViewBuilder label: () -> Label) {
        (self.label, self.content) = (label(), content())
    }
    public var body: Never { fatalError("this view has no body") }
    func record(_ recorder: Recorder) -> [TreeNode] {
        [TreeNode("menu", recorder.nodes(of: label, at: "label") + recorder.nodes(of: content, at: "menu"))]
    }
}

// developer.apple.com/documentation/swiftui/toggle
public struct Toggle<Label: View>: View, Recorded {
    let isOn: Binding<Bool>
    let label: Label
    public init(isOn: Binding<Bool>, @ViewBuilder label: () -> Label) { (self.isOn, self.label) = (isOn, label()) }
    public var body: Never { fatalError("this view has no body") }
    func record(_ recorder: Recorder) -> [TreeNode] {
        let node = TreeNode("toggle", recorder.nodes(of: label, at: "label"))
        node.value = isOn.wrappedValue ? "on" : "off"
        node.action = { isOn.wrappedValue.toggle() }
        node.isDisabled = !recorder.environment.isEnabled
        return [node]
    }
}
extension Toggle where Label == Text {
    @_disfavoredOverload public init<S: StringProtocol>(_ title: S, isOn: Binding<Bool>) {
        self.init(isOn: isOn) { Text(title) }
    }
}

// developer.apple.com/documentation/swiftui/textfield
public struct TextField<Label: View>: View, Recorded {
    let text: Binding<String>
    let label: Label
    public var body: Never { fatalError("this view has no body") }
    func record(_ recorder: Recorder) -> [TreeNode] {
        let node = TreeNode("field", recorder.nodes(of: label, at: "label"))
        node.value = text.wrappedValue
        node.write = { text.wrappedValue = $0 }
        node.submit = recorder.submit
        node.isDisabled = !recorder.environment.isEnabled
        return [node]
    }
}
extension TextField where Label == Text {
    @_disfavoredOverload public init<S: StringProtocol>(_ title: S, text: Binding<String>) {
        (self.text, label) = (text, Text(title))
    }
    @_disfavoredOverload public init<S: StringProtocol>(_ title: S, text: Binding<String>, axis: Axis) {
        (self.text, label) = (text, Text(title))
    }
}

// developer.apple.com/documentation/swiftui/progressview
public struct ProgressView<Label: View, CurrentValueLabel: View>: View, Recorded {
    let fraction: Double?
    let label: Label
    public var body: Never { fatalError("this view has no body") }
    func record(_ recorder: Recorder) -> [TreeNode] {
        let node = TreeNode("progress", recorder.nodes(of: label, at: "label"))
        node.value = fraction.map { "\(Int($0 * 100))%" }
        return [node]
    }
}
extension ProgressView where Label == EmptyView, CurrentValueLabel == EmptyView {
    public init() { (fraction, label) = (nil, EmptyView()) }
    public init<V: BinaryFloatingPoint>(value: V?, total: V = 1) {
        (fraction, label) = (value.map { Double($0 / total) }, EmptyView())
    }
}
extension ProgressView where CurrentValueLabel == EmptyView {
    public init(@ViewBuilder label: () -> Label) { (fraction, self.label) = (nil, label()) }
    public init<V: BinaryFloatingPoint>(value: V?, total: V = 1, @ViewBuilder label: () -> Label) {
        (fraction, self.label) = (value.map { Double($0 / total) }, label())
    }
}

// developer.apple.com/documentation/swiftui/disclosuregroup
public struct DisclosureGroup<Label: View, Content: View>: View, Recorded {
    let isExpanded: Binding<Bool>
    let content: () -> Content
    let label: Label
    public init(isExpanded: Binding<Bool>, @ViewBuilder content: @escaping () -> Content, @ViewBuilder label: () -> Label) {
        (self.isExpanded, self.content, self.label) = (isExpanded, content, label())
    }
    public var body: Never { fatalError("this view has no body") }
    func record(_ recorder: Recorder) -> [TreeNode] {
        let head = TreeNode("button", recorder.nodes(of: label, at: "label"))
        head.value = isExpanded.wrappedValue ? "expanded" : "collapsed"
        head.action = { isExpanded.wrappedValue.toggle() }
        return [TreeNode("disclosure", [head] + (isExpanded.wrappedValue ? recorder.nodes(of: content(), at: "open") : []))]
    }
}

// developer.apple.com/documentation/swiftui/picker
public struct Picker<Label: View, SelectionValue: Hashable, Content: View>: View, Recorded {
    let selection: Binding<SelectionValue>
    let content: Content
    let label: Label
    public init(selection: Binding<SelectionValue>, @ViewBuilder content: () -> Content, @ViewBuilder label: () -> Label) {
        (self.selection, self.content, self.label) = (selection, content(), label())
    }
    public var body: Never { fatalError("this view has no body") }
    func record(_ recorder: Recorder) -> [TreeNode] {
        let node = TreeNode("picker", recorder.nodes(of: label, at: "label") + recorder.nodes(of: content, at: "choices"))
        node.value = "\(selection.wrappedValue)"
        return [node]
    }
}

// developer.apple.com/documentation/swiftui/link
public struct Link<Label: View>: View, Recorded {
    let destination: URL
    let label: Label
    public init(destination: URL, @ViewBuilder label: () -> Label) { (self.destination, self.label) = (destination, label()) }
    public var body: Never { fatalError("this view has no body") }
    func record(_ recorder: Recorder) -> [TreeNode] {
        let node = TreeNode("link", recorder.nodes(of: label, at: "label"))
        node.value = destination.absoluteString
        return [node]
    }
}
