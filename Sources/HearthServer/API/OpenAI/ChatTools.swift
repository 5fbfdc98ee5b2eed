import HearthBase
import HearthInference

/// Reads `tools`, `tool_choice` and `parallel_tool_calls` of `/v1/chat/completions`, and their older forms `functions` and
/// `function_call`.
enum ChatTools {
    /// - Parameter searches: whether this server can search the web.
    static func take(_ fields: Fields, _ request: inout APIRequest, searches: Bool) throws(APIFailure) {
        var offered = OfferedTools()
        for tool in try fields.objects("tools", atMost: OfferedTools.maximumCount) ?? [] {
            let type = try tool.string("type") ?? "function"
            switch type {
            case "function":
                // Some clients write the function's fields at the top.
                guard let function = try tool.object("function") ?? (tool.value("name") == nil ? nil : tool) else {
                    throw .invalid(tool.name("function"), "an object")
                }
                try offered.add(
                    ClientTool(name: function.requiredString("name")), function, parameters: "parameters")
            case "custom":
                let custom = try tool.object("custom") ?? tool
                try offered.addCustom(ClientTool(kind: .custom, name: custom.requiredString("name")), custom)
            default: tool.leaveOut(type)
            }
        }
        for function in try fields.objects("functions", atMost: OfferedTools.maximumCount) ?? [] {
            try offered.add(ClientTool(name: function.requiredString("name")), function, parameters: "parameters")
        }
        if searches, let options = try fields.object("web_search_options") {
            try request.search.offer("web_search", in: &offered, options)
        }
        try offered.give(to: &request)
        request.callsInParallel = try fields.flag("parallel_tool_calls") ?? true
        try takeChoice(fields, &request)
        if let word = fields.text("function_call") {
            try request.take(choice: word, fields)
        } else if let named = try fields.object("function_call") {
            try request.require(
                .named(request.toolNames.name(named.requiredString("name"))), field: named.name("name"))
        }
    }

    private static func takeChoice(_ fields: Fields, _ request: inout APIRequest) throws(APIFailure) {
        guard let choice = fields.value("tool_choice", .text) else { return }
        if let word = choice.string { return try request.take(choice: word, fields) }
        guard let object = try fields.object("tool_choice") else { return }
        switch try object.string("type") ?? "function" {
        case "allowed_tools":
            let allowed = try object.object("allowed_tools") ?? object
            var names: Set<String> = []
            for tool in try allowed.objects("tools", atMost: OfferedTools.maximumCount) ?? [] {
                let named = try tool.firstObject("function", "custom") ?? tool
                if let name = try named.string("name") { names.insert(request.toolNames.name(name)) }
            }
            request.allow(names)
            try request.take(choice: allowed.string("mode") ?? "auto", allowed)
        case let type:
            let named = try object.firstObject("function", "custom") ?? object
            guard let name = try named.string("name") else { return object.leaveOut("tool_choice." + type) }
            try request.require(.named(request.toolNames.name(name)), field: named.name("name"))
        }
    }
}

extension APIRequest {
    /// Takes a choice in one word; an unknown word lets the model decide.
    mutating func take(choice: String, _ fields: Fields) throws(APIFailure) {
        switch choice {
        case "none": tools = []
        case "auto": break
        case "required", "any": try require(.required)
        default: fields.leaveOut("tool_choice")
        }
    }
}
