import Foundation

// developer.apple.com/documentation/swiftui/localizedstringkey
public struct LocalizedStringKey: Equatable, ExpressibleByStringInterpolation {
    let text: String
    public init(_ value: String) { text = value }
    public init(stringLiteral value: String) { text = value }
    public init(stringInterpolation: StringInterpolation) { text = stringInterpolation.text }
    // developer.apple.com/documentation/swiftui/localizedstringkey/stringinterpolation
    public struct StringInterpolation: StringInterpolationProtocol {
        var text = ""
        public init(literalCapacity: Int, interpolationCount: Int) {}
        public mutating func appendLiteral(_ literal: String) { text += literal }
        public mutating func appendInterpolation(_ string: String) { text += string }
        // developer.apple.com/documentation/swiftui/localizedstringkey/stringinterpolation/appendinterpolation(_:)-378v9
        public mutating func appendInterpolation<T: _FormatSpecifiable>(_ value: T) { text += "\(value)" }
        // developer.apple.com/documentation/swiftui/localizedstringkey/stringinterpolation/appendinterpolation(_:)-4qyfo
        public mutating func appendInterpolation(_ text: Text) { self.text += text.string }
    }
}

// developer.apple.com/documentation/swiftui/localizedstringkey/stringinterpolation/appendinterpolation(_:)-378v9
public protocol _FormatSpecifiable: Equatable {}
extension Int: _FormatSpecifiable {}
extension Int32: _FormatSpecifiable {}
extension Int64: _FormatSpecifiable {}
extension UInt: _FormatSpecifiable {}
extension UInt32: _FormatSpecifiable {}
extension UInt64: _FormatSpecifiable {}
extension Float: _FormatSpecifiable {}
extension Double: _FormatSpecifiable {}
extension CGFloat: _FormatSpecifiable {}

// developer.apple.com/documentation/swiftui/text
public struct Text: Equatable, Sendable {
    let string: String
    public init(verbatim content: String) { string = content }
    @_disfavoredOverload public init<S: StringProtocol>(_ content: S) { string = String(content) }
    public init(_ key: LocalizedStringKey, tableName: String? = nil, bundle: Bundle? = nil, comment: StaticString? = nil) {
        string = key.text
    }
    public init(_ attributedContent: AttributedString) { string = String(attributedContent.characters) }

    // developer.apple.com/documentation/swiftui/text/font(_:)
    public func font(_ font: Font?) -> Text { self }
    // developer.apple.com/documentation/swiftui/text/bold()
    public func bold() -> Text { self }
    // developer.apple.com/documentation/swiftui/text/italic()
    public func italic() -> Text { self }
    // developer.apple.com/documentation/swiftui/text/monospaceddigit()
    public func monospacedDigit() -> Text { self }
    // developer.apple.com/documentation/swiftui/text/foregroundstyle(_:)
    public func foregroundStyle<S: ShapeStyle>(_ style: S) -> Text { self }
}

extension Text: View, Recorded {
    public var body: Never { fatalError("this view has no body") }
    func record(_ recorder: Recorder) -> [TreeNode] { [TreeNode("text", text: string)] }
}

// developer.apple.com/documentation/swiftui/image
public struct Image: Equatable, Sendable {
    let name: String
    let isDecorative: Bool
    public init(systemName: String) { (name, isDecorative) = (systemName, false) }
    public init(_ name: String, bundle: Bundle? = nil) { (self.name, isDecorative) = (name, false) }
    public init(decorative name: String, bundle: Bundle? = nil) { (self.name, isDecorative) = (name, true) }
    public func resizable() -> Image { self }
    // developer.apple.com/documentation/swiftui/image/scale
    public enum Scale: Sendable { case small, medium, large }
}

extension Image: View, Recorded {
    public var body: Never { fatalError("this view has no body") }
    func record(_ recorder: Recorder) -> [TreeNode] {
        let node = TreeNode("image", text: name)
        node.isHidden = isDecorative
        return [node]
    }
}

// developer.apple.com/documentation/swiftui/label
public struct Label<Title: View, Icon: View>: View, Recorded {
    let title: Title
    let icon: Icon
    public init(@ViewBuilder title: () -> Title, @ViewBuilder icon: () -> Icon) {
        (self.title, self.icon) = (title(), icon())
    }
    public var body: Never { fatalError("this view has no body") }
    func record(_ recorder: Recorder) -> [TreeNode] {
        let images = recorder.nodes(of: icon, at: "icon")
        for node in images { node.isHidden = true }
        return [TreeNode("label", images + recorder.nodes(of: title, at: "title"))]
    }
}

extension Label where Title == Text, Icon == Image {
    @_disfavoredOverload public init<S: StringProtocol>(_ title: S, systemImage name: String) {
        self.init(title: { Text(title) }, icon: { Image(systemName: name) })
    }
    public init(_ titleKey: LocalizedStringKey, systemImage name: String) {
        self.init(title: { Text(titleKey) }, icon: { Image(systemName: name) })
    }
}

// developer.apple.com/documentation/swiftui/font
public struct Font: Hashable, Sendable {
    public static let largeTitle = Font(), title = Font(), title2 = Font(), title3 = Font(), headline = Font()
    public static let subheadline = Font(), body = Font(), callout = Font(), footnote = Font(), caption = Font()
    public static let caption2 = Font()
    // developer.apple.com/documentation/swiftui/font/textstyle
    public enum TextStyle: CaseIterable, Sendable {
        case largeTitle, title, title2, title3, headline, subheadline, body, callout, footnote, caption, caption2
    }
    // developer.apple.com/documentation/swiftui/font/weight
    public struct Weight: Hashable, Sendable {
        public static let regular = Weight(), medium = Weight(), semibold = Weight(), bold = Weight()
    }
    // developer.apple.com/documentation/swiftui/font/design
    public enum Design: Hashable, Sendable { case `default`, serif, rounded, monospaced }
    public static func system(_ style: TextStyle, design: Design? = nil, weight: Weight? = nil) -> Font { Font() }
    public static func system(size: CGFloat, weight: Weight? = nil, design: Design? = nil) -> Font { Font() }
    public func bold() -> Font { self }
    public func italic() -> Font { self }
    public func weight(_ weight: Weight) -> Font { self }
    public func monospacedDigit() -> Font { self }
}
