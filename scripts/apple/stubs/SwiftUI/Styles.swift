import Foundation

// developer.apple.com/documentation/swiftui/shapestyle
public protocol ShapeStyle: Sendable {}

extension ShapeStyle {
    // developer.apple.com/documentation/swiftui/shapestyle/opacity(_:)
    public func opacity(_ opacity: Double) -> some ShapeStyle { self }
}

// developer.apple.com/documentation/swiftui/color
public struct Color: ShapeStyle, Hashable {
    public init(_ name: String, bundle: Bundle? = nil) {}
    public init(red: Double, green: Double, blue: Double, opacity: Double = 1) {}
    init() {}
    public static let red = Color(), orange = Color(), yellow = Color(), green = Color(), blue = Color()
    public static let purple = Color(), cyan = Color(), gray = Color(), black = Color(), white = Color()
    public static let clear = Color(), primary = Color(), secondary = Color(), accentColor = Color()
    public func opacity(_ opacity: Double) -> Color { self }
}

// The views of values that belong to no actor conform apart.
extension Color: View, Recorded {
    public var body: Never { fatalError("this view has no body") }
    func record(_ recorder: Recorder) -> [TreeNode] { [] }
}

extension ShapeStyle where Self == Color {
    public static var red: Color { Color() }
    public static var orange: Color { Color() }
    public static var green: Color { Color() }
    public static var blue: Color { Color() }
    public static var purple: Color { Color() }
    public static var cyan: Color { Color() }
    public static var gray: Color { Color() }
    public static var white: Color { Color() }
    public static var clear: Color { Color() }
}

// developer.apple.com/documentation/swiftui/hierarchicalshapestyle
public struct HierarchicalShapeStyle: ShapeStyle {}

extension ShapeStyle where Self == HierarchicalShapeStyle {
    public static var primary: HierarchicalShapeStyle { HierarchicalShapeStyle() }
    public static var secondary: HierarchicalShapeStyle { HierarchicalShapeStyle() }
    public static var tertiary: HierarchicalShapeStyle { HierarchicalShapeStyle() }
    public static var quaternary: HierarchicalShapeStyle { HierarchicalShapeStyle() }
}

// developer.apple.com/documentation/swiftui/tintshapestyle
public struct TintShapeStyle: ShapeStyle {}
extension ShapeStyle where Self == TintShapeStyle {
    public static var tint: TintShapeStyle { TintShapeStyle() }
}

// developer.apple.com/documentation/swiftui/backgroundstyle
public struct BackgroundStyle: ShapeStyle {}
extension ShapeStyle where Self == BackgroundStyle {
    public static var background: BackgroundStyle { BackgroundStyle() }
}

// developer.apple.com/documentation/swiftui/material
public struct Material: ShapeStyle {
    public static let thin = Material(), regular = Material(), bar = Material()
}
extension ShapeStyle where Self == Material {
    public static var thinMaterial: Material { Material() }
    public static var regularMaterial: Material { Material() }
    public static var bar: Material { Material() }
}

// developer.apple.com/documentation/swiftui/unitpoint
public struct UnitPoint: Hashable, Sendable {
    public static let leading = UnitPoint(), trailing = UnitPoint(), top = UnitPoint(), bottom = UnitPoint()
    public static let center = UnitPoint()
}

// developer.apple.com/documentation/swiftui/lineargradient
public struct LinearGradient: ShapeStyle, View, Recorded {
    public init(colors: [Color], startPoint: UnitPoint, endPoint: UnitPoint) {}
    public var body: Never { fatalError("this view has no body") }
    func record(_ recorder: Recorder) -> [TreeNode] { [] }
}

// developer.apple.com/documentation/swiftui/shape
public protocol Shape: View, Sendable {}

extension Shape {
    // developer.apple.com/documentation/swiftui/shape/fill(_:style:)
    public func fill<S: ShapeStyle>(_ content: S, style: FillStyle = FillStyle()) -> some View { DrawnShape() }
    // developer.apple.com/documentation/swiftui/shape/stroke(_:linewidth:antialiased:)
    public func stroke<S: ShapeStyle>(_ content: S, lineWidth: CGFloat = 1, antialiased: Bool = true) -> some View {
        DrawnShape()
    }
}

// developer.apple.com/documentation/swiftui/insettableshape
public protocol InsettableShape: Shape {}

extension InsettableShape {
    // developer.apple.com/documentation/swiftui/insettableshape/strokeborder(_:linewidth:antialiased:)
    public func strokeBorder<S: ShapeStyle>(_ content: S, lineWidth: CGFloat = 1, antialiased: Bool = true) -> some View {
        DrawnShape()
    }
}

// developer.apple.com/documentation/swiftui/fillstyle
public struct FillStyle: Equatable, Sendable {
    public var isEOFilled: Bool
    public var isAntialiased: Bool
    public init(eoFill: Bool = false, antialiased: Bool = true) { (isEOFilled, isAntialiased) = (eoFill, antialiased) }
}

/// A shape shows no words.
/// For tests on Linux: our own, not Apple's.
public struct DrawnShape: View, Recorded {
    public var body: Never { fatalError("this view has no body") }
    func record(_ recorder: Recorder) -> [TreeNode] { [] }
}

// developer.apple.com/documentation/swiftui/circle
public struct Circle: InsettableShape {
    public init() {}
    public var body: DrawnShape { DrawnShape() }
}
// developer.apple.com/documentation/swiftui/capsule
public struct Capsule: InsettableShape {
    public init() {}
    public var body: DrawnShape { DrawnShape() }
}
// developer.apple.com/documentation/swiftui/rectangle
public struct Rectangle: InsettableShape {
    public init() {}
    public var body: DrawnShape { DrawnShape() }
}
// developer.apple.com/documentation/swiftui/roundedcornerstyle
public enum RoundedCornerStyle: Sendable { case circular, continuous }
// developer.apple.com/documentation/swiftui/roundedrectangle
public struct RoundedRectangle: InsettableShape {
    public init(cornerRadius: CGFloat, style: RoundedCornerStyle = .continuous) {}
    public var body: DrawnShape { DrawnShape() }
}

extension Shape where Self == Capsule { public static var capsule: Capsule { Capsule() } }
extension Shape where Self == Circle { public static var circle: Circle { Circle() } }
extension Shape where Self == RoundedRectangle {
    // developer.apple.com/documentation/swiftui/shape/rect(cornerradius:style:)
    public static func rect(cornerRadius: CGFloat, style: RoundedCornerStyle = .continuous) -> RoundedRectangle {
        RoundedRectangle(cornerRadius: cornerRadius, style: style)
    }
}

// developer.apple.com/documentation/swiftui/animation
public struct Animation: Equatable, Sendable {
    public static let `default` = Animation(), easeInOut = Animation(), spring = Animation(), linear = Animation()
}

// developer.apple.com/documentation/swiftui/withanimation(_:_:)
public func withAnimation<Result>(_ animation: Animation? = .default, _ body: () throws -> Result) rethrows -> Result {
    try body()
}
