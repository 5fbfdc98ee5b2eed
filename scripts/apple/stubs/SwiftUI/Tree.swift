import Foundation
import Observation

/// One element of what a view shows, in tests on Linux: our own, not Apple's.
@MainActor public final class TreeNode {
    /// The kind: `text`, `image`, `button`, `progress`, `vstack`, and others.
    public let kind: String
    public internal(set) var text: String?
    /// The accessibility label, value and hint that the view gives.
    public internal(set) var label: String?
    public internal(set) var value: String?
    public internal(set) var hint: String?
    public internal(set) var identifier: String?
    public internal(set) var traits: Set<String> = []
    public internal(set) var isDisabled = false
    /// Whether VoiceOver passes over it.
    public internal(set) var isHidden = false
    public internal(set) var action: (@MainActor () -> Void)?
    public internal(set) var write: ((String) -> Void)?
    public internal(set) var submit: (() -> Void)?
    public let children: [TreeNode]
    var reading = "contain"

    init(_ kind: String, text: String? = nil, _ children: [TreeNode] = []) {
        (self.kind, self.text, self.children) = (kind, text, children)
    }
    convenience init(_ kind: String, _ children: [TreeNode]) { self.init(kind, text: nil, children) }

    /// The node and all below it, in the order of reading.
    public var all: [TreeNode] { [self] + children.flatMap(\.all) }
    /// The visible texts.
    public var texts: [String] { all.compactMap { $0.kind == "text" || $0.kind == "alert" || $0.kind == "dialog" || $0.kind == "title" ? $0.text : nil } }
    /// The texts that VoiceOver reads of a node without a label.
    private var heard: [String] { isHidden ? [] : label.map { [$0] } ?? (kind == "image" ? [] : [text].compactMap(\.self)) + children.flatMap(\.heard) }
    /// The name that VoiceOver speaks.
    public var name: String { label ?? ([text].compactMap(\.self) + children.flatMap(\.heard)).joined(separator: ", ") }

    /// The elements that VoiceOver stops at: name, value, hint, kind.
    public var spoken: [String] {
        if isHidden { return [] }
        // A container with a name keeps the elements in it.
        if kind == "element", reading == "contain" { return children.flatMap(\.spoken) }
        let isElement = ["button", "toggle", "field", "progress", "link", "label", "text"].contains(kind) || reading != "contain" || label != nil && kind != "section"
        guard isElement else { return children.flatMap(\.spoken) }
        let name = kind == "element" && reading == "ignore" ? label ?? "" : self.name
        let parts = [name, value, hint].compactMap(\.self) + (kind == "button" ? ["button"] : []) + traits.intersection(["selected", "header"]).sorted()
            + (isDisabled ? ["dimmed"] : [])
        return [parts.filter { !$0.isEmpty }.joined(separator: " | ")]
    }

    /// The tree as lines, for a failed test.
    public func outline(_ depth: Int = 0) -> String {
        let own = [kind, text.map { "“\($0)”" }, label.map { "label “\($0)”" }, value.map { "value “\($0)”" }].compactMap(\.self)
        return String(repeating: "  ", count: depth) + own.joined(separator: " ") + "\n" + children.map { $0.outline(depth + 1) }.joined()
    }
}

/// A view that has nodes of its own.
@MainActor protocol Recorded {
    func record(_ recorder: Recorder) -> [TreeNode]
}

/// A property of a view that is connected to its place in the tree.
protocol Connected {
    func connect(to recorder: Recorder, at path: String)
}

/// Walks through views.
final class Recorder {
    var environment = EnvironmentValues()
    var submit: (() -> Void)?
    var path = ""
    var cells: [String: AnyObject] = [:]
    var done: Set<String> = []
    var tasks: [@Sendable () async -> Void] = []
    var effects: [() -> Void] = []
    init() {}

    @MainActor func nodes(of view: any View, at step: String) -> [TreeNode] {
        let before = path
        path += "/\(step)"
        defer { path = before }
        if let own = view as? any Recorded { return own.record(self) }
        return connect(view, at: "\(type(of: view))") { open(view) }
    }

    @MainActor private func open<V: View>(_ view: V) -> [TreeNode] { nodes(of: view.body, at: "body") }

    /// Connects the properties of a view or a modifier before its body is read.
    @MainActor func connect<Result>(_ owner: Any, at step: String, _ body: () -> Result) -> Result {
        let before = path
        path += "/\(step)"
        defer { path = before }
        for (index, child) in Mirror(reflecting: owner).children.enumerated() {
            (child.value as? any Connected)?.connect(to: self, at: "\(path)#\(index)")
        }
        return body()
    }

    func cell<Value>(at path: String, _ new: Cell<Value>) -> Cell<Value> {
        if let old = cells[path] as? Cell<Value> { return old }
        cells[path] = new
        return new
    }

    /// Keeps an action for the first time that a view is shown.
    func once(_ name: String, _ action: @escaping () -> Void) {
        if done.insert("\(path)/\(name)").inserted { effects.append(action) }
    }
}

/// A view that is shown in a test.
/// For tests on Linux: our own, not Apple's.
@MainActor public final class ViewTree {
    private let view: any View
    private let recorder = Recorder()
    /// Whether something that the view has read has changed since.
    public private(set) var isOutdated = true
    public private(set) var root = TreeNode("root", [])

    public init(
        _ view: any View, locale: String = "en", size: DynamicTypeSize = .large
    ) {
        self.view = view
        recorder.environment.locale = Locale(identifier: locale)
        recorder.environment.dynamicTypeSize = size
        render()
    }

    /// Reads the view again.
    public func render() {
        withObservationTracking {
            root = TreeNode("root", recorder.nodes(of: view, at: "root"))
        } onChange: { [weak self] in
            MainActor.assumeIsolated { self?.isOutdated = true }
        }
        isOutdated = false
        let effects = recorder.effects
        recorder.effects = []
        for effect in effects { effect() }
        if !effects.isEmpty { render() }
    }

    /// Runs the tasks of views that have appeared.
    public func runTasks() async {
        while !recorder.tasks.isEmpty {
            let tasks = recorder.tasks
            recorder.tasks = []
            for task in tasks { await task() }
            render()
        }
    }

    public var texts: [String] { root.texts }
    public var spoken: [String] { root.spoken }
    public var buttons: [TreeNode] { root.all.filter { $0.kind == "button" } }
    public func nodes(_ kind: String) -> [TreeNode] { root.all.filter { $0.kind == kind } }

    /// Does what a button of a name does; `false` if there is none, several, or a disabled one.
    @discardableResult public func tap(_ name: String) -> Bool {
        let found = root.all.filter { ["button", "toggle"].contains($0.kind) && $0.name == name }
        guard found.count == 1, !found[0].isDisabled, let action = found[0].action else { return false }
        action()
        render()
        return true
    }

    /// Writes into the only field.
    @discardableResult public func write(_ text: String) -> Bool {
        guard let field = nodes("field").first, !field.isDisabled else { return false }
        field.write?(text)
        render()
        return true
    }

    /// Presses the return key in the only field.
    public func submit() {
        nodes("field").first?.submit?()
        render()
    }
}
