import Foundation
import HearthInference

/// The actions that a model can take, in two dialects: blocks in its text, and tool calls.
package struct ActionRegistry: Sendable {
    /// The actions in the order in which their blocks are carried out.
    package private(set) var actions: [any AssistantAction]
    /// The words of an app for titles of cards and labels of their values, by the English text.
    package var labels: [String: String] = [:]

    /// Makes a registry. Of several actions with one tag the first counts; tags that cannot be written are left out.
    package init(_ actions: [any AssistantAction]) {
        var seen: Set<ActionTag> = []
        let usable = actions.filter { $0.tag.isUsable && seen.insert($0.tag).inserted }
        func place(_ tag: ActionTag) -> Int { ActionTag.order.firstIndex(of: tag) ?? ActionTag.order.count }
        self.actions = usable.enumerated()
            .sorted { (place($0.element.tag), $0.offset) < (place($1.element.tag), $1.offset) }
            .map(\.element)
    }

    /// The actions of a private conversation: without searches that leave the device.
    package var forPrivateUse: ActionRegistry {
        var registry = self
        registry.actions = actions.filter { action in
            action.tag != .webSearch || (action as? WebSearchAction)?.reach == .onThisDevice
        }
        return registry
    }

    package var tags: [ActionTag] { actions.map(\.tag) }

    /// The words of the app for a title or a label.
    func label(_ text: String) -> String { labels[text] ?? text }

    package func action(_ tag: ActionTag) -> (any AssistantAction)? { actions.first { $0.tag == tag } }

    /// The actions as a prompt describes them.
    package var promptActions: [PromptAction] {
        actions.map {
            PromptAction(tag: $0.tag, line: PromptLine.text(of: $0), shortLines: PromptLine.shortLines(of: $0))
        }
    }

    /// The actions of some tags.
    func only(_ tags: [ActionTag]) -> ActionRegistry {
        var registry = self
        registry.actions = actions.filter { tags.contains($0.tag) }
        return registry
    }

    /// The names of an action's fields, from its schema; empty if it lists none.
    package static func fields(of action: any AssistantAction) -> [String] {
        var names: [String] = []
        for form in PromptLine.forms(action.schema) {
            for field in form.fields where !names.contains(field.name) { names.append(field.name) }
        }
        return names
    }

    /// The shape of each block.
    package var constraint: OutputConstraint {
        OutputConstraint(blocks: actions.map { .init($0.tag.opening, .jsonSchema($0.schema), closing: "]") })
    }

    /// The actions as tools, for models that call tools natively. A tool's name is the tag in lower case.
    package var toolDefinitions: [ToolDefinition] {
        actions.map {
            ToolDefinition(name: $0.tag.toolName, description: $0.purpose, parameters: $0.toolSchema)
        }
    }

    /// The block of a tool call; `nil` if the call names no action.
    package func block(of call: ToolCall, index: Int = 0) -> ScannedBlock? {
        guard let tag = tags.first(where: { $0.toolName == call.name.lowercased() }) else { return nil }
        // Models leave out an empty object of arguments.
        return ScannedBlock(tag: tag, payload: call.arguments.isEmpty ? "{}" : call.arguments, index: index)
    }
}

extension ActionTag {
    /// The name of the tool that stands for the tag.
    package var toolName: String { rawValue.lowercased() }
}
