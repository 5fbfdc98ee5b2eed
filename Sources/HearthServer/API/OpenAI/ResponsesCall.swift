import HearthBase
import HearthInference

/// A call of a tool as an item of `/v1/responses`, in the form that the tool's kind has there.
struct ResponsesCall {
    private let call: ToolCall
    private let client: ClientTool

    init(_ call: ToolCall, _ names: ToolNames) {
        self.call = call
        client = names.client(call.name)
    }

    var id: String {
        switch client.kind {
        case .function, .webSearch: "fc_" + call.id
        case .custom: "ctc_" + call.id
        case .toolSearch: "tsc_" + call.id
        case .localShell: "lsh_" + call.id
        case .shell: "sh_" + call.id
        case .applyPatch: "apc_" + call.id
        }
    }

    /// The events that tell the text of the call, if its kind has any: the name of the family, the member and the text.
    var pieces: (event: String, member: String, text: String)? {
        switch client.kind {
        case .function, .webSearch: ("response.function_call_arguments", "arguments", call.arguments)
        case .custom: ("response.custom_tool_call_input", "input", ClientTool.text(of: call))
        case .toolSearch, .localShell, .shell, .applyPatch: nil
        }
    }

    /// The name for the event that ends the text; only functions have it.
    var endName: JSONValue? { client.kind == .function ? .string(client.name) : nil }

    /// - Parameter isEmpty: whether the text follows in events.
    func item(status: String, isEmpty: Bool = false) -> JSONValue {
        var item: JSONValue = [
            "id": .string(id), "type": .string(type), "status": .string(status), "call_id": .string(call.id),
        ]
        let arguments = JSONValue.object(parsing: call.arguments)
        switch client.kind {
        case .function, .webSearch, .custom:
            item["name"] = .string(client.name)
            item["namespace"] = client.namespace.map { .string($0) }
            if let pieces { item[pieces.member] = .string(isEmpty ? "" : pieces.text) }
        case .toolSearch:
            item["execution"] = "client"
            item["arguments"] = arguments
        case .localShell:
            item["action"] = [
                "type": "exec", "command": arguments["command"] ?? [], "env": [:],
                "timeout_ms": arguments["timeout_ms"] ?? .null,
                "working_directory": arguments["working_directory"] ?? .null, "user": .null,
            ]
        case .shell:
            item["action"] = [
                "commands": arguments["commands"] ?? [], "timeout_ms": arguments["timeout_ms"] ?? .null,
                "max_output_length": arguments["max_output_length"] ?? .null,
            ]
        case .applyPatch: item["operation"] = arguments
        }
        return item.marked(call)
    }

    private var type: String {
        switch client.kind {
        case .function, .webSearch: "function_call"
        case .custom: "custom_tool_call"
        case .toolSearch: "tool_search_call"
        case .localShell: "local_shell_call"
        case .shell: "shell_call"
        case .applyPatch: "apply_patch_call"
        }
    }
}
