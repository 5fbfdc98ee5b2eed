import Hearth
import HearthBase

private let keyArgument = Argument(
    "KEY", .word,
    "The setting: origins.NAME, trust.NAME, defaultModel, contextLength, cacheType, flashAttention, threads, maximumNewTokens, "
        + "temperature, imageMinTokens, imageMaxTokens, stateFolder, ignoreMemory, network.metered, routing.forceLocal, "
        + "entitlement.tier, entitlement.credits, cloud.kind, cloud.url, cloud.model, cloud.keyFile, cloud.firstByteSeconds, cloud.shares, serve.port, serve.keepAlive, "
        + "serve.hosts, serve.origins, serve.slots, serve.cells, serve.seed, serve.anyModel, gateway.url, gateway.header, "
        + "gateway.keyFile or gateway.files."
)

/// `hearth config get KEY`
struct ConfigGet: Command {
    static let declaration = CommandDeclaration(
        "config", "get", summary: "Print one setting",
        discussion: ["Prints the value alone, so that a script can use it. A setting without a value is an error."],
        arguments: [keyArgument],
        exitStatuses: [(0, "The setting has a value."), (1, "It has none, or there is no such setting.")],
        examples: [.init("hearth config get defaultModel", "The model that chat uses when none is named.")])

    let key: String

    init(_ values: ParsedArguments) throws { key = try values.value(keyArgument) }

    func run(in context: CommandContext) async throws {
        guard let value = try await context.configuration.value(of: key) else {
            throw ConfigurationError(
                .notSet, "\(key) is not set",
                context: ErrorContext(field: key, remedy: "Set it with `hearth config set \(key) VALUE`."))
        }
        try context.console.print(value)
    }
}

/// `hearth config set KEY VALUE`
struct ConfigSet: Command {
    private static let value = Argument("VALUE", .text, "The new value; it is checked before anything is written.")

    static let declaration = CommandDeclaration(
        "config", "set", summary: "Change one setting",
        discussion: [
            "Settings are kept in config.json in the home folder, readable by its owner only.",
            "origins.NAME is the address of a models.json: https, http to this machine, or a path. trust.NAME is the root of "
                + "that origin's keys: the path of a root.json, or its fingerprint; nothing unsigned is accepted from it then. "
                + "defaultModel is what chat uses when no model is named. contextLength, threads, maximumNewTokens and "
                + "temperature change how models run; unset, each has a sensible value of its own. cacheType is f16, q8_0 or "
                + "q4_0: how the context is stored; unset, f16, or, unless flashAttention is off, q8_0 where only that fits. "
                + "flashAttention is auto, on or off: off makes a processor answer faster at the end of one long conversation and "
                + "read a first prompt more slowly, and takes more memory, so that the context may be shorter (hearth show); a "
                + "context stored as q8_0 or q4_0 has it on all the same. imageMinTokens and imageMaxTokens bound "
                + "what a picture takes of the context, for models that leave a choice. stateFolder is "
                + "the absolute path of a folder in which the computed states of conversations outlive a process, so that the "
                + "same beginning is not read twice; they hold what was said. ignoreMemory, true or "
                + "false, loads models that need more memory than this device has. network.metered is "
                + "allow, ask or deny: what to do on a network whose bytes cost money; unset, you are asked at a terminal, "
                + "and elsewhere the download is refused. routing.forceLocal, true or false, keeps everything on this device, also "
                + "where a cloud is set up. entitlement.tier is free, starter or pro, and entitlement.credits the messages to the "
                + "cloud in each month; unset, your own key counts as pro and nothing is counted. cloud.kind is openai, gemini, "
                + "gemini-relay or anthropic: which cloud model may answer; unset, none. It brings the vendor's address and a model; "
                + "cloud.url and cloud.model name others, and another kind resets them. The key is in GEMINI_API_KEY, "
                + "OPENAI_API_KEY, ANTHROPIC_API_KEY or HEARTH_CLOUD_KEY, or in the file cloud.keyFile, which only you may read. "
                + "cloud.firstByteSeconds is the longest wait for the beginning of an answer from the cloud, before a local model "
                + "takes over; unset, 15, or 60 for openai. cloud.shares is what the cloud may have beside your question: some of "
                + "instructions, history and pictures, separated by commas, or none; unset, all. serve.port is the port of hearth "
                + "serve. serve.keepAlive is how many seconds an idle model stays in its memory, or always; unset, 300. serve.hosts "
                + "are names under which other machines ask it, and serve.origins the origins of pages that may call it, such as "
                + "https://app.example.org, separated by commas; unset, none. serve.slots is the number of answers that a model "
                + "computes side by side, and serve.cells the tokens of all of them together; unset, the engine decides. serve.seed "
                + "repeats answers to requests without a seed. serve.anyModel, true or false, lets the default model answer "
                + "requests for models that do not exist here. gateway.url is a service that exchanges a key for time-limited "
                + "addresses of files; the key is in HEARTH_GATEWAY_KEY, or in the file gateway.keyFile, which only you may read. "
                + "gateway.header names the header that holds it; unset, Authorization. gateway.files are the beginnings of the "
                + "addresses that need one, separated by commas; unset, those beside each models.json.",
        ],
        arguments: [keyArgument, value],
        examples: [
            .init(
                "hearth config set origins.main https://models.example.org/models.json", "Get models from this address."
            ),
            .init("hearth config set origins.local ./origin/models.json", "Get models from a folder of this machine."),
            .init("hearth config set defaultModel smollm2-135m-instruct", "Chat with this model."),
            .init("hearth config set cloud.kind gemini", "Let Gemini answer, with the key in GEMINI_API_KEY."),
        ])

    let key: String
    let value: String

    init(_ values: ParsedArguments) throws {
        key = try values.value(keyArgument)
        value = try values.value(Self.value)
    }

    func run(in context: CommandContext) async throws {
        try await context.changeConfiguration { try $0.set(key, to: value) }
    }
}

/// `hearth config unset KEY`
struct ConfigUnset: Command {
    static let declaration = CommandDeclaration(
        "config", "unset", summary: "Take one setting back to its default",
        discussion: ["It is no error when the setting has no value."],
        arguments: [keyArgument],
        examples: [.init("hearth config unset origins.local", "Forget an origin; what was installed from it stays.")])

    let key: String

    init(_ values: ParsedArguments) throws { key = try values.value(keyArgument) }

    func run(in context: CommandContext) async throws {
        try await context.changeConfiguration { try $0.set(key, to: nil) }
    }
}

/// `hearth config list`
struct ConfigList: Command {

    static let declaration = CommandDeclaration(
        "config", "list", summary: "Print every setting that has a value",
        discussion: ["With --format json, an array of objects with key and value."],
        options: [Option.listing],
        examples: [.init("hearth config list", "See what is set.")])

    let format: ListingFormat

    init(_ values: ParsedArguments) throws { format = try values.value(.listing) ?? .table }

    private struct Entry: Encodable {
        let key: String
        let value: String
    }

    func run(in context: CommandContext) async throws {
        let entries = try await context.configuration.entries
        switch format {
        case .json: try context.console.print(JSONText.pretty(entries.map { Entry(key: $0.key, value: $0.value) }))
        case .table:
            if entries.isEmpty { context.console.say("Nothing is set.") }
            for entry in entries { try context.console.print("\(entry.key) = \(entry.value)") }
        }
    }
}

extension CommandContext {
    /// Reads, changes and writes the settings.
    fileprivate func changeConfiguration(_ change: @escaping @Sendable (inout Configuration) throws -> Void)
        async throws
    {
        let home = try home
        try await blocking {
            var configuration = try Configuration.load(home: home)
            try change(&configuration)
            try configuration.save(home: home)
        }
    }
}
