import Foundation

// developer.apple.com/documentation/swiftui/scene
@MainActor @preconcurrency public protocol Scene {
    associatedtype Body: Scene
    @SceneBuilder @MainActor @preconcurrency var body: Body { get }
}
extension Never: Scene {}

// developer.apple.com/documentation/swiftui/scenebuilder
@resultBuilder public enum SceneBuilder {
    public static func buildBlock<Content: Scene>(_ content: Content) -> Content { content }
    public static func buildExpression<Content: Scene>(_ content: Content) -> Content { content }
}

// developer.apple.com/documentation/swiftui/app
@MainActor @preconcurrency public protocol App {
    associatedtype Body: Scene
    @SceneBuilder @MainActor @preconcurrency var body: Body { get }
    @MainActor @preconcurrency init()
}
extension App {
    // developer.apple.com/documentation/swiftui/app/main()
    @MainActor @preconcurrency public static func main() {}
}

// developer.apple.com/documentation/swiftui/windowgroup
public struct WindowGroup<Content: View>: Scene {
    let content: Content
    public init(@ViewBuilder content: () -> Content) { self.content = content() }
    public var body: Never { fatalError("this scene has no body") }
}
extension Scene {
    // developer.apple.com/documentation/swiftui/scene/onchange(of:initial:_:)
    public func onChange<V: Equatable>(of value: V, initial: Bool = false, _ action: @escaping (V, V) -> Void) -> some Scene { self }
}

#if os(iOS)
    import UIKit

    // developer.apple.com/documentation/swiftui/uiapplicationdelegateadaptor
    @MainActor @propertyWrapper public struct UIApplicationDelegateAdaptor<DelegateType: NSObject & UIApplicationDelegate>:
        DynamicProperty
    {
        public init(_ delegateType: DelegateType.Type = DelegateType.self) {}
        public var wrappedValue: DelegateType { fatalError("no application") }
    }
#endif

#if os(macOS)
    // developer.apple.com/documentation/swiftui/settings
    public struct Settings<Content: View>: Scene {
        public init(@ViewBuilder content: () -> Content) {}
        public var body: Never { fatalError("this scene has no body") }
    }
#endif
