import HearthBase
import HearthInference

/// Reads `tools` and `tool_choice` of Anthropic's API.
enum MessagesTools {
    /// - Parameters:
    ///   - referenced: the deferred tools that the conversation has loaded.
    ///   - searches: whether this server can search the web.
    static func take(
        _ fields: Fields, _ request: inout APIRequest, referenced: [String], searches: Bool
    ) throws(APIFailure) {
        let tools = try fields.objects("tools", atMost: OfferedTools.maximumCount) ?? []
        let choice = try fields.object("tool_choice")
        var offered = OfferedTools()
        var deferred: [(name: String, tool: Fields)] = []
        // The model cannot look for tools where the search is one of Anthropic's servers: it reads all of them.
        let isSearchedElsewhere = tools.contains { $0.value("type")?.string?.hasPrefix("tool_search_tool") ?? false }
        for tool in tools {
            let waits = try tool.flag("defer_loading") ?? false
            if !isSearchedElsewhere, waits, let name = try tool.string("name") {
                deferred.append((name, tool))
            } else {
                try add(tool, &offered, &request, searches)
            }
        }
        // Tools that were loaded later follow, so that the beginning of the prompt stays as it was.
        let named = try choice?.string("name").map { [$0] } ?? []
        for name in referenced + named {
            for tool in deferred where tool.name == name { try add(tool.tool, &offered, &request, searches) }
        }
        try offered.give(to: &request)
        if let choice { try take(choice, &request) }
    }

    private static func add(
        _ tool: Fields, _ offered: inout OfferedTools, _ request: inout APIRequest, _ searches: Bool
    ) throws(APIFailure) {
        let type = try tool.string("type") ?? "custom"
        if type == "custom" || tool.value("input_schema") != nil {
            let client = ClientTool(name: try tool.requiredString("name"))
            return try offered.add(client, tool, parameters: "input_schema")
        }
        if type.hasPrefix("web_search_"), searches {
            return try request.search.offer(tool.string("name") ?? "web_search", in: &offered, tool)
        }
        guard let known = AgentTool.all.first(where: { type.hasPrefix($0.prefix) }) else {
            return tool.leaveOut(type)
        }
        try offered.add(
            ClientTool(name: tool.string("name") ?? known.name), description: known.description,
            parameters: known.parameters, field: tool.name("name"))
    }

    private static func take(_ choice: Fields, _ request: inout APIRequest) throws(APIFailure) {
        request.callsInParallel = try !(choice.flag("disable_parallel_tool_use") ?? false)
        let type = try choice.requiredString("type")
        switch type {
        case "auto": break
        case "none": request.tools = []
        case "any": try request.require(.required, field: choice.name("type"))
        case "tool":
            try request.require(
                .named(request.toolNames.name(choice.requiredString("name"))), field: choice.name("name"))
        default: choice.leaveOut("tool_choice." + type)
        }
    }
}
