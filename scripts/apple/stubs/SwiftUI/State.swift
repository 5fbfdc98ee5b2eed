import Foundation
import Observation

// developer.apple.com/documentation/swiftui/dynamicproperty
public protocol DynamicProperty {}

/// A value that lives as long as its view is shown.
final class Cell<Value> {
    var value: Value
    init(_ value: Value) { self.value = value }
}

/// Leads from a property of a view to its cell.
final class Connection<Value> {
    var cell: Cell<Value>
    init(_ value: Value) { cell = Cell(value) }
}

// developer.apple.com/documentation/swiftui/state
@propertyWrapper public struct State<Value>: DynamicProperty, Connected {
    let link: Connection<Value>
    public init(wrappedValue value: Value) { link = Connection(value) }
    public init(initialValue value: Value) { link = Connection(value) }
    public var wrappedValue: Value {
        get { link.cell.value }
        nonmutating set { link.cell.value = newValue }
    }
    public var projectedValue: Binding<Value> {
        let cell = link.cell
        return Binding(read: { cell.value }, write: { cell.value = $0 })
    }
    func connect(to recorder: Recorder, at path: String) { link.cell = recorder.cell(at: path, link.cell) }
}

extension State where Value: ExpressibleByNilLiteral {
    public init() { self.init(wrappedValue: nil) }
}

extension State: @unchecked Sendable where Value: Sendable {}

// developer.apple.com/documentation/swiftui/binding
@propertyWrapper @dynamicMemberLookup public struct Binding<Value>: DynamicProperty {
    let read: () -> Value
    let write: (Value) -> Void
    @preconcurrency public init(
        get: @escaping @isolated(any) @Sendable () -> Value, set: @escaping @isolated(any) @Sendable (Value) -> Void
    ) {
        // Views and their actions run on the main actor.
        read = unsafeBitCast(get, to: (() -> Value).self)
        write = unsafeBitCast(set, to: ((Value) -> Void).self)
    }
    init(read: @escaping () -> Value, write: @escaping (Value) -> Void) { (self.read, self.write) = (read, write) }
    public var wrappedValue: Value {
        get { read() }
        nonmutating set { write(newValue) }
    }
    public var projectedValue: Binding<Value> { self }
    public static func constant(_ value: Value) -> Binding<Value> { Binding(read: { value }, write: { _ in }) }
    public subscript<Subject>(dynamicMember keyPath: WritableKeyPath<Value, Subject>) -> Binding<Subject> {
        Binding<Subject>(
            read: { read()[keyPath: keyPath] },
            write: {
                var value = read()
                value[keyPath: keyPath] = $0
                write(value)
            })
    }
}

extension Binding: @unchecked Sendable where Value: Sendable {}

// developer.apple.com/documentation/swiftui/bindable
@propertyWrapper @dynamicMemberLookup public struct Bindable<Value>: DynamicProperty {
    public var wrappedValue: Value
    public init(wrappedValue: Value) where Value: AnyObject & Observable { self.wrappedValue = wrappedValue }
    public init(_ wrappedValue: Value) where Value: AnyObject & Observable { self.wrappedValue = wrappedValue }
    public var projectedValue: Bindable<Value> { self }
    public subscript<Subject>(dynamicMember keyPath: ReferenceWritableKeyPath<Value, Subject>) -> Binding<Subject>
    where Value: AnyObject {
        let object = wrappedValue
        return Binding(read: { object[keyPath: keyPath] }, write: { object[keyPath: keyPath] = $0 })
    }
}

// developer.apple.com/documentation/swiftui/focusstate
@propertyWrapper public struct FocusState<Value: Hashable>: DynamicProperty, Connected {
    let link: Connection<Value>
    public init() where Value == Bool { link = Connection(false) }
    public var wrappedValue: Value {
        get { link.cell.value }
        nonmutating set { link.cell.value = newValue }
    }
    @propertyWrapper public struct Binding {
        let cell: Cell<Value>
        public var wrappedValue: Value {
            get { cell.value }
            nonmutating set { cell.value = newValue }
        }
        public var projectedValue: Self { self }
    }
    public var projectedValue: Binding { Binding(cell: link.cell) }
    func connect(to recorder: Recorder, at path: String) { link.cell = recorder.cell(at: path, link.cell) }
}

// developer.apple.com/documentation/swiftui/scaledmetric
@propertyWrapper public struct ScaledMetric<Value: BinaryFloatingPoint>: DynamicProperty {
    let value: Value
    public init(wrappedValue: Value) { value = wrappedValue }
    public init(wrappedValue: Value, relativeTo textStyle: Font.TextStyle) { value = wrappedValue }
    public var wrappedValue: Value { value }
}

// developer.apple.com/documentation/swiftui/environment
@propertyWrapper public struct Environment<Value>: DynamicProperty, Connected {
    let read: (EnvironmentValues) -> Value
    let link: Connection<EnvironmentValues?>
    public init(_ keyPath: KeyPath<EnvironmentValues, Value>) {
        read = { $0[keyPath: keyPath] }
        link = Connection(nil)
    }
    public init(_ objectType: Value.Type) where Value: AnyObject & Observable {
        read = { values in
            guard let object = values.objects[ObjectIdentifier(Value.self)] as? Value else {
                fatalError("no \(Value.self) in the environment")
            }
            return object
        }
        link = Connection(nil)
    }
    public var wrappedValue: Value { read(link.cell.value ?? EnvironmentValues()) }
    func connect(to recorder: Recorder, at path: String) { link.cell = Cell(recorder.environment) }
}

// developer.apple.com/documentation/swiftui/environmentkey
public protocol EnvironmentKey {
    associatedtype Value
    static var defaultValue: Value { get }
}

// developer.apple.com/documentation/swiftui/environmentvalues
public struct EnvironmentValues {
    var values: [ObjectIdentifier: Any] = [:]
    var objects: [ObjectIdentifier: AnyObject] = [:]
    public init() {}
    public subscript<K: EnvironmentKey>(key: K.Type) -> K.Value {
        get { values[ObjectIdentifier(key)] as? K.Value ?? K.defaultValue }
        set { values[ObjectIdentifier(key)] = newValue }
    }
    // developer.apple.com/documentation/swiftui/environmentvalues/locale
    public var locale = Locale(identifier: "en")
    // developer.apple.com/documentation/swiftui/environmentvalues/isenabled
    public var isEnabled = true
    // developer.apple.com/documentation/swiftui/environmentvalues/dynamictypesize
    public var dynamicTypeSize = DynamicTypeSize.large
    // developer.apple.com/documentation/swiftui/environmentvalues/accessibilityreducemotion
    public var accessibilityReduceMotion: Bool { false }
    // developer.apple.com/documentation/swiftui/environmentvalues/scenephase
    public var scenePhase = ScenePhase.active
    // developer.apple.com/documentation/swiftui/environmentvalues/dismiss
    public var dismiss: DismissAction { DismissAction() }
    // developer.apple.com/documentation/swiftui/environmentvalues/openurl
    public var openURL = OpenURLAction { _ in .discarded }
}

// developer.apple.com/documentation/swiftui/scenephase
public enum ScenePhase: Comparable, Sendable { case background, inactive, active }

// developer.apple.com/documentation/swiftui/dismissaction
@MainActor public struct DismissAction {
    nonisolated init() {}
    public func callAsFunction() {}
}

// developer.apple.com/documentation/swiftui/openurlaction
@MainActor public struct OpenURLAction {
    nonisolated(unsafe) let handler: (URL) -> Result
    nonisolated public init(handler: @escaping (URL) -> Result) { self.handler = handler }
    public struct Result: Sendable {
        public static let handled = Result()
        public static let discarded = Result()
        public static let systemAction = Result()
    }
    public func callAsFunction(_ url: URL) { _ = handler(url) }
}

// developer.apple.com/documentation/swiftui/dynamictypesize
public enum DynamicTypeSize: Hashable, Comparable, CaseIterable, Sendable {
    case xSmall, small, medium, large, xLarge, xxLarge, xxxLarge
    case accessibility1, accessibility2, accessibility3, accessibility4, accessibility5
    public var isAccessibilitySize: Bool { self >= .accessibility1 }
}
