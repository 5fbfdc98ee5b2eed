import Foundation
import HearthBase
import HearthRouting
import HearthServer

/// `hearth gateway keys create NAME`
struct GatewayKeysCreate: Command {
    @Argument(
        "NAME",
        ValueKind("a name of at most 64 characters") { (1...64).contains($0.count) && $0.isPlain() ? $0 : nil },
        "What the key is for, such as an app, a customer or a device.") var name: String
    @Option(
        "scopes", "SCOPES",
        ValueKind<Set<GatewayScope>>("some of download and chat, separated by commas") { text in
            let names = text.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
            let scopes = Set(names.compactMap(GatewayScope.init(rawValue:)))
            return scopes.count == names.count && !scopes.isEmpty ? scopes : nil
        }, default: "download", "download: signed addresses of files. chat: answers of the cloud model.")
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
        guard format == .table else {
            let entries = rows.map { entry($0.key, left: $0.left, now) }
            return try context.console.print(JSONValue.array(entries).text)
        }
        guard !rows.isEmpty else { return context.console.say("There are no keys.") }
        var table = Table(
            ("ID", .left), ("NAME", .left), ("SCOPES", .left), ("TIER", .left), ("CREDITS LEFT", .right),
            ("ADDRESSES A DAY", .right), ("EXPIRES", .left), ("STATE", .left))
        for (key, left) in rows {
            let credits = left.map { "\($0) of \(key.credits ?? 0)" } ?? "-"
            table.add(
                key.id, key.name, key.scopes.map(\.rawValue).sorted().joined(separator: ","), key.tier.name,
                credits,
                key.addressesPerDay.map { "\($0)" } ?? "-", key.expires?.formatted(.iso8601) ?? "-",
                state(key, now))
        }
        for line in table.lines { try context.console.print(line) }
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
        "gateway", "keys", "revoke", summary: "End a key of devices",
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
