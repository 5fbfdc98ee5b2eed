import Foundation
import HearthBase
import HearthRouting
import HearthServer

/// `hearth gateway keys create NAME`
struct GatewayKeysCreate: Command {
    @Argument("NAME", .keyName, "What the key is for, such as an app, a customer or a device.")
    var name: String
    @Option(
        "scopes", "SCOPES",
        .several("some of download and chat, separated by commas"), default: "download",
        "download: signed addresses of files. chat: answers of the cloud model.")
    var scopes: Set<GatewayScope> = [.download]
    @Option(
        "expires", "WHEN",
        ValueKind<Date>("a future day such as 2027-06-30, or a time such as 2027-06-30T12:00:00Z") { text in
            // A text in neither form is refused by the parser.
            (try? Date.ISO8601FormatStyle().parse(text))
                ?? (try? Date.ISO8601FormatStyle().year().month().day().parse(text))
        }, "When the key ends (UTC); without it, never.") var expires: Date?
    @Option("addresses", "N", .integer(1...1_000_000_000), "The most signed addresses in a day (UTC).")
    var addresses: Int?
    @Option(
        "tier", "TIER",
        ValueKind<Tier>("one of free, starter, pro") { text in Tier.all.first { $0.name == text } },
        default: "starter with the scope chat, else free", "The plan; the cloud model needs starter or pro.")
    var tier: Tier?
    @Option("credits", "N", .integer(0...1_000_000_000), "The turns with the cloud model in a month (UTC).")
    var credits: Int?
    @Option(.gatewayDatabase) var database: String?

    static let declaration = CommandDeclaration(
        "gateway", "keys", "create", summary: "Make a key for devices",
        """
        Prints the key once; only its digest is kept. Running gateways know it at once. Without --addresses and
        --credits, nothing is counted.

        hearth gateway keys create app --addresses 500  # A key for downloads, 500 files a day.
        hearth gateway keys create anna --scopes download,chat --credits 300 --expires 2027-06-30
        # Downloads and 300 turns a month, until then.
        """)

    func run(in context: CommandContext) async throws {
        let now = context.time.now
        if let expires, expires <= now {
            throw UsageError("--expires names a time that has passed", hint: "Give a later one.")
        }
        let draft = GatewayKey(
            id: "", name: name, scopes: scopes, tier: tier ?? (scopes.contains(.chat) ? .starter : .free),
            credits: credits, addressesPerDay: addresses, created: now, expires: expires)
        let key = try await context.withGateway(database) { try await $0.create(draft) }
        try context.console.print(key)
        context.console.say("This key is shown once.")
    }
}

/// `hearth gateway keys list`
struct GatewayKeysList: Command {
    @Option(.listing) var format: ListingFormat
    @Option(.gatewayDatabase) var database: String?

    static let declaration = CommandDeclaration(
        "gateway", "keys", "list", summary: "List the keys of devices",
        """
        With --format json, an array of objects with id, name, scopes, tier, credits, creditsLeft, addresses, created,
        expires and state (works, expired, revoked).

        hearth gateway keys list  # Show ids, names, rights and what is left.
        """)

    func run(in context: CommandContext) async throws {
        let now = context.time.now
        let rows = try await context.withGateway(database) { store in
            var rows: [(key: GatewayKey, left: Int?)] = []
            for key in try await store.keys() {
                rows.append((key, try await store.creditsLeft(of: key, at: now)))
            }
            return rows
        }
        try context.console.list(
            rows, format, json: JSONValue.array(rows.map { entry($0.key, left: $0.left, now) }).text,
            empty: "There are no keys.",
            [
                .left("ID") { $0.key.id }, .left("NAME") { $0.key.name },
                .left("SCOPES") { $0.key.scopes.map(\.rawValue).sorted().joined(separator: ",") },
                .left("TIER") { $0.key.tier.name },
                .right("CREDITS LEFT") { row in row.left.map { "\($0) of \(row.key.credits ?? 0)" } ?? "-" },
                .right("ADDRESSES A DAY") { $0.key.addressesPerDay.map { "\($0)" } ?? "-" },
                .left("EXPIRES") { $0.key.expires?.formatted(.iso8601) ?? "-" },
                .left("STATE") { state($0.key, now) },
            ])
    }

    private func state(_ key: GatewayKey, _ now: Date) -> String {
        if key.revoked != nil { return "revoked" }
        return key.expires.map { $0 <= now } == true ? "expired" : "works"
    }

    private func entry(_ key: GatewayKey, left: Int?, _ now: Date) -> JSONValue {
        func number(_ value: Int?) -> JSONValue { value.map { .integer($0) } ?? .null }
        return .object([
            "id": .string(key.id), "name": .string(key.name),
            "scopes": .array(key.scopes.map(\.rawValue).sorted().map { .string($0) }),
            "tier": .string(key.tier.name), "credits": number(key.credits), "creditsLeft": number(left),
            "addresses": number(key.addressesPerDay), "created": .string(key.created.formatted(.iso8601)),
            "expires": key.expires.map { .string($0.formatted(.iso8601)) } ?? .null,
            "state": .string(state(key, now)),
        ])
    }
}

/// `hearth gateway keys revoke ID`
struct GatewayKeysRevoke: Command {
    @Argument("ID", .word, "The key's id; hearth gateway keys list shows it.") var id: String
    @Option(.gatewayDatabase) var database: String?

    static let declaration = CommandDeclaration(
        "gateway", "keys", "revoke", summary: "End a key of devices", isDestructive: true,
        """
        Running gateways refuse it at once. Addresses that were given before work until they expire.

        hearth gateway keys revoke 3f9c2a1b  # End that key.
        """)

    func run(in context: CommandContext) async throws {
        let now = context.time.now
        try await context.withGateway(database) { [id] in try await $0.revoke(id, at: now) }
        context.console.say("The key \(id) is revoked.")
    }
}
