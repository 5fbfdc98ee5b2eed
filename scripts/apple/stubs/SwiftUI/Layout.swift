import Foundation

// developer.apple.com/documentation/swiftui/horizontalalignment
public struct HorizontalAlignment: Equatable, Sendable {
    public static let leading = Self(), center = Self(), trailing = Self()
}
// developer.apple.com/documentation/swiftui/verticalalignment
public struct VerticalAlignment: Equatable, Sendable {
    public static let top = Self(), center = Self(), bottom = Self(), firstTextBaseline = Self()
}
// developer.apple.com/documentation/swiftui/alignment
public struct Alignment: Equatable, Sendable {
    public static let leading = Self(), center = Self(), trailing = Self(), top = Self(), bottom = Self()
    public static let topLeading = Self(), topTrailing = Self(), bottomLeading = Self(), bottomTrailing = Self()
}
// developer.apple.com/documentation/swiftui/edge
public enum Edge: Sendable {
    case top, leading, bottom, trailing
    // developer.apple.com/documentation/swiftui/edge/set
    public struct Set: OptionSet, Sendable {
        public let rawValue: Int8
        public init(rawValue: Int8) { self.rawValue = rawValue }
        public static let top = Set(rawValue: 1), leading = Set(rawValue: 2), bottom = Set(rawValue: 4)
        public static let trailing = Set(rawValue: 8)
        public static let horizontal: Set = [.leading, .trailing], vertical: Set = [.top, .bottom]
        public static let all: Set = [.horizontal, .vertical]
    }
}
// developer.apple.com/documentation/swiftui/axis
public enum Axis: Sendable {
    case horizontal, vertical
    // developer.apple.com/documentation/swiftui/axis/set
    public struct Set: OptionSet, Sendable {
        public let rawValue: Int8
        public init(rawValue: Int8) { self.rawValue = rawValue }
        public static let horizontal = Set(rawValue: 1), vertical = Set(rawValue: 2)
    }
}

// developer.apple.com/documentation/swiftui/vstack
public struct VStack<Content: View>: View, Recorded {
    let content: Content
    public init(alignment: HorizontalAlignment = .center, spacing: CGFloat? = nil, @ViewBuilder content: () -> Content) {
        self.content = content()
    }
    public var body: Never { fatalError("this view has no body") }
    func record(_ recorder: Recorder) -> [TreeNode] { [TreeNode("vstack", recorder.nodes(of: content, at: "stack"))] }
}

// developer.apple.com/documentation/swiftui/pinnedscrollableviews
public struct PinnedScrollableViews: OptionSet, Sendable {
    public let rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }
    public static let sectionHeaders = Self(rawValue: 1), sectionFooters = Self(rawValue: 2)
}

// developer.apple.com/documentation/swiftui/lazyvstack
public struct LazyVStack<Content: View>: View, Recorded {
    let content: Content
    public init(
        alignment: HorizontalAlignment = .center, spacing: CGFloat? = nil, pinnedViews: PinnedScrollableViews = .init(),
        @ViewBuilder content: () -> Content
    ) {
        self.content = content()
    }
    public var body: Never { fatalError("this view has no body") }
    func record(_ recorder: Recorder) -> [TreeNode] { [TreeNode("vstack", recorder.nodes(of: content, at: "stack"))] }
}

// developer.apple.com/documentation/swiftui/hstack
public struct HStack<Content: View>: View, Recorded {
    let content: Content
    public init(alignment: VerticalAlignment = .center, spacing: CGFloat? = nil, @ViewBuilder content: () -> Content) {
        self.content = content()
    }
    public var body: Never { fatalError("this view has no body") }
    func record(_ recorder: Recorder) -> [TreeNode] { [TreeNode("hstack", recorder.nodes(of: content, at: "stack"))] }
}

// developer.apple.com/documentation/swiftui/zstack
public struct ZStack<Content: View>: View, Recorded {
    let content: Content
    public init(alignment: Alignment = .center, @ViewBuilder content: () -> Content) { self.content = content() }
    public var body: Never { fatalError("this view has no body") }
    func record(_ recorder: Recorder) -> [TreeNode] { [TreeNode("zstack", recorder.nodes(of: content, at: "stack"))] }
}

// developer.apple.com/documentation/swiftui/layout
public protocol Layout: Sendable {}

// developer.apple.com/documentation/swiftui/hstacklayout
public struct HStackLayout: Layout {
    public init(alignment: VerticalAlignment = .center, spacing: CGFloat? = nil) {}
}
// developer.apple.com/documentation/swiftui/vstacklayout
public struct VStackLayout: Layout {
    public init(alignment: HorizontalAlignment = .center, spacing: CGFloat? = nil) {}
}
// developer.apple.com/documentation/swiftui/anylayout
public struct AnyLayout: Layout {
    let kind: String
    public init<L: Layout>(_ layout: L) { kind = layout is HStackLayout ? "hstack" : "vstack" }
    // developer.apple.com/documentation/swiftui/layout/callasfunction(_:)
    @MainActor public func callAsFunction<V: View>(@ViewBuilder _ content: () -> V) -> some View {
        LaidOut(kind: kind, content: content())
    }
}

/// The views of a layout.
/// For tests on Linux: our own, not Apple's.
public struct LaidOut<Content: View>: View, Recorded {
    let kind: String
    let content: Content
    public var body: Never { fatalError("this view has no body") }
    func record(_ recorder: Recorder) -> [TreeNode] { [TreeNode(kind, recorder.nodes(of: content, at: "stack"))] }
}

// developer.apple.com/documentation/swiftui/spacer
public struct Spacer: View, Recorded {
    public init(minLength: CGFloat? = nil) {}
    public var body: Never { fatalError("this view has no body") }
    func record(_ recorder: Recorder) -> [TreeNode] { [] }
}

// developer.apple.com/documentation/swiftui/divider
public struct Divider: View, Recorded {
    public init() {}
    public var body: Never { fatalError("this view has no body") }
    func record(_ recorder: Recorder) -> [TreeNode] { [] }
}

// developer.apple.com/documentation/swiftui/geometryproxy
public struct GeometryProxy {
    public var size: CGSize { CGSize(width: 320, height: 44) }
}
// developer.apple.com/documentation/swiftui/geometryreader
public struct GeometryReader<Content: View>: View, Recorded {
    let content: (GeometryProxy) -> Content
    public init(@ViewBuilder content: @escaping (GeometryProxy) -> Content) { self.content = content }
    public var body: Never { fatalError("this view has no body") }
    func record(_ recorder: Recorder) -> [TreeNode] { recorder.nodes(of: content(GeometryProxy()), at: "geometry") }
}

// developer.apple.com/documentation/swiftui/scrollview
public struct ScrollView<Content: View>: View, Recorded {
    let content: Content
    public init(_ axes: Axis.Set = .vertical, showsIndicators: Bool = true, @ViewBuilder content: () -> Content) {
        self.content = content()
    }
    public var body: Never { fatalError("this view has no body") }
    func record(_ recorder: Recorder) -> [TreeNode] { [TreeNode("scroll", recorder.nodes(of: content, at: "scroll"))] }
}

// developer.apple.com/documentation/swiftui/list
public struct List<SelectionValue: Hashable, Content: View>: View, Recorded {
    let content: Content
    public var body: Never { fatalError("this view has no body") }
    func record(_ recorder: Recorder) -> [TreeNode] { [TreeNode("list", recorder.nodes(of: content, at: "list"))] }
}
extension List where SelectionValue == Never {
    public init(@ViewBuilder content: () -> Content) { self.content = content() }
}

// developer.apple.com/documentation/swiftui/form
public struct Form<Content: View>: View, Recorded {
    let content: Content
    public init(@ViewBuilder content: () -> Content) { self.content = content() }
    public var body: Never { fatalError("this view has no body") }
    func record(_ recorder: Recorder) -> [TreeNode] { [TreeNode("form", recorder.nodes(of: content, at: "form"))] }
}

// developer.apple.com/documentation/swiftui/section
public struct Section<Parent, Content, Footer> {
    let header: Parent
    let content: Content
    let footer: Footer
}
extension Section: View, Recorded where Parent: View, Content: View, Footer: View {
    public var body: Never { fatalError("this view has no body") }
    public init(@ViewBuilder content: () -> Content, @ViewBuilder header: () -> Parent, @ViewBuilder footer: () -> Footer) {
        self.init(header: header(), content: content(), footer: footer())
    }
    func record(_ recorder: Recorder) -> [TreeNode] {
        let title = recorder.nodes(of: header, at: "header")
        for node in title { node.traits.insert("header") }
        return [
            TreeNode(
                "section", title + recorder.nodes(of: content, at: "rows") + recorder.nodes(of: footer, at: "footer"))
        ]
    }
}
extension Section where Parent: View, Content: View, Footer == EmptyView {
    public init(@ViewBuilder content: () -> Content, @ViewBuilder header: () -> Parent) {
        self.init(header: header(), content: content(), footer: EmptyView())
    }
}
extension Section where Parent == EmptyView, Content: View, Footer: View {
    public init(@ViewBuilder content: () -> Content, @ViewBuilder footer: () -> Footer) {
        self.init(header: EmptyView(), content: content(), footer: footer())
    }
}
extension Section where Parent == EmptyView, Content: View, Footer == EmptyView {
    public init(@ViewBuilder content: () -> Content) {
        self.init(header: EmptyView(), content: content(), footer: EmptyView())
    }
}

// developer.apple.com/documentation/swiftui/labeledcontent
public struct LabeledContent<Label: View, Content: View>: View, Recorded {
    let label: Label
    let content: Content
    public init(@ViewBuilder content: () -> Content, @ViewBuilder label: () -> Label) {
        (self.label, self.content) = (label(), content())
    }
    public var body: Never { fatalError("this view has no body") }
    func record(_ recorder: Recorder) -> [TreeNode] {
        [TreeNode("labeled", recorder.nodes(of: label, at: "label") + recorder.nodes(of: content, at: "content"))]
    }
}

// developer.apple.com/documentation/swiftui/navigationstack
public struct NavigationStack<Data, Root: View>: View, Recorded {
    let root: Root
    public init(@ViewBuilder root: () -> Root) where Data == NavigationPath { self.root = root() }
    public var body: Never { fatalError("this view has no body") }
    func record(_ recorder: Recorder) -> [TreeNode] { recorder.nodes(of: root, at: "root") }
}
// developer.apple.com/documentation/swiftui/navigationpath
public struct NavigationPath { public init() {} }

// developer.apple.com/documentation/swiftui/tabview
public struct TabView<SelectionValue: Hashable, Content: View>: View, Recorded {
    let content: Content
    public var body: Never { fatalError("this view has no body") }
    func record(_ recorder: Recorder) -> [TreeNode] { [TreeNode("tabs", recorder.nodes(of: content, at: "tabs"))] }
}
extension TabView where SelectionValue == Int {
    public init(@ViewBuilder content: () -> Content) { self.content = content() }
}
