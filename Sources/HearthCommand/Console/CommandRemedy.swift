import HearthBase

/// Adds commands, options and environment variables of the command line to the remedies of the libraries.
enum CommandRemedy {
    /// The words that carry out a remedy, by error code, or by `code/field` if the code alone has several remedies.
    ///
    /// `{model}`, `{family}`, `{file}`, `{url}` and `{found}` come from the context of the error.
    static let words = [
        "app-model-needed/none": "`hearth pull FAMILY`",
        "app-model-needed/several": "`--model NAME`",
        "app-not-startable": "`hearth connect {found}`",
        "preset-missing": "`hearth preset list`",
        "ambiguous-reference/release": "`hearth use {found}`",
        "answer-interrupted": "`hearth chat --local`",
        "ambiguous-transfer": "`hearth transfers list --format json`",
        "bad-endpoint": "`HF_ENDPOINT=URL`",
        "classifier-not-ready": "`hearth pull REF` or `--model REF`",
        "cloud-missing": "`hearth config set cloud.kind gemini`",
        "cloud-off/forceLocal": "`hearth config unset routing.forceLocal`",
        "catalog-expired": "`--allow-stale`",
        "context-window-exceeded/contextLength": "`hearth config set contextLength N`",
        "digest-missing": "`--allow-unverified`",
        "already-signed": "`hearth trust show {file}`",
        "downgrade-refused": "`--allow-downgrade`",
        "held-back": "`hearth use {model}`",
        "home-too-new": "`HEARTH_HOME=FOLDER`",
        "home-too-old": "`HEARTH_HOME=FOLDER`",
        "hub-answer-invalid/endpoint": "`HF_ENDPOINT=URL`",
        "insufficient-storage/freeable": "`hearth prune`, `hearth transfers clean --all`",
        "key-exists": "`hearth keys revoke {found}`",
        "key-required/keys": "`hearth keys create NAME`",
        "key-required/tls": "`--tls-cert FILE --tls-key FILE`, or `--insecure`",
        "metadata-missing/origin": "`hearth trust init --to {file}`",
        "metered-network": "`--metered allow`",
        "name-clash/family": "`--family NAME`",
        "name-needed/family": "`--family NAME`",
        "no-active-release": "`hearth use {family}@VERSION`",
        "no-home": "`HEARTH_HOME=FOLDER`",
        "no-origin": "`hearth config set origins.NAME URL` or `HEARTH_ORIGIN=URL`",
        "no-trusted-root/fingerprint": "`hearth trust accept {url}`",
        "no-trusted-root/terminal": "`hearth trust accept {url} --fingerprint {found}`",
        "not-enough-memory": "`--ignore-memory`",
        "not-entitled": "`hearth config set entitlement.tier TIER`",
        "not-in-rollout": "`hearth pull {model}`",
        "not-installed": "`hearth pull {model}`; `hearth list` shows the installed releases",
        "not-installed/near": "`hearth list` shows the installed releases",
        "not-publishable/companion": "`--with FILE`",
        "not-publishable/member": "`--member PATH`",
        "not-repairable": "`hearth remove {model}`, then `hearth pull {model}`",
        "nothing-before": "`hearth use {family}@VERSION`",
        "origin-refused/token": "`HF_TOKEN`",
        "origin-unreachable/endpoint": "`HF_ENDPOINT=URL`",
        "passphrase-needed": "`--passphrase-file FILE` or `HEARTH_TRUST_PASSPHRASE=PASSPHRASE`",
        "port-in-use": "`--port PORT`",
        "port-in-use/home": "`HEARTH_HOME={file} hearth stop`, or `--port PORT`",
        "probe-failed": "`hearth use {model}`, with `--no-probe` to insist",
        "release-exists": "`--replace`",
        "release-twice": "`--family`, `--version`, `--variant`",
        "remote-model-missing": "`hearth config set cloud.model NAME`",
        "repository-gated/token": "`HF_TOKEN=TOKEN`",
        "repository-missing/token": "`HF_TOKEN=TOKEN`",
        "not-resumable": "`hearth transfers cancel {file}`",
        "setting-not-set/gateway.keyFile": "`HEARTH_GATEWAY_KEY=KEY` or `hearth config set gateway.keyFile FILE`",
        "transfer-busy/transfer": "`hearth transfers cancel {file}`",
        "signature-needed": "`--sign`, or `--unsigned`",
        "unauthorised": "`HEARTH_CLOUD_KEY=KEY` or `hearth config set cloud.keyFile FILE`",
        "unknown-family/hub": "`hearth search {model}`",
        "unknown-setting": "`hearth config list --all`",
        "unknown-transfer": "`hearth transfers list`",
        "version-needed/version": "`--version VERSION`",
    ]

    /// The remedy of an error, with the words that carry it out on the command line.
    static func text(_ failure: any HearthFailure) -> String? {
        guard var remedy = failure.context.remedy else { return nil }
        let named = failure.context.field.flatMap { words["\(failure.codeText)/\($0)"] }
        guard let template = named ?? words[failure.codeText], let words = filled(template, failure.context) else {
            return remedy
        }
        if remedy.last == "." { remedy.removeLast() }
        return "\(remedy): \(words)"
    }

    /// The template with the facts of a context; `nil` if the context lacks one.
    private static func filled(_ template: String, _ context: ErrorContext) -> String? {
        let family = context.model?.prefix { !"@:".contains($0) }
        let facts = [
            "model": context.model, "family": family.map(String.init), "file": context.file, "found": context.found,
            "url": context.url,
        ]
        var isComplete = true
        let text = template.replacing(/\{(\w+)\}/) { match in
            let value = facts[String(match.1)] ?? nil
            isComplete = isComplete && value != nil
            return argument(value ?? "")
        }
        return isComplete ? text : nil
    }

    /// A value as one word of a shell's command line.
    private static func argument(_ value: String) -> String {
        let isPlain = value.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "._-@:/+,=".contains($0)) }
        return isPlain && !value.isEmpty ? value : "'\(value.replacing("'", with: #"'\''"#))'"
    }
}
