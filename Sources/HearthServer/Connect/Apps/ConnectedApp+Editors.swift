import HearthBase

/// The editors and their extensions.
extension ConnectedApp {
    static func continueFolder(_ places: ConnectPlaces) -> Path {
        places.folder("CONTINUE_GLOBAL_DIR", or: places.user.appending(".continue"))
    }

    /// Continue: an item in the list of models. The old `config.json` is used where it stands alone, since a new
    /// `config.yaml` would hide it.
    static func `continue`(_ target: ConnectTarget, _ places: ConnectPlaces) -> ConnectPlan {
        let name = "Hearth \(target.model)"
        var plan = ConnectPlan(values: target.values)
        let (new, old) = (
            continueFolder(places).appending("config.yaml"), continueFolder(places).appending("config.json")
        )
        if !places.exists(new), places.exists(old) {
            let model: JSONValue = [
                "title": .string(name), "provider": "openai", "model": .string(target.model),
                "apiBase": .string(target.openAI), "apiKey": .string(target.anyKey),
                "contextLength": .integer(target.window),
            ]
            plan.files = [
                ConnectPlan.File(
                    path: old, form: .json,
                    edits: [ConfigurationEdit([.key("models"), .item(key: "title", value: name)], model)])
            ]
            return plan
        }
        var abilities: [JSONValue] = target.hasTools ? ["tool_use"] : []
        if target.hasVision { abilities.append("image_input") }
        var model: JSONValue = [
            "name": .string(name), "provider": "openai", "model": .string(target.model),
            "apiBase": .string(target.openAI), "apiKey": .string(target.anyKey), "roles": ["chat", "edit", "apply"],
        ]
        if !abilities.isEmpty { model["capabilities"] = .array(abilities) }
        model["defaultCompletionOptions"] = [
            "contextLength": .integer(target.window), "maxTokens": .integer(target.answerTokens),
        ]
        plan.files = [
            ConnectPlan.File(
                path: new, form: .yaml,
                edits: [ConfigurationEdit([.key("models"), .item(key: "name", value: name)], model)],
                beginning: "name: Local\nversion: 1.0.0\nschema: v1\n")
        ]
        plan.notes.append("Choose \(name) in Continue's list of models.")
        return plan
    }

    /// Zed: a provider of its own. Zed keeps keys in the system's key store, or reads a variable.
    static func zed(_ target: ConnectTarget, _ places: ConnectPlaces) -> ConnectPlan {
        let model: JSONValue = [
            "name": .string(target.model), "display_name": .string(target.model), "max_tokens": .integer(target.window),
            "capabilities": [
                "tools": .boolean(target.hasTools), "images": .boolean(target.hasVision),
                "parallel_tool_calls": false, "prompt_cache_key": false, "chat_completions": true,
            ],
        ]
        var plan = ConnectPlan(values: target.values)
        plan.files = [
            ConnectPlan.File(
                path: places.configuration.appending("zed").appending("settings.json"), form: .json,
                edits: [
                    ConfigurationEdit(
                        "language_models", "openai_compatible", "Hearth",
                        value: ["api_url": .string(target.openAI), "available_models": [model]])
                ])
        ]
        plan.notes.append(
            "Zed keeps no key in its settings: start it with HEARTH_API_KEY=\(target.anyKey), or enter that key in its "
                + "panel of providers; then choose \(target.model) in the agent panel.")
        return plan
    }

    /// Cline: VS Code keeps its settings in a database of its own.
    static func cline(_ target: ConnectTarget) -> ConnectPlan {
        var plan = ConnectPlan(
            values: [ConnectPlan.Value(name: "API provider", value: "OpenAI Compatible")] + target.values)
        plan.notes.append(
            "Enter these in Cline's panel in VS Code; its program takes `cline auth --provider openai --apikey "
                + "\(target.anyKey) --baseurl \(target.openAI) --modelid \(target.model)`.")
        return plan
    }
}
