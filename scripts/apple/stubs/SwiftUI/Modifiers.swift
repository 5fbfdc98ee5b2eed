import Foundation
import Observation

/// A view whose nodes or surroundings are changed.
/// For tests on Linux: our own, not Apple's.
public struct Changed<Content: View>: View, Recorded {
    let content: Content
    let before: @MainActor (Recorder) -> Void
    let after: @MainActor ([TreeNode], Recorder) -> [TreeNode]
    public var body: Never { fatalError("this view has no body") }
    func record(_ recorder: Recorder) -> [TreeNode] {
        let (environment, submit) = (recorder.environment, recorder.submit)
        before(recorder)
        let nodes = recorder.nodes(of: content, at: "m")
        (recorder.environment, recorder.submit) = (environment, submit)
        return after(nodes, recorder)
    }
}

extension View {
    func before(_ change: @escaping @MainActor (Recorder) -> Void) -> Changed<Self> {
        Changed(content: self, before: change) { nodes, _ in nodes }
    }
    func after(_ change: @escaping @MainActor ([TreeNode], Recorder) -> [TreeNode]) -> Changed<Self> {
        Changed(content: self, before: { _ in }, after: change)
    }
    /// Changes the one node of a view, which is a group if there are several.
    func node(_ change: @escaping @MainActor (TreeNode) -> Void) -> Changed<Self> {
        after { nodes, _ in
            guard !nodes.isEmpty else { return [] }
            let node = nodes.count == 1 ? nodes[0] : TreeNode("group", nodes)
            change(node)
            return [node]
        }
    }
    func unchanged() -> Changed<Self> { after { nodes, _ in nodes } }
    func beside<V: View>(_ kind: String, _ more: V) -> Changed<Self> {
        after { nodes, recorder in
            let children = recorder.nodes(of: more, at: kind)
            return children.isEmpty ? nodes : nodes + [TreeNode(kind, children)]
        }
    }
}

// developer.apple.com/documentation/swiftui/view-layout
extension View {
    public func padding(_ edges: Edge.Set = .all, _ length: CGFloat? = nil) -> some View { unchanged() }
    public func padding(_ length: CGFloat) -> some View { unchanged() }
    public func frame(width: CGFloat? = nil, height: CGFloat? = nil, alignment: Alignment = .center) -> some View { unchanged() }
    public func frame(
        minWidth: CGFloat? = nil, idealWidth: CGFloat? = nil, maxWidth: CGFloat? = nil, minHeight: CGFloat? = nil,
        idealHeight: CGFloat? = nil, maxHeight: CGFloat? = nil, alignment: Alignment = .center
    ) -> some View { unchanged() }
    public func fixedSize(horizontal: Bool, vertical: Bool) -> some View { unchanged() }
    public func layoutPriority(_ value: Double) -> some View { unchanged() }
    public func background<S: ShapeStyle>(_ style: S, ignoresSafeAreaEdges edges: Edge.Set = .all) -> some View { unchanged() }
    public func background<S: ShapeStyle, T: Shape>(_ style: S, in shape: T, fillStyle: FillStyle = FillStyle()) -> some View { unchanged() }
    @_disfavoredOverload public func background<V: View>(_ background: V, alignment: Alignment = .center) -> some View { beside("background", background) }
    public func background<V: View>(alignment: Alignment = .center, @ViewBuilder content: () -> V) -> some View {
        beside("background", content())
    }
    public func overlay<V: View>(_ overlay: V, alignment: Alignment = .center) -> some View { beside("overlay", overlay) }
    public func overlay<V: View>(alignment: Alignment = .center, @ViewBuilder content: () -> V) -> some View {
        beside("overlay", content())
    }
    public func safeAreaInset<V: View>(
        edge: VerticalEdge, alignment: HorizontalAlignment = .center, spacing: CGFloat? = nil, @ViewBuilder content: () -> V
    ) -> some View { beside("inset", content()) }
    public func cornerRadius(_ radius: CGFloat, antialiased: Bool = true) -> some View { unchanged() }
    public func clipShape<S: Shape>(_ shape: S, style: FillStyle = FillStyle()) -> some View { unchanged() }
    public func contentShape<S: Shape>(_ shape: S, eoFill: Bool = false) -> some View { unchanged() }
    public func opacity(_ opacity: Double) -> some View { unchanged() }
    public func scaleEffect(_ scale: CGFloat, anchor: UnitPoint = .center) -> some View { unchanged() }
    public func defaultScrollAnchor(_ anchor: UnitPoint?) -> some View { unchanged() }
    public func listRowSeparator(_ visibility: Visibility) -> some View { unchanged() }
    public func id<ID: Hashable>(_ id: ID) -> some View { unchanged() }
}

// developer.apple.com/documentation/swiftui/verticaledge
public enum VerticalEdge: Sendable { case top, bottom }
// developer.apple.com/documentation/swiftui/visibility
public enum Visibility: Sendable { case automatic, visible, hidden }
// developer.apple.com/documentation/swiftui/textalignment
public enum TextAlignment: Sendable { case leading, center, trailing }

// developer.apple.com/documentation/swiftui/view-style-modifiers
extension View {
    public func font(_ font: Font?) -> some View { unchanged() }
    public func foregroundStyle<S: ShapeStyle>(_ style: S) -> some View { unchanged() }
    public func tint<S: ShapeStyle>(_ tint: S?) -> some View { unchanged() }
    public func multilineTextAlignment(_ alignment: TextAlignment) -> some View { unchanged() }
    public func lineLimit(_ number: Int?) -> some View { unchanged() }
    public func lineLimit(_ limit: ClosedRange<Int>) -> some View { unchanged() }
    public func monospacedDigit() -> some View { unchanged() }
    public func imageScale(_ scale: Image.Scale) -> some View { unchanged() }
    public func textSelection<S: TextSelectability>(_ selectability: S) -> some View { unchanged() }
    public func animation<V: Equatable>(_ animation: Animation?, value: V) -> some View { unchanged() }
    public func labelStyle<S: LabelStyle>(_ style: S) -> some View { unchanged() }
    public func buttonStyle<S: PrimitiveButtonStyle>(_ style: S) -> some View { unchanged() }
    public func progressViewStyle<S: ProgressViewStyle>(_ style: S) -> some View { unchanged() }
    public func labelsHidden() -> some View { unchanged() }
    public func textFieldStyle<S: TextFieldStyle>(_ style: S) -> some View { unchanged() }
    public func controlSize(_ controlSize: ControlSize) -> some View { unchanged() }
}

// developer.apple.com/documentation/swiftui/controlsize
public enum ControlSize: Sendable { case mini, small, regular, large }
// developer.apple.com/documentation/swiftui/textselectability
public protocol TextSelectability {}
public struct EnabledTextSelectability: TextSelectability {}
extension TextSelectability where Self == EnabledTextSelectability {
    public static var enabled: EnabledTextSelectability { EnabledTextSelectability() }
}
// developer.apple.com/documentation/swiftui/labelstyle
public protocol LabelStyle {}
public struct IconOnlyLabelStyle: LabelStyle { public init() {} }
public struct TitleAndIconLabelStyle: LabelStyle { public init() {} }
extension LabelStyle where Self == IconOnlyLabelStyle { public static var iconOnly: Self { Self() } }
extension LabelStyle where Self == TitleAndIconLabelStyle { public static var titleAndIcon: Self { Self() } }
// developer.apple.com/documentation/swiftui/primitivebuttonstyle
public protocol PrimitiveButtonStyle {}
public struct PlainButtonStyle: PrimitiveButtonStyle { public init() {} }
public struct BorderedButtonStyle: PrimitiveButtonStyle { public init() {} }
public struct BorderedProminentButtonStyle: PrimitiveButtonStyle { public init() {} }
public struct BorderlessButtonStyle: PrimitiveButtonStyle { public init() {} }
extension PrimitiveButtonStyle where Self == PlainButtonStyle { public static var plain: Self { Self() } }
extension PrimitiveButtonStyle where Self == BorderedButtonStyle { public static var bordered: Self { Self() } }
extension PrimitiveButtonStyle where Self == BorderedProminentButtonStyle { public static var borderedProminent: Self { Self() } }
extension PrimitiveButtonStyle where Self == BorderlessButtonStyle { public static var borderless: Self { Self() } }
// developer.apple.com/documentation/swiftui/progressviewstyle
public protocol ProgressViewStyle {}
public struct CircularProgressViewStyle: ProgressViewStyle { public init() {} }
public struct LinearProgressViewStyle: ProgressViewStyle { public init() {} }
extension ProgressViewStyle where Self == CircularProgressViewStyle { public static var circular: Self { Self() } }
extension ProgressViewStyle where Self == LinearProgressViewStyle { public static var linear: Self { Self() } }
// developer.apple.com/documentation/swiftui/textfieldstyle
public protocol TextFieldStyle {}
public struct RoundedBorderTextFieldStyle: TextFieldStyle { public init() {} }
extension TextFieldStyle where Self == RoundedBorderTextFieldStyle { public static var roundedBorder: Self { Self() } }

// developer.apple.com/documentation/swiftui/view-input-and-events
extension View {
    public func disabled(_ disabled: Bool) -> some View {
        before { $0.environment.isEnabled = $0.environment.isEnabled && !disabled }
    }
    // developer.apple.com/documentation/swiftui/view/onsubmit(of:_:)
    public func onSubmit(of triggers: SubmitTriggers = .text, _ action: @escaping () -> Void) -> some View {
        before { $0.submit = action }
    }
    public func focused(_ condition: FocusState<Bool>.Binding) -> some View { unchanged() }
    public func onAppear(perform action: (() -> Void)? = nil) -> some View {
        after { nodes, recorder in
            recorder.once("appear") { action?() }
            return nodes
        }
    }
    // developer.apple.com/documentation/swiftui/view/ondisappear(perform:)
    public func onDisappear(perform action: (() -> Void)? = nil) -> some View { unchanged() }
    // developer.apple.com/documentation/swiftui/view/task(name:priority:file:line:_:)
    public func task(
        name: String? = nil, priority: TaskPriority = .userInitiated, file: String = #fileID, line: Int = #line,
        @_inheritActorContext _ action: sending @escaping @isolated(any) () async -> Void
    ) -> some View {
        nonisolated(unsafe) let action = action
        return after { nodes, recorder in
            recorder.once("task") { recorder.tasks.append { await action() } }
            return nodes
        }
    }
    public func onChange<V: Equatable>(of value: V, initial: Bool = false, _ action: @escaping (V, V) -> Void) -> some View {
        after { nodes, recorder in
            let cell: Cell<V> = recorder.cell(at: recorder.path + "/change", Cell(value))
            let old = cell.value
            if old != value {
                cell.value = value
                recorder.effects.append { action(old, value) }
            } else if initial {
                recorder.once("initial") { action(value, value) }
            }
            return nodes
        }
    }
    public func environment<V>(_ keyPath: WritableKeyPath<EnvironmentValues, V>, _ value: V) -> some View {
        before { $0.environment[keyPath: keyPath] = value }
    }
    public func environment<T: AnyObject & Observable>(_ object: T?) -> some View {
        before { $0.environment.objects[ObjectIdentifier(T.self)] = object }
    }
    // developer.apple.com/documentation/swiftui/view/dynamictypesize(_:)
    public func dynamicTypeSize(_ size: DynamicTypeSize) -> some View { before { $0.environment.dynamicTypeSize = size } }
    public func keyboardShortcut(_ shortcut: KeyboardShortcut) -> some View { unchanged() }
}

// developer.apple.com/documentation/swiftui/submittriggers
public struct SubmitTriggers: OptionSet, Sendable {
    public let rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }
    public static let text = SubmitTriggers(rawValue: 1), search = SubmitTriggers(rawValue: 2)
}

// developer.apple.com/documentation/swiftui/keyboardshortcut
public struct KeyboardShortcut: Sendable { public static let defaultAction = Self(), cancelAction = Self() }
