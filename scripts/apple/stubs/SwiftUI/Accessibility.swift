import Foundation

// developer.apple.com/documentation/swiftui/accessibilitytraits
public struct AccessibilityTraits: SetAlgebra, Sendable {
    var names: Set<String>
    public init() { names = [] }
    init(_ name: String) { names = [name] }
    public static let isButton = Self("button"), isHeader = Self("header"), isSelected = Self("selected")
    public static let updatesFrequently = Self("updates"), isStaticText = Self("static")
    public func union(_ other: Self) -> Self { var all = self; all.formUnion(other); return all }
    public func intersection(_ other: Self) -> Self { var all = self; all.formIntersection(other); return all }
    public func symmetricDifference(_ other: Self) -> Self { var all = self; all.formSymmetricDifference(other); return all }
    public mutating func formUnion(_ other: Self) { names.formUnion(other.names) }
    public mutating func formIntersection(_ other: Self) { names.formIntersection(other.names) }
    public mutating func formSymmetricDifference(_ other: Self) { names.formSymmetricDifference(other.names) }
    public func contains(_ member: Self) -> Bool { names.isSuperset(of: member.names) }
    @discardableResult public mutating func insert(_ member: Self) -> (inserted: Bool, memberAfterInsert: Self) {
        defer { formUnion(member) }
        return (!contains(member), member)
    }
    @discardableResult public mutating func remove(_ member: Self) -> Self? {
        names.subtract(member.names)
        return member
    }
    @discardableResult public mutating func update(with member: Self) -> Self? {
        formUnion(member)
        return member
    }
}

// developer.apple.com/documentation/swiftui/accessibilitychildbehavior
public struct AccessibilityChildBehavior: Hashable, Sendable {
    let name: String
    public static let ignore = Self(name: "ignore"), contain = Self(name: "contain"), combine = Self(name: "combine")
}

// developer.apple.com/documentation/swiftui/view-accessibility
extension View {
    @_disfavoredOverload public func accessibilityLabel<S: StringProtocol>(_ label: S) -> some View {
        let text = String(label)
        return node { $0.label = text }
    }
    public func accessibilityLabel(_ label: Text) -> some View { node { $0.label = label.string } }
    public func accessibilityLabel(_ labelKey: LocalizedStringKey) -> some View { node { $0.label = labelKey.text } }
    @_disfavoredOverload public func accessibilityValue<S: StringProtocol>(_ value: S) -> some View {
        let text = String(value)
        return node { $0.value = text }
    }
    public func accessibilityValue(_ valueDescription: Text) -> some View { node { $0.value = valueDescription.string } }
    public func accessibilityHint(_ hint: Text) -> some View { node { $0.hint = hint.string } }
    @_disfavoredOverload public func accessibilityHint<S: StringProtocol>(_ hint: S) -> some View {
        let text = String(hint)
        return node { $0.hint = text }
    }
    public func accessibilityAddTraits(_ traits: AccessibilityTraits) -> some View {
        node { $0.traits.formUnion(traits.names) }
    }
    public func accessibilityHidden(_ hidden: Bool) -> some View { node { $0.isHidden = hidden || $0.isHidden } }
    public func accessibilityElement(children: AccessibilityChildBehavior = .ignore) -> some View {
        after { nodes, _ in
            let node = TreeNode("element", nodes)
            node.reading = children.name
            return [node]
        }
    }
    public func accessibilityIdentifier(_ identifier: String) -> some View { node { $0.identifier = identifier } }
}
