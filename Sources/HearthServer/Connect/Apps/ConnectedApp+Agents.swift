import HearthBase

/// The coding agents of the terminal.
extension ConnectedApp {
    static func claudeFolder(_ places: ConnectPlaces) -> Path {
        places.folder("CLAUDE_CONFIG_DIR", or: places.user.appending(".claude"))
    }

    /// Claude Code: the object `env` of its settings, whose values win over the shell's.
    static func claude(_ target: ConnectTarget, _ places: ConnectPlaces) -> ConnectPlan {
        let roles = [
            "ANTHROPIC_MODEL", "ANTHROPIC_DEFAULT_OPUS_MODEL", "ANTHROPIC_DEFAULT_SONNET_MODEL",
            "ANTHROPIC_DEFAULT_HAIKU_MODEL", "CLAUDE_CODE_SUBAGENT_MODEL",
        ]
        func variable(_ name: String, _ value: String) -> ConnectPlan.Value {
            ConnectPlan.Value(name: name, value: value)
        }
        var variables = [
            variable("ANTHROPIC_BASE_URL", target.address), variable("ANTHROPIC_AUTH_TOKEN", target.anyKey),
        ]
        for role in roles { variables.append(variable(role, target.model)) }
        // Claude Code takes no smaller window than that, and a share of it at which it compacts.
        let least = 100_000
        variables.append(variable("CLAUDE_CODE_AUTO_COMPACT_WINDOW", "\(max(least, target.window))"))
        // With a second credential, or another provider, the requests would go elsewhere.
        var others = [
            "ANTHROPIC_API_KEY", "CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY",
        ]
        if target.window < least {
            let percent = max(1, target.window * 80 / least)
            variables.append(variable("CLAUDE_AUTOCOMPACT_PCT_OVERRIDE", "\(percent)"))
        } else {
            others.append("CLAUDE_AUTOCOMPACT_PCT_OVERRIDE")
        }
        var plan = ConnectPlan(values: variables)
        var edits = others.map { ConfigurationEdit("env", $0, value: nil) }
        edits.append(ConfigurationEdit("apiKeyHelper", value: nil))
        for variable in variables {
            edits.append(ConfigurationEdit("env", variable.name, value: .string(variable.value)))
        }
        plan.files = [
            ConnectPlan.File(path: claudeFolder(places).appending("settings.json"), form: .json, edits: edits)
        ]
        if places.variable("ANTHROPIC_API_KEY") != nil {
            plan.notes.append("ANTHROPIC_API_KEY is set in the shell: unset it, or Claude Code asks which key to use.")
        }
        plan.start = ConnectPlan.Start(
            variables: Dictionary(uniqueKeysWithValues: variables.map { ($0.name, $0.value) }), removed: others)
        return plan
    }

    static func codexFolder(_ places: ConnectPlaces) -> Path {
        places.folder("CODEX_HOME", or: places.user.appending(".codex"))
    }

    /// Codex: a provider of its own, and the model at the top. It takes no address from its environment.
    static func codex(_ target: ConnectTarget, _ places: ConnectPlaces) -> ConnectPlan {
        let provider = ["model_providers", "hearth"]
        var pairs: [(path: [String], value: JSONValue)] = [
            (["model"], .string(target.model)), (["model_provider"], "hearth"),
            (["model_context_window"], .integer(target.window)),
            (["model_auto_compact_token_limit"], .integer(target.window / 5 * 4)),
            (provider + ["name"], "Hearth"), (provider + ["base_url"], .string(target.openAI)),
            (provider + ["wire_api"], "responses"),
        ]
        if let key = target.key { pairs.append((provider + ["experimental_bearer_token"], .string(key))) }
        // A provider of that name that was written by hand may ask for a login.
        var removed = ["env_key", "env_key_instructions", "requires_openai_auth", "query_params", "env_http_headers"]
        if target.key == nil { removed.append("experimental_bearer_token") }
        func steps(_ path: [String]) -> [ConfigurationStep] { path.map { .key($0) } }
        var plan = ConnectPlan(
            values: pairs.map { ConnectPlan.Value(name: $0.path.joined(separator: "."), value: $0.value.line) })
        plan.files = [
            ConnectPlan.File(
                path: codexFolder(places).appending("config.toml"), form: .toml,
                edits: removed.map { ConfigurationEdit(steps(provider + [$0]), nil) }
                    + pairs.map { ConfigurationEdit(steps($0.path), $0.value) })
        ]
        // Arguments are read by all users of the machine, variables by this one.
        var options = pairs.filter { $0.path.last != "experimental_bearer_token" }
        if target.key != nil { options.append((provider + ["env_key"], "HEARTH_API_KEY")) }
        plan.start = ConnectPlan.Start(
            variables: target.key.map { ["HEARTH_API_KEY": $0] } ?? [:],
            arguments: options.flatMap { ["-c", "\($0.path.joined(separator: "."))=\($0.value.line)"] })
        return plan
    }

    /// opencode: a provider of its own, and the models that answer.
    static func opencode(_ target: ConnectTarget, _ places: ConnectPlaces) -> ConnectPlan {
        var model: JSONValue = [
            "name": .string(target.model),
            "limit": ["context": .integer(target.window), "output": .integer(target.answerTokens)],
        ]
        if target.hasVision {
            model["attachment"] = true
            model["modalities"] = ["input": ["text", "image"], "output": ["text"]]
        }
        let provider: JSONValue = [
            "npm": "@ai-sdk/openai-compatible", "name": "Hearth",
            "options": ["baseURL": .string(target.openAI), "apiKey": .string(target.anyKey)],
            "models": [target.model: model],
        ]
        let name = JSONValue.string("hearth/\(target.model)")
        var plan = ConnectPlan(values: target.values)
        let folder = places.configuration.appending("opencode")
        let commented = folder.appending("opencode.jsonc")
        plan.files = [
            ConnectPlan.File(
                path: places.exists(commented) ? commented : folder.appending("opencode.json"), form: .json,
                edits: [
                    ConfigurationEdit("provider", "hearth", value: provider), ConfigurationEdit("model", value: name),
                    ConfigurationEdit("small_model", value: name),
                ])
        ]
        let content: JSONValue = ["provider": ["hearth": provider], "model": name, "small_model": name]
        plan.start = ConnectPlan.Start(variables: ["OPENCODE_CONFIG_CONTENT": content.line])
        return plan
    }

    /// aider: its configuration, and the window in the file of models.
    static func aider(_ target: ConnectTarget, _ places: ConnectPlaces) -> ConnectPlan {
        let name = "openai/\(target.model)"
        let pairs: KeyValuePairs<String, String> = [
            "model": name, "openai-api-base": target.openAI, "openai-api-key": target.anyKey,
        ]
        var plan = ConnectPlan(values: pairs.map { ConnectPlan.Value(name: $0.key, value: $0.value) })
        let facts: JSONValue = [
            "max_tokens": .integer(target.answerTokens), "max_input_tokens": .integer(target.window),
            "max_output_tokens": .integer(target.answerTokens), "input_cost_per_token": 0, "output_cost_per_token": 0,
            "litellm_provider": "openai", "mode": "chat",
        ]
        plan.files = [
            ConnectPlan.File(
                path: places.user.appending(".aider.conf.yml"), form: .yaml,
                edits: pairs.map { ConfigurationEdit($0.key, value: .string($0.value)) }),
            ConnectPlan.File(
                path: places.user.appending(".aider.model.metadata.json"), form: .json,
                edits: [ConfigurationEdit(name, value: facts)]),
        ]
        plan.notes.append("A .aider.conf.yml in a repository or a folder wins over the one in the home folder.")
        plan.start = ConnectPlan.Start(
            variables: [
                "AIDER_MODEL": name, "AIDER_OPENAI_API_BASE": target.openAI, "AIDER_OPENAI_API_KEY": target.anyKey,
                "OPENAI_API_BASE": target.openAI, "OPENAI_API_KEY": target.anyKey,
            ])
        return plan
    }
}
