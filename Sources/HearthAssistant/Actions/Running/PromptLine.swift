import HearthBase
import HearthInference

/// An action as a prompt describes it.
package struct PromptAction: Sendable, Hashable {
    package var tag: ActionTag
    /// Its purpose and all forms with all fields on one line.
    package var line: String
    /// A line for each form, the most used first.
    package var shortLines: [String]
}

/// Describes an action in one line of the system prompt.
///
/// ```
/// The user's notes. [NOTE_ACTION:{"action":"create","title":…}] (optional: body) or {"action":"search","query":…}
/// ```
/// Each token of it is computed on the device once for each conversation, and takes room from the answer.
enum PromptLine {
    struct Form {
        struct Field {
            let name: String
            /// The only value that the field may have, as JSON.
            let value: String?
            let isRequired: Bool
        }

        let fields: [Field]
    }

    static func text(of action: any AssistantAction) -> String {
        let forms = forms(action.schema)
        guard let first = forms.first else { return "\(action.purpose) \(action.tag.opening){…}]" }
        var parts = [action.purpose, "\(action.tag.opening)\(first.object)]\(first.options())"]
        parts += forms.dropFirst().map { "or \($0.object)\($0.options(after: first))" }
        return parts.joined(separator: " ")
    }

    /// A line for each form of an action, the first of them with the first fields that may be added.
    ///
    /// ```
    /// [NOTE_ACTION:{"action":"create","title":…}] (optional: body)
    /// [NOTE_ACTION:{"action":"search","query":…}]
    /// ```
    static func shortLines(of action: any AssistantAction) -> [String] {
        let forms = forms(action.schema)
        guard let first = forms.first else { return ["\(action.tag.opening){…}]"] }
        return ["\(action.tag.opening)\(first.object)]\(first.options(atMost: 3))"]
            + forms.dropFirst().map { "\(action.tag.opening)\($0.object)]" }
    }

    /// The forms of a payload: the alternatives of its schema.
    static func forms(_ schema: String) -> [Form] {
        // A schema that is no JSON document has no fields.
        guard let root = try? JSONValue(parsing: Array(schema.utf8)), let members = root.members else { return [] }
        let branches = (members["anyOf"] ?? members["oneOf"])?.items ?? [root]
        return branches.compactMap { branch in
            guard let branch = branch.members, let properties = branch["properties"]?.members else { return nil }
            let required = branch["required"]?.items?.compactMap(\.string) ?? []
            let fields = properties.map { name, shape in
                Form.Field(
                    name: name, value: value(shape), isRequired: required.contains(name))
            }
            return Form(fields: fields)
        }
    }

    private static func value(_ shape: JSONValue) -> String? {
        guard let shape = shape.members else { return nil }
        return shape["const"]?.line ?? shape["enum"]?.items?.map(\.line).joined(separator: "|")
    }
}

extension PromptLine.Form {
    /// The object with its required fields.
    fileprivate var object: String {
        let members = fields.filter(\.isRequired).map { "\"\($0.name)\":\($0.value ?? "…")" }
        return "{\(members.joined(separator: ","))}"
    }

    private var optional: [String] { fields.filter { !$0.isRequired }.map(\.name) }

    /// The names of the optional fields in parentheses.
    /// - Parameter first: a form whose fields are not named again if this one has all of them.
    fileprivate func options(after first: Self? = nil, atMost limit: Int = .max) -> String {
        let optional = Array(optional.prefix(limit))
        guard !optional.isEmpty else { return "" }
        let known = first?.optional ?? []
        guard known.count > 1, Set(known).isSubset(of: optional) else {
            return " (optional: \(optional.joined(separator: ", ")))"
        }
        let others = optional.filter { !known.contains($0) }
        return " (optional: \((others + ["the above"]).joined(separator: ", ")))"
    }
}
