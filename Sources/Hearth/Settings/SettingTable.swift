import Foundation
import HearthAssistant
import HearthBase
import HearthHTTP
import HearthInference
import HearthRouting

extension Setting {
    /// All settings, one row for each key or family of keys.
    package static let table = [
        rows(.sources, sources), rows(.network, network), rows(.gateway, gateway), rows(.models, models),
        rows(.answers, answers), rows(.engines, engines),
        rows(.cloud, cloud), rows(.upstreams, upstreams), rows(.assistant, assistant), rows(.server, server),
    ].flatMap { $0 }

    private static let sources: [Setting] = [
        .family("origins.NAME", named: .plain, { $0.origins.keys.sorted() }) { name in
            Setting(
                "origins.\(name)", optional: \.origins[name], .origin,
                "The address of a publisher's models.json: https, http to this machine, or a path.")
        },
        .family("trust.NAME", named: .plain, { $0.roots.keys.sorted() }) { name in
            Setting(
                "trust.\(name)", optional: \.roots[name], .root,
                "The root of the keys of the origin NAME, of which nothing unsigned is accepted then.")
        },
        Setting(
            "catalog.shipped", \.catalog.isShipped, .flag,
            "Whether the models of the catalog in the program are listed, recommended and pulled by their names."),
        Setting(
            "catalog.url", optional: \.catalog.url, .origin, unset: "none",
            "The address of a newer catalog; trust.catalog may hold the root of its keys."),
    ]

    private static let network: [Setting] = [
        Setting(
            "network.metered", optional: \.meteredUse, .choice, unset: "ask at a terminal, deny elsewhere",
            "Whether downloads may use a network whose bytes cost money."),
        Setting(
            "mirror.url", optional: \.mirror, .server, unset: "none",
            "A cache of this site that is asked for https://HOST/PATH as MIRROR/HOST/PATH, for public files with a SHA-256."
        ),
    ]

    private static let gateway: [Setting] = [
        Setting(
            "gateway.url", optional: \.gateway.url, .server, unset: "none",
            changed: { new, old in
                // The key of one gateway is not sent to another.
                if old.gateway.url != nil, old.gateway.url != new.gateway.url { new.gateway.keyFile = nil }
            }, "A service that exchanges a key for time-limited addresses of files."),
        Setting("gateway.header", \.gateway.header, .header, "The header that carries the gateway's key."),
        Setting(
            "gateway.keyFile", optional: \.gateway.keyFile, .path,
            unset: "the variable \(GatewayConfiguration.keyVariable)",
            "A file with the gateway's key, which only you may read; another gateway resets it."),
        Setting(
            "gateway.files", \.gateway.files, .servers, unset: "those beside each models.json",
            "The beginnings of the addresses that need the gateway."),
    ]

    private static let models: [Setting] = [
        Setting(
            "defaultModel", optional: \.defaultModel, .model, unset: "the only installed one",
            "The model that answers when none is named."),
        Setting(
            "visionModel", optional: \.visionModel, .model, unset: "none",
            "The model that answers questions with pictures if the default one cannot see."),
        Setting(
            "library.models", \.library.models, .references, unset: "none",
            "Repositories and addresses that lists show before they were ever on this device."),
    ]

    private static let answers: [Setting] = [
        Setting(
            "maximumNewTokens", optional: \.maximumNewTokens, .integer(1...1_048_576), unit: "tokens",
            default: "\(GenerationOptions().maximumNewTokens)",
            unset: "on the page what the context window allows; for API requests half of it, at most 2048",
            "The longest answer."),
        Setting(
            "temperature", optional: \.temperature, .number(0...5), default: "\(SamplingOptions().temperature)",
            "How freely tokens are chosen; 0 always takes the likeliest one."),
        Setting("chat.showThinking", \.assistant.showsThinking, .flag, "Show what a model thinks before its answer."),
    ]

    private static let engines: [Setting] = [
        Setting(
            "contextLength", optional: \.contextLength, .integer(64...1_048_576), unit: "tokens",
            unset: "the model's own, as far as memory allows; it grows for longer prompts", "The context window."),
        .family("models.NAME.context", named: .plain, { $0.contexts.keys.sorted() }) { name in
            Setting(
                "models.\(name).context", optional: \.contexts[name], .integer(64...1_048_576), unit: "tokens",
                unset: "as contextLength", "The context window of the model NAME.")
        },
        Setting(
            "cacheType", optional: \.cacheType, .choice,
            unset: "f16; q8_0 where only that fits and flashAttention is not off", "How the context is stored."),
        Setting(
            "flashAttention", optional: \.flashAttention, .choice, default: FlashAttention.automatic.rawValue,
            "off makes a processor faster at the end of one long conversation, slower with its first prompt, and "
                + "takes more memory."),
        Setting(
            "threads", optional: \.threads, .integer(1...1024), unset: "the engine decides",
            "The number of compute threads."),
        Setting(
            "imageMinTokens", optional: \.imageMinTokens, .integer(ImageTokens.range), unit: "tokens",
            unset: "the model decides", "The minimum size of a picture in the context, for models that leave a choice."
        ),
        Setting(
            "imageMaxTokens", optional: \.imageMaxTokens, .integer(ImageTokens.range), unit: "tokens",
            unset: "the model decides", "The maximum size of a picture in the context, for models that leave a choice."
        ),
        Setting(
            "stateFolder", optional: \.stateFolder, .path, unset: "memory only",
            "The folder in which the computed states of conversations outlive a process; they hold what was said."),
        Setting(
            "ignoreMemory", \.ignoresMemory, .flag, "Load models that need more memory than this device has."),
        Setting(
            "engine.isolation", \.isolation, .choice,
            "Whether each model runs in a process of its own, or in that of hearth."),
        Setting(
            "engine.mlx", \.mlx, .choice,
            "Whether models of MLX are imported for llama.cpp, or run by MLX itself where its library is installed."),
        Setting(
            "engine.import", \.importQuantization, .choice,
            "The type that imported weights of 16 bits get: auto leaves them as they are if they fit this device."),
        Setting(
            "serve.slots", optional: \.server.slots, .integer(1...64), unset: "the engine decides",
            "The answers that a model computes side by side."),
        Setting(
            "serve.cells", optional: \.server.cells, .integer(64...16_777_216), unit: "tokens",
            unset: "the engine decides", "The tokens of all these answers and their prompts together."),
    ]

    private static let cloud: [Setting] = [
        Setting(
            "cloud.kind", optional: \.cloud.kind, .choice, unset: "none",
            changed: { new, old in
                guard old.cloud.kind != nil, old.cloud.kind != new.cloud.kind else { return }
                // What may leave the device belongs to no kind.
                new.cloud = CloudConfiguration(kind: new.cloud.kind, shares: old.cloud.shares)
            },
            "The cloud model that may answer; a kind brings the vendor's address and a model, and another kind resets "
                + "both and the key's file."),
        Setting(
            "cloud.url", optional: \.cloud.url, .server, unset: "the vendor's",
            implied: { $0.cloud.kind?.defaultURL?.absoluteString }, "The address of the cloud."),
        Setting(
            "cloud.model", optional: \.cloud.model,
            .text("the name of a model") { (1...256).contains($0.utf8.count) && $0.isPlain() },
            unset: "one of the vendor's", implied: { $0.cloud.kind?.defaultModel }, "The model of the cloud."),
        Setting(
            "cloud.keyFile", optional: \.cloud.keyFile, .path,
            unset: "the variable of the kind of cloud",
            "A file with the key, which only you may read."),
        Setting(
            "cloud.firstByteSeconds", optional: \.cloud.firstByteSeconds, .integer(1...600), unit: "seconds",
            default: "15", unset: "60 for openai",
            "The longest wait for the beginning of an answer, before a local model takes over."),
        Setting(
            "cloud.shares", \.cloud.shares, .shares, "The parts of a conversation that the cloud gets with a question."),
        Setting("routing.forceLocal", \.forceLocal, .flag, "Keep everything on this device, also with a cloud."),
        Setting(
            "entitlement.tier", optional: \.tier, .choice(of: ["free", "starter", "pro"]),
            unset: "pro with your own key, else free", "The plan, which includes the cloud from starter on."),
        Setting(
            "entitlement.credits", optional: \.credits, .integer(0...1_000_000), unit: "messages a month",
            unset: "not counted", "The messages to the cloud in each month."),
    ]

    private static let assistant: [Setting] = [
        .family("approval.TAG", { _ in ActionTag.order.map(\.rawValue) }) { tag in
            Setting(
                "approval.\(tag)", optional: \.assistant.approvals[ActionTag(rawValue: tag)], .choice, default: "ask",
                "Whether an action of this tag asks, is always carried out, or never.")
        },
        Setting(
            "search.kind", optional: \.assistant.search, .choice, unset: "none",
            changed: { new, _ in
                // The address and key belong to a server.
                if new.assistant.search != .searxng {
                    (new.assistant.searchURL, new.assistant.searchKeyFile) = (nil, nil)
                }
            }, "What the assistant searches: a SearXNG server, or its own notes and conversations."),
        Setting(
            "search.url", optional: \.assistant.searchURL, .server, unset: "none", "The address of the search server."),
        Setting(
            "search.keyFile", optional: \.assistant.searchKeyFile, .path, unset: "none",
            "A file with the key of the search server, which only you may read."),
        .family("stores.KIND", { _ in AssistantConfiguration.kinds.map(\.rawValue) }) { kind in
            Setting(
                "stores.\(kind)", \.assistant[uses: StoreKind(rawValue: kind)], .onOrOff,
                "Whether the assistant may use these records.")
        },
        .family("stores.KIND.own", { _ in AssistantConfiguration.kindsWithCollections.map(\.rawValue) }) { name in
            let kind = StoreKind(rawValue: name)
            return Setting(
                "stores.\(name).own", optional: \.assistant.ownCollections[kind], .collections,
                unset: ["calendar": "personal", "reminders": "personal", "contacts": "none"][kind.rawValue]
                    ?? "personal, of contacts none",
                "The collections that only you write to; texts of all others count as from outside.")
        },
    ]

    private static let server: [Setting] = [
        Setting("serve.port", \.server.port, .integer(1...65_535), "The port of the server."),
        Setting(
            "serve.keepAlive", \.server.keepAlive, .seconds(0...2_592_000), unit: "seconds, or always",
            "How long an idle model stays in memory."),
        Setting(
            "serve.updates", \.server.updates, .choice,
            "At its start, serve fetches newer releases of the models in use (auto), only shows them (offer), or asks for "
                + "none; nothing is fetched over a metered network, or for a pinned model."),
        Setting(
            "serve.drain", optional: \.server.drain, .integer(0...86_400), unit: "seconds",
            unset: "it ends within two seconds",
            "The time for answers on their way when serve is told to end; it says at once that it is not ready."),
        Setting(
            "serve.drainDelay", \.server.drainDelay, .integer(0...3600), unit: "seconds",
            "How long an end with serve.drain still takes new requests, until balancers have noticed."),
        Setting(
            "serve.hosts", \.server.hosts, .hosts, unset: "none", "Names under which other machines ask this one."),
        Setting(
            "serve.origins", \.server.origins, .pages, unset: "none",
            "Origins of pages that may call, such as https://app.example.org."),
        Setting(
            "serve.requireKeys", \.server.requireKeys, .choice,
            "Which programs on this machine need a key: remote for those behind a proxy that says so, always for all."),
        Setting(
            "serve.seed", optional: \.server.seed, .integer(0...4_294_967_294), unset: "each answer differs",
            "Repeats answers to requests without a seed."),
        Setting(
            "serve.anyModel", \.server.answersAnyModel, .flag,
            "Let the default model answer requests for models that do not exist here."),
    ]
}
