#if canImport(Darwin)
    @_exported import AppleFoundation
#else
    @_exported import Foundation
#endif
@_exported import Observation

// developer.apple.com/documentation/swiftui/view
@MainActor @preconcurrency public protocol View {
    associatedtype Body: View
    @ViewBuilder @MainActor @preconcurrency var body: Body { get }
}

// developer.apple.com/documentation/swiftui/view/body-8kl5o
extension Never: View {
    public var body: Never { fatalError("this view has no body") }
}

// developer.apple.com/documentation/swiftui/emptyview
public struct EmptyView: View, Recorded {
    nonisolated public init() {}
    public var body: Never { fatalError("this view has no body") }
    func record(_ recorder: Recorder) -> [TreeNode] { [] }
}

// developer.apple.com/documentation/swiftui/viewbuilder
@resultBuilder public enum ViewBuilder {
    public static func buildBlock() -> EmptyView { EmptyView() }
    public static func buildBlock<Content: View>(_ content: Content) -> Content { content }
    public static func buildBlock<each Content: View>(_ content: repeat each Content) -> TupleView<(repeat each Content)> {
        var views: [any View] = []
        repeat views.append(each content)
        return TupleView(views: views)
    }
    public static func buildExpression<Content: View>(_ content: Content) -> Content { content }
    public static func buildIf<Content: View>(_ content: Content?) -> Content? { content }
    public static func buildEither<First: View, Second: View>(first: First) -> _ConditionalContent<First, Second> {
        _ConditionalContent(isFirst: true, view: first)
    }
    public static func buildEither<First: View, Second: View>(second: Second) -> _ConditionalContent<First, Second> {
        _ConditionalContent(isFirst: false, view: second)
    }
    public static func buildLimitedAvailability<Content: View>(_ content: Content) -> AnyView { AnyView(content) }
}

// developer.apple.com/documentation/swiftui/tupleview
public struct TupleView<T>: View, Recorded {
    nonisolated(unsafe) let views: [any View]
    nonisolated init(views: [any View]) { self.views = views }
    public var body: Never { fatalError("this view has no body") }
    func record(_ recorder: Recorder) -> [TreeNode] {
        views.enumerated().flatMap { index, view in recorder.nodes(of: view, at: "\(index)") }
    }
}

// developer.apple.com/documentation/swiftui/viewbuilder/buildeither(first:)
public struct _ConditionalContent<TrueContent, FalseContent>: View, Recorded {
    let isFirst: Bool
    nonisolated(unsafe) let view: any View
    nonisolated init(isFirst: Bool, view: any View) { (self.isFirst, self.view) = (isFirst, view) }
    public var body: Never { fatalError("this view has no body") }
    func record(_ recorder: Recorder) -> [TreeNode] { recorder.nodes(of: view, at: isFirst ? "if" : "else") }
}

// developer.apple.com/documentation/swiftui/viewbuilder/buildif(_:)
extension Optional: View where Wrapped: View {
    public var body: Never { fatalError("this view has no body") }
}

extension Optional: Recorded where Wrapped: View {
    func record(_ recorder: Recorder) -> [TreeNode] { map { recorder.nodes(of: $0, at: "if") } ?? [] }
}

// developer.apple.com/documentation/swiftui/anyview
public struct AnyView: View, Recorded {
    nonisolated(unsafe) let view: any View
    nonisolated public init<V: View>(_ view: V) { self.view = view }
    public var body: Never { fatalError("this view has no body") }
    func record(_ recorder: Recorder) -> [TreeNode] { recorder.nodes(of: view, at: "\(type(of: view))") }
}

// developer.apple.com/documentation/swiftui/group
public struct Group<Content: View>: View, Recorded {
    let content: Content
    public init(@ViewBuilder content: () -> Content) { self.content = content() }
    public var body: Never { fatalError("this view has no body") }
    func record(_ recorder: Recorder) -> [TreeNode] { recorder.nodes(of: content, at: "group") }
}

// developer.apple.com/documentation/swiftui/viewmodifier
@MainActor @preconcurrency public protocol ViewModifier {
    associatedtype Body: View
    @ViewBuilder @MainActor @preconcurrency func body(content: Content) -> Body
    typealias Content = _ViewModifier_Content<Self>
}

// developer.apple.com/documentation/swiftui/viewmodifier/content
public struct _ViewModifier_Content<Modifier: ViewModifier>: View, Recorded {
    let view: any View
    public var body: Never { fatalError("this view has no body") }
    func record(_ recorder: Recorder) -> [TreeNode] { recorder.nodes(of: view, at: "content") }
}

// developer.apple.com/documentation/swiftui/modifiedcontent
public struct ModifiedContent<Content, Modifier> {
    let content: Content
    let modifier: Modifier
}

extension ModifiedContent: View where Content: View, Modifier: ViewModifier {
    public var body: Never { fatalError("this view has no body") }
}

extension ModifiedContent: Recorded where Content: View, Modifier: ViewModifier {
    func record(_ recorder: Recorder) -> [TreeNode] {
        recorder.connect(modifier, at: "\(Modifier.self)") {
            recorder.nodes(of: modifier.body(content: _ViewModifier_Content(view: content)), at: "body")
        }
    }
}

extension View {
    // developer.apple.com/documentation/swiftui/view/modifier(_:)
    public func modifier<T: ViewModifier>(_ modifier: T) -> ModifiedContent<Self, T> {
        ModifiedContent(content: self, modifier: modifier)
    }
}

// developer.apple.com/documentation/swiftui/foreach
public struct ForEach<Data: RandomAccessCollection, ID: Hashable, Content> {
    let data: Data
    let id: (Data.Element) -> ID
    let content: (Data.Element) -> Content
}

extension ForEach: View where Content: View {
    public var body: Never { fatalError("this view has no body") }
    public init(_ data: Data, id: KeyPath<Data.Element, ID>, @ViewBuilder content: @escaping (Data.Element) -> Content) {
        self.init(data: data, id: { $0[keyPath: id] }, content: content)
    }
    public init(_ data: Data, @ViewBuilder content: @escaping (Data.Element) -> Content)
    where Data.Element: Identifiable, ID == Data.Element.ID {
        self.init(data: data, id: { $0.id }, content: content)
    }
    public init(_ data: Range<Int>, @ViewBuilder content: @escaping (Int) -> Content)
    where Data == Range<Int>, ID == Int {
        self.init(data: data, id: { $0 }, content: content)
    }
}

extension ForEach: Recorded where Content: View {
    func record(_ recorder: Recorder) -> [TreeNode] {
        data.flatMap { recorder.nodes(of: content($0), at: "\(id($0))") }
    }
}

// developer.apple.com/documentation/swiftui/previewprovider
@MainActor @preconcurrency public protocol PreviewProvider {
    associatedtype Previews: View
    @ViewBuilder @MainActor @preconcurrency static var previews: Previews { get }
}

extension View {
    // developer.apple.com/documentation/swiftui/view/previewdisplayname(_:)
    public func previewDisplayName(_ value: String?) -> some View { self }
}
