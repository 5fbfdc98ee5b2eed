import Foundation
import HearthBase
import HearthServer

/// `hearth keys create NAME`
struct KeysCreate: Command {
    @Argument(
        "NAME",
        ValueKind("a name of at most 64 characters") { (1...64).contains($0.count) && $0.isPlain() ? $0 : nil },
        "What the key is for, such as a device's name.") var name: String
    @Option(
        "scopes", "SCOPES",
        ValueKind<Set<ServerScope>>("some of chat, models and admin, separated by commas") { text in
            let names = text.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
            let scopes = Set(names.compactMap(ServerScope.init(rawValue:)))
            return scopes.count == names.count && !scopes.isEmpty ? scopes : nil
        }, default: "chat", "chat: ask models. models: pull and remove them. admin: everything else.") var scopes:
        Set<ServerScope> = [.chat]

    static let declaration = CommandDeclaration(
        "keys", "create", summary: "Make a key for another machine",
        """
        Prints the key once; only its digest is kept. Clients send it as their API key. A running server takes it at
        once.

        hearth keys create laptop  # A key that may ask models.
        hearth keys create script --scopes chat,models,admin  # A key that may do everything.
        """)

    func run(in context: CommandContext) async throws {
        let now = context.time.now
        let key = try await AccessKeys.change(home: context.home, time: context.time) { [self] in
            try $0.create(name, scopes: scopes, at: now)
        }
        try context.console.print(key)
        context.console.say("This key is shown once.")
    }
}

/// `hearth keys list`
struct KeysList: Command {
    @Option(.listing) var format: ListingFormat

    static let declaration = CommandDeclaration(
        "keys", "list", summary: "List the keys of other machines",
        """
        With --format json, an array of objects with id, name, scopes and created.

        hearth keys list  # Show ids, names and rights.
        """)

    func run(in context: CommandContext) async throws {
        let home = try context.home
        let keys = try await blocking { try AccessKeys.load(home: home) }.keys
        let rows = keys.map { key in
            (key: key, scopes: key.scopes.map(\.rawValue).sorted(), created: key.created.formatted(.iso8601))
        }
        guard format == .table else {
            let entries = rows.map { row in
                JSONValue.object([
                    "id": .string(row.key.id), "name": .string(row.key.name),
                    "scopes": .array(row.scopes.map { .string($0) }), "created": .string(row.created),
                ])
            }
            return try context.console.print(JSONValue.array(entries).text)
        }
        guard !rows.isEmpty else { return context.console.say("There are no keys.") }
        var table = Table(("ID", .left), ("NAME", .left), ("SCOPES", .left), ("CREATED", .left))
        for row in rows { table.add(row.key.id, row.key.name, row.scopes.joined(separator: ","), row.created) }
        for line in table.lines { try context.console.print(line) }
    }
}

/// `hearth keys revoke ID`
struct KeysRevoke: Command {
    @Argument("ID", .word, "The key's id; hearth keys list shows it.") var id: String

    static let declaration = CommandDeclaration(
        "keys", "revoke", summary: "End a key",
        """
        A running server refuses it at once.

        hearth keys revoke 3f9c2a1b  # End that key.
        """)

    func run(in context: CommandContext) async throws {
        try await AccessKeys.change(home: context.home, time: context.time) { [id] in try $0.revoke(id) }
        context.console.say("The key \(id) is revoked.")
    }
}
