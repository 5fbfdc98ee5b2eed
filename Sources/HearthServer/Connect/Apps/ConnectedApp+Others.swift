import HearthBase

/// The programs that are no agents.
extension ConnectedApp {
    static func llmFolder(_ places: ConnectPlaces) -> Path {
        #if os(macOS)
        let usual = places.user.appending("Library").appending("Application Support").appending("io.datasette.llm")
        #else
        let usual = places.configuration.appending("io.datasette.llm")
        #endif
        return places.folder("LLM_USER_PATH", or: usual)
    }

    /// llm: an item in its list of models. A key has a file of its own.
    static func llm(_ target: ConnectTarget, _ places: ConnectPlaces) -> ConnectPlan {
        let name = "hearth/\(target.model)"
        var model: JSONValue = [
            "model_id": .string(name), "model_name": .string(target.model), "api_base": .string(target.openAI),
        ]
        if target.key != nil { model["api_key_name"] = "hearth" }
        model["can_stream"] = true
        if target.hasTools { model["supports_tools"] = true }
        model["supports_schema"] = true
        if target.hasVision { model["vision"] = true }
        let edit = ConfigurationEdit([.item(key: "model_id", value: name)], model)
        var plan = ConnectPlan(values: target.values)
        let folder = llmFolder(places)
        plan.files = [
            ConnectPlan.File(path: folder.appending("extra-openai-models.yaml"), form: .yaml, edits: [edit])
        ]
        if let key = target.key {
            plan.files.append(
                ConnectPlan.File(
                    path: folder.appending("keys.json"), form: .json,
                    edits: [ConfigurationEdit("hearth", value: .string(key))]))
        }
        plan.notes.append("Ask it with: llm -m \(name) QUESTION")
        let text = YAMLText.item(model).joined(separator: "\n") + "\n"
        plan.start = ConnectPlan.Start(
            variables: [
                "LLM_USER_PATH": places.home.appending("connect").appending("llm-run").string, "LLM_MODEL": name,
                "OPENAI_API_KEY": target.anyKey,
            ],
            file: ("connect/llm-run/extra-openai-models.yaml", text))
        return plan
    }

    /// Open WebUI: its database holds the settings; variables win where they are told to.
    static func openWebUI(_ target: ConnectTarget) -> ConnectPlan {
        let variables = [
            "OPENAI_API_BASE_URLS": target.openAI, "OPENAI_API_KEYS": target.anyKey, "ENABLE_OLLAMA_API": "False",
            "ENABLE_PERSISTENT_CONFIG": "False",
        ]
        var plan = ConnectPlan(values: target.values)
        plan.notes.append(
            "Enter these under Admin Panel, Settings, Connections, or start it with `hearth connect run open-webui -- "
                + "serve`.")
        plan.start = ConnectPlan.Start(variables: variables)
        return plan
    }
}
