import HearthInference

/// Describes an action in one line of the system prompt.
///
/// ```
/// Creates and finds notes. [NOTE_ACTION:{"action":"create","title":…,"body":…}] or {"action":"search","query":…}
/// ```
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
        let forms = forms(action.schema).map(\.text)
        let first = forms.first ?? "{…}"
        return ([action.purpose] + ["\(action.tag.opening)\(first)]"] + forms.dropFirst().map { "or \($0)" })
            .joined(separator: " ")
    }

    /// The forms of a payload: the alternatives of its schema.
    static func forms(_ schema: String) -> [Form] {
        // A schema that is no JSON document has no fields.
        guard let root = try? OrderedJSON(parsing: Array(schema.utf8)), let members = root.members else { return [] }
        let branches = (members["anyOf"] ?? members["oneOf"])?.items ?? [root]
        return branches.compactMap { branch in
            guard let branch = branch.members, let properties = branch["properties"]?.members else { return nil }
            let required = branch["required"]?.items?.compactMap(\.string) ?? []
            let fields = properties.pairs.map { name, shape in
                Form.Field(
                    name: name, value: value(shape), isRequired: required.contains(name))
            }
            return Form(fields: fields)
        }
    }

    private static func value(_ shape: OrderedJSON) -> String? {
        guard let shape = shape.members else { return nil }
        return shape["const"]?.text ?? shape["enum"]?.items?.map(\.text).joined(separator: "|")
    }
}

extension PromptLine.Form {
    fileprivate var text: String {
        func member(_ field: Field) -> String { "\"\(field.name)\":\(field.value ?? "…")" }
        let required = "{\(fields.filter(\.isRequired).map(member).joined(separator: ","))}"
        let optional = fields.filter { !$0.isRequired }.map(\.name)
        return optional.isEmpty ? required : "\(required) (optional: \(optional.joined(separator: ", ")))"
    }
}
