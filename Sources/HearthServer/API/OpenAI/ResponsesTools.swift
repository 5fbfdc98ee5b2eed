import HearthBase
import HearthInference

/// Reads the tools of `/v1/responses`: those of the field `tools`, and those inside the input.
struct ResponsesTools {
    private(set) var offered = OfferedTools()
    private var search = SearchRules()
    /// Whether this server can search the web.
    private let searches: Bool
    /// Whether the client looks for tools, so that deferred ones stay unknown until it finds them.
    private var hasClientSearch = false

    init(searches: Bool) { self.searches = searches }

    /// Reads all tools of a request.
    static func take(_ fields: Fields, _ request: inout APIRequest, searches: Bool) throws(APIFailure) {
        var reader = ResponsesTools(searches: searches)
        let tools = try fields.objects("tools", atMost: OfferedTools.maximumCount) ?? []
        let items =
            fields.value("input")?.items == nil
            ? [] : try fields.objects("input", atMost: APIRequest.maximumMessages) ?? []
        var lists = [tools]
        for item in items where ["additional_tools", "tool_search_output"].contains(item.value("type")?.string) {
            lists.append(try item.objects("tools", atMost: OfferedTools.maximumCount) ?? [])
        }
        reader.hasClientSearch = lists.joined().contains { Self.isClientSearch($0) }
        for (index, list) in lists.enumerated() {
            for tool in list { try reader.add(tool, isFound: index > 0) }
        }
        request.search = reader.search
        try reader.offered.give(to: &request)
        request.callsInParallel = try fields.flag("parallel_tool_calls") ?? true
        try takeChoice(fields, &request)
    }

    private static func isClientSearch(_ tool: Fields) -> Bool {
        tool.value("type")?.string == "tool_search" && tool.value("execution")?.string == "client"
    }

    /// - Parameter isFound: whether the tool is inside the input, where a later definition counts.
    private mutating func add(
        _ tool: Fields, namespace: String? = nil, isFound: Bool
    ) throws(APIFailure) {
        let type = try tool.string("type") ?? "function"
        func client(_ kind: ClientTool.Kind, _ fields: Fields) throws(APIFailure) -> ClientTool {
            ClientTool(kind: kind, name: try fields.requiredString("name"), namespace: namespace)
        }
        switch type {
        case "function":
            if try waits(tool, isFound) { return }
            let function = try tool.object("function") ?? tool
            try offered.add(try client(.function, function), function, parameters: "parameters", replaces: isFound)
        case "custom":
            if try waits(tool, isFound) { return }
            try offered.addCustom(try client(.custom, tool), tool, replaces: isFound)
        case "namespace":
            // Some clients group tools in more than one level; a call names only the last one.
            let name = try tool.requiredString("name")
            for inner in try tool.objects("tools", atMost: OfferedTools.maximumCount) ?? [] {
                try add(inner, namespace: name, isFound: isFound)
            }
        case "tool_search" where Self.isClientSearch(tool):
            try offered.add(
                ClientTool(kind: .toolSearch, name: "tool_search", namespace: namespace), tool,
                parameters: "parameters", replaces: isFound)
        case "local_shell": try add(AgentTool.localShell, .localShell, tool, isFound)
        case "shell" where ["local", nil].contains(tool.value("environment")?["type"]?.string):
            try add(AgentTool.shell, .shell, tool, isFound)
        case "apply_patch": try add(AgentTool.applyPatch, .applyPatch, tool, isFound)
        case _ where type.hasPrefix("web_search"):
            // Some clients want pages of an archive only, which this server does not have.
            guard searches, tool.value("external_web_access")?.flag != false else { return tool.leaveOut(type) }
            try search.offer("web_search", in: &offered, tool)
        default: tool.leaveOut(type)
        }
    }

    /// Whether the client's search must find a tool first.
    private func waits(_ tool: Fields, _ isFound: Bool) throws(APIFailure) -> Bool {
        let isDeferred = try tool.flag("defer_loading") ?? false
        return isDeferred && hasClientSearch && !isFound
    }

    private mutating func add(
        _ known: AgentTool, _ kind: ClientTool.Kind, _ tool: Fields, _ isFound: Bool
    ) throws(APIFailure) {
        // A function of the client with this name comes first.
        guard !offered.has(known.name) || isFound else { return tool.leaveOut(known.name) }
        try offered.add(
            ClientTool(kind: kind, name: known.name), description: known.description, parameters: known.parameters,
            field: tool.name("type"), replaces: isFound)
    }

    private static func takeChoice(_ fields: Fields, _ request: inout APIRequest) throws(APIFailure) {
        guard let choice = fields.value("tool_choice", .text) else { return }
        if let word = choice.string { return try request.take(choice: word, fields) }
        guard let object = try fields.object("tool_choice") else { return }
        let type = try object.string("type") ?? "function"
        if type == "allowed_tools" {
            var names: Set<String> = []
            for tool in try object.objects("tools", atMost: OfferedTools.maximumCount) ?? [] {
                names.formUnion(try named(tool, request).map { [$0] } ?? [])
            }
            request.allow(names)
            return try request.take(choice: object.string("mode") ?? "auto", object)
        }
        guard let name = try named(object, request) else { return object.leaveOut("tool_choice." + type) }
        try request.require(.named(name), field: object.name("name"))
    }

    /// The model's name of the tool that an object names, or has the kind of; `nil` for an unknown kind.
    private static func named(_ object: Fields, _ request: APIRequest) throws(APIFailure) -> String? {
        let type = try object.string("type") ?? "function"
        let function = try object.object("function") ?? object
        if let name = try function.string("name") {
            return request.toolNames.name(name, namespace: try function.string("namespace"))
        }
        if type.hasPrefix("web_search") { return request.search.tool ?? "web_search" }
        return ["local_shell", "shell", "apply_patch", "tool_search"].contains(type)
            ? request.toolNames.name(type) : nil
    }
}
